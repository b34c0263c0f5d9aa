import {
  argumentsFromText,
  grownText,
  type MessageContentPart,
  omitUndefined,
  type ReasoningContentPart,
  type TextContentPart,
  TextDelta,
  type TokenUsage,
  type ToolCallContentPart,
  textOfValue,
} from "@parley/core/messages";
import type {
  BilledAmount,
  ProviderFinishReason,
  ProviderStreamEvent,
  ProviderToolCall,
} from "@parley/core/ports";
import type { JSONValue, LanguageModelUsage, TextStreamPart, ToolSet } from "ai";
import {
  asMetadata,
  isFields,
  mergeFields,
  type ProviderFields,
  toProviderFields,
} from "../provider-options.js";
import { keptProviderTool } from "../provider-tool.js";
import { billedAmount } from "./billed-amount.js";

/** A part of `streamText`'s full stream. */
export type StreamPart = TextStreamPart<ToolSet>;

type StreamPartOf<Type extends StreamPart["type"]> = Extract<StreamPart, { type: Type }>;

/** The end of a model call, as the stream reported it. */
export interface AnswerEnding {
  readonly finishReason: ProviderFinishReason;
  readonly usage?: TokenUsage;
  /** The amount that the provider charges, if its metadata includes it. */
  readonly billed?: BilledAmount;
  /** The provider's id of the answer, and its creation time. */
  readonly id?: string;
  readonly timestamp?: Date;
  /**
   * True if the stream just stopped. Version 7 of the SDK reports it (`interrupted`); version 6 reports such
   * an end with no reason from the provider and no usage, which no complete answer has.
   */
  readonly cutOff: boolean;
}

/** Text or reasoning, while it grows. */
interface Growing {
  readonly type: "text" | "reasoning";
  text: string;
  metadata: ProviderFields | undefined;
  ended: boolean;
}

type Slot = Growing | { readonly type: "part"; readonly part: MessageContentPart };

/**
 * Folds the stream of one model call into the parts of one assistant message. No I/O, no clock: the same
 * stream parts give the same message. Metadata of text and reasoning is gathered from its start, its deltas
 * and its end, later fields winning; it is used once the part has ended, because an unfinished signature
 * would be refused.
 */
export class AnswerFold {
  readonly #slots: Slot[] = [];
  readonly #open = new Map<string, number>();
  readonly #inputs = new Map<string, { name: string; text: string }>();
  readonly #providerResults = new Map<string, number>();
  readonly #nameOf: (sent: string) => string;
  #text = "";
  #ending: AnswerEnding | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** The finish reason of an answer that the SDK rejected, although the provider had completed it. */
  #turnedDown: string | undefined;
  #aborted = false;

  /** `nameOf` maps the name of a tool in the stream to the host's name for it. */
  constructor(nameOf: (sent: string) => string = (name) => name) {
    this.#nameOf = nameOf;
  }

  /** Number of parts and calls that have started. */
  get parts(): number {
    return this.#slots.length + this.#inputs.size;
  }

  get ending(): AnswerEnding | undefined {
    return this.#ending;
  }

  /** The first failure that the stream reported. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Processes one stream part and emits the resulting events. */
  push(part: StreamPart, emit: (event: ProviderStreamEvent) => void): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#grow(part.type === "text-start" ? "text" : "reasoning", part.id, "", part.providerMetadata);
        break;
      case "text-delta": {
        const index = this.#grow("text", part.id, part.text, part.providerMetadata);
        if (part.text === "") break;
        this.#text = grownText(this.#text, part.text);
        emit(new TextDelta(part.text, this.#text, index));
        break;
      }
      case "reasoning-delta": {
        const index = this.#grow("reasoning", part.id, part.text, part.providerMetadata);
        if (part.text !== "") emit({ type: "reasoning-delta", textDelta: part.text, index });
        break;
      }
      case "text-end":
      case "reasoning-end":
        this.#end(part.type === "text-end" ? "text" : "reasoning", part.id, part.providerMetadata, emit);
        break;
      case "tool-input-start":
        if (part.providerExecuted !== true) {
          this.#inputs.set(part.id, { name: this.#nameOf(part.toolName), text: "" });
        }
        break;
      case "tool-input-delta":
        this.#growInput(part, emit);
        break;
      case "tool-call":
        this.#call(part, emit);
        break;
      case "tool-result":
        if (part.providerExecuted === true && part.preliminary !== true) this.#providerResult(part, emit);
        break;
      case "tool-error":
        if (part.providerExecuted === true) this.#providerResult(part, emit);
        break;
      case "source":
        this.#add(sourcePart(part), emit);
        break;
      case "file":
        this.#add(generatedFile(part), emit);
        break;
      case "finish-step":
        this.#ending = {
          ...endingOf(this.#reasonOf(part), part.usage, part.response),
          ...omitUndefined({ billed: billedAmount(part.providerMetadata) }),
        };
        if (this.#ending.usage !== undefined) {
          const { usage, billed } = this.#ending;
          emit({ type: "usage", usage, ...omitUndefined({ billed }) });
        }
        break;
      case "finish":
        // The step has already reported it, unless its end was omitted.
        this.#ending ??= endingOf(this.#reasonOf(part), part.totalUsage);
        break;
      case "error":
        // Version 7 refuses an answer without the forced call. That is the caller's decision.
        if (isChoiceViolation(part.error)) this.#turnedDown = part.error.finishReason;
        else this.#failure ??= { error: part.error };
        break;
      case "abort":
        this.#aborted = true;
        break;
      case "start":
      case "start-step":
      case "tool-input-end":
      case "tool-output-denied":
      case "tool-approval-request":
      case "raw":
        break;
      default:
        part satisfies never;
    }
  }

  /**
   * Returns the parts so far, in the order in which they started, without empty ones. `whole` means that the
   * call ended successfully, so that parts without an end event count as ended.
   */
  content(whole: boolean): MessageContentPart[] {
    return this.#slots.flatMap((slot) => {
      if (slot.type === "part") return [slot.part];
      const part = grownPart(slot, whole || slot.ended);
      return part.text === "" && (part.type === "text" || part.providerMetadata === undefined) ? [] : [part];
    });
  }

  /** Returns the complete calls, in order, without the provider's own. */
  calls(): ProviderToolCall[] {
    return this.#slots.flatMap((slot) =>
      slot.type === "part" && slot.part.type === "tool-call" ? [toolCallOf(slot.part)] : [],
    );
  }

  #grow(type: Growing["type"], id: string, text: string, metadata: unknown): number {
    const key = `${type}:${id}`;
    const place = this.#open.get(key) ?? this.#begin(key, type);
    const slot = this.#slots[place] as Growing;
    slot.text = grownText(slot.text, text);
    if (metadata !== undefined) slot.metadata = mergeFields(slot.metadata, toProviderFields(metadata));
    return place;
  }

  #begin(key: string, type: Growing["type"]): number {
    const place = this.#slots.push({ type, text: "", metadata: undefined, ended: false }) - 1;
    this.#open.set(key, place);
    return place;
  }

  #end(
    type: Growing["type"],
    id: string,
    metadata: unknown,
    emit: (event: ProviderStreamEvent) => void,
  ): void {
    const key = `${type}:${id}`;
    if (!this.#open.has(key)) return;
    const index = this.#grow(type, id, "", metadata);
    this.#open.delete(key);
    const slot = this.#slots[index] as Growing;
    slot.ended = true;
    // The deltas contained the text; only the metadata, which they could not carry, remains to be emitted.
    if (slot.metadata !== undefined) emit({ type: "part", part: grownPart(slot, true), index });
  }

  #growInput(part: StreamPartOf<"tool-input-delta">, emit: (event: ProviderStreamEvent) => void): void {
    const input = this.#inputs.get(part.id);
    if (input === undefined || part.delta === "") return;
    input.text += part.delta;
    const { name } = input;
    emit({ type: "tool-input-delta", toolCallId: part.id, name, inputTextDelta: part.delta });
  }

  #call(part: StreamPartOf<"tool-call">, emit: (event: ProviderStreamEvent) => void): void {
    const { toolCallId, toolName } = part;
    const providerMetadata = toProviderFields(part.providerMetadata);
    if (part.providerExecuted === true) {
      const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
      const input = part.input as JSONValue;
      this.#add(keptProviderTool({ type: "tool-call", toolCallId, toolName, input, ...options }), emit);
      return;
    }
    const argumentsText = argumentsTextFor(part.input, this.#inputs.get(toolCallId)?.text);
    this.#inputs.delete(toolCallId);
    const call: ToolCallContentPart = {
      type: "tool-call",
      name: this.#nameOf(toolName),
      toolCallId,
      arguments: argumentsFromText(argumentsText),
      argumentsText,
      ...asMetadata(providerMetadata),
    };
    const index = this.#slots.push({ type: "part", part: call }) - 1;
    emit({ type: "tool-call", toolCall: toolCallOf(call), index });
    if (providerMetadata !== undefined) emit({ type: "part", part: call, index });
  }

  #providerResult(
    part: StreamPartOf<"tool-result"> | StreamPartOf<"tool-error">,
    emit: (event: ProviderStreamEvent) => void,
  ): void {
    const { toolCallId, toolName } = part;
    const options = toProviderFields(part.providerMetadata);
    const rest = options === undefined ? {} : { providerOptions: options };
    const output = (part.type === "tool-result" ? part.output : failureText(part.error)) as JSONValue;
    const isError = part.type === "tool-error";
    const kept = keptProviderTool({ type: "tool-result", toolCallId, toolName, output, isError, ...rest });
    // The SDK does not report which of a provider's results are preliminary: the last one counts.
    const before = this.#providerResults.get(toolCallId);
    if (before === undefined) this.#providerResults.set(toolCallId, this.#add(kept, emit));
    else {
      this.#slots[before] = { type: "part", part: kept };
      emit({ type: "part", part: kept, index: before });
    }
  }

  #reasonOf(part: StreamPartOf<"finish-step"> | StreamPartOf<"finish">): FinishReason {
    const { finishReason, rawFinishReason } = part;
    return { finishReason: this.#turnedDown ?? finishReason, rawFinishReason };
  }

  #add(part: MessageContentPart, emit: (event: ProviderStreamEvent) => void): number {
    const index = this.#slots.push({ type: "part", part }) - 1;
    emit({ type: "part", part, index });
    return index;
  }
}

/** Returns a tool's failure as text for the model. */
export function failureText(error: unknown): string {
  if (error instanceof Error) return error.message;
  return resultTextFor(error);
}

/** Returns a tool's output as the text that a later request contains. */
export function resultTextFor(output: unknown): string {
  try {
    return textOfValue(output);
  } catch {
    return String(output);
  }
}

function grownPart(
  { type, text, metadata }: Growing,
  ended: boolean,
): TextContentPart | ReasoningContentPart {
  const extras = asMetadata(ended ? metadata : undefined);
  return type === "text" ? { type, text, ...extras } : { type, text, ...extras };
}

/**
 * Returns the text that the model wrote, if it was streamed and represents the same value; otherwise the
 * serialized value.
 */
function argumentsTextFor(input: unknown, streamed: string | undefined): string {
  const text = input === undefined ? "{}" : resultTextFor(input);
  if (streamed === undefined || streamed === "") return text;
  return resultTextFor(argumentsFromText(streamed)) === text ? streamed : text;
}

function toolCallOf(part: ToolCallContentPart): ProviderToolCall {
  const { toolCallId = "", name, argumentsText = "" } = part;
  return { id: toolCallId, name, arguments: part.arguments, argumentsText };
}

function sourcePart(part: StreamPartOf<"source">): MessageContentPart {
  const title = part.title ?? (part.sourceType === "document" ? part.filename : undefined);
  return {
    type: "source",
    id: part.id,
    ...omitUndefined({ title }),
    ...(part.sourceType === "url" ? { url: part.url } : {}),
    ...asMetadata(toProviderFields(part.providerMetadata)),
  };
}

function generatedFile(part: StreamPartOf<"file">): MessageContentPart {
  const { base64, mediaType } = part.file;
  return { type: "file", mediaType, data: base64, ...asMetadata(toProviderFields(part.providerMetadata)) };
}

/** A finish reason as either version of the SDK reports it: version 7 has more of them. */
interface FinishReason {
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
}

function isChoiceViolation(error: unknown): error is { readonly finishReason: string } {
  return (
    isFields(error) && error.name === "AI_ToolChoiceViolationError" && typeof error.finishReason === "string"
  );
}

const finishReasons: readonly string[] = [
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "other",
] satisfies ProviderFinishReason[];

function isFinishReason(reason: string): reason is ProviderFinishReason {
  return finishReasons.includes(reason);
}

function endingOf(
  { finishReason, rawFinishReason }: FinishReason,
  counted: LanguageModelUsage,
  response?: { readonly id: string; readonly timestamp: Date },
): AnswerEnding {
  const usage = usageOf(counted);
  return {
    finishReason: isFinishReason(finishReason) ? finishReason : "other",
    cutOff:
      finishReason === "interrupted" ||
      (finishReason === "other" && rawFinishReason === undefined && usage === undefined),
    ...omitUndefined({ usage }),
    ...(response === undefined ? {} : { id: response.id, timestamp: response.timestamp }),
  };
}

/**
 * Converts the SDK's counters to Parley's: its input includes the cache, its output the reasoning, as here.
 */
function usageOf(usage: LanguageModelUsage): TokenUsage | undefined {
  const { inputTokens, outputTokens, totalTokens } = usage;
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const { cacheReadTokens, cacheWriteTokens } = usage.inputTokenDetails ?? {};
  const { reasoningTokens } = usage.outputTokenDetails ?? {};
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...omitUndefined({ totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }),
  };
}
