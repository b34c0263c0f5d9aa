import type { ParleyError } from "../../errors.js";
import type { TokenUsage } from "../../messages/message.js";
import type {
  MessageContentPart,
  ReasoningContentPart,
  TextContentPart,
  ToolCallContentPart,
} from "../../messages/part.js";
import { argumentsFromText, textOfValue } from "../../messages/part.js";
import { soundUsage } from "../../messages/provider/sound-usage.js";
import { grownText } from "../../messages/text/grown-text.js";
import type { AnswerLimits, AnswerSizeLimit } from "../../ports/answer-limits.js";
import type {
  BilledAmount,
  ProviderCallResult,
  ProviderContentPart,
  ProviderStreamEvent,
  ProviderToolCall,
} from "../../ports.js";
import { AnswerSize } from "./answer-size.js";

/** Increment of an event that is immediately visible to a watcher. */
export interface VisibleDelta {
  readonly kind: "text" | "reasoning";
  readonly delta: string;
  /** The part's place in the assembled message. */
  readonly partIndex: number;
}

/**
 * Folds a provider's events into the parts of one assistant message. No I/O, no clock: the same events give the same
 * parts. Text grows by concatenation, so each delta costs the same however long the answer is.
 *
 * With limits it holds no more than they allow: `exceeded` is then the one that was exceeded, text is cut at the
 * limit, a part that does not fit is left out, and nothing more is added.
 */
export class Assembly {
  readonly #parts: MessageContentPart[] = [];
  /** The provider's part numbers, mapped to places in `#parts`: a provider may skip or interleave. */
  readonly #places = new Map<number, number>();
  readonly #size: AnswerSize;
  #usage: TokenUsage | undefined;
  #billed: BilledAmount | undefined;
  #result: ProviderCallResult | undefined;

  constructor(limits?: Pick<AnswerLimits, AnswerSizeLimit>) {
    this.#size = new AnswerSize(limits);
  }

  /** `answer_too_large`, once a limit was exceeded. */
  get exceeded(): ParleyError | undefined {
    return this.#size.exceeded;
  }

  /** The last reported usage, as far as it is valid. */
  get usage(): TokenUsage | undefined {
    return soundUsage(this.#result?.usage) ?? soundUsage(this.#usage);
  }

  /** The charge that the provider reported last. */
  get billed(): BilledAmount | undefined {
    return this.#result?.billed ?? this.#billed;
  }

  get result(): ProviderCallResult | undefined {
    return this.#result;
  }

  /** Applies one event; returns what it adds to the visible text, if anything. */
  apply(event: ProviderStreamEvent): VisibleDelta | undefined {
    if (this.#size.exceeded !== undefined) return undefined;
    switch (event.type) {
      case "delta": {
        const delta = event.textDelta ?? this.#missingText(event.delta.content);
        return this.#grow("text", delta, event.index);
      }
      case "reasoning-delta":
        return this.#grow("reasoning", event.textDelta, event.index);
      case "part":
        return this.#place(event.part, event.index);
      case "tool-call":
        this.#place(toolCallPart(event.toolCall), event.index);
        return undefined;
      case "usage":
        this.#usage = event.usage;
        this.#billed = event.billed ?? this.#billed;
        return undefined;
      case "done":
        this.#conclude(event.result);
        return undefined;
      case "tool-input-delta":
        this.#size.takeInput(event.toolCallId, event.inputTextDelta);
        return undefined;
      case "error":
        return undefined;
      default:
        return event satisfies never;
    }
  }

  /**
   * Returns the finished parts. The result's own parts are final; calls that it lists only beside them, or that were
   * only streamed, are appended; for a result without parts the streamed ones stay.
   */
  finish(): MessageContentPart[] {
    const result = this.#result;
    if (result === undefined) return this.partial();
    const said = result.message.content.length > 0;
    const parts = listedParts(result, said ? result.message.content : this.partial());
    const ids = new Set<string>();
    for (const part of parts) if (part.type === "tool-call" && part.toolCallId) ids.add(part.toolCallId);
    const listsCalls = parts.some((part) => part.type === "tool-call");
    for (const part of said ? this.#parts : []) {
      if (part.type !== "tool-call" || ids.has(part.toolCallId ?? "")) continue;
      // Without an id it can only be distinguished from the listed ones if there are none.
      if (part.toolCallId || !listsCalls) parts.push(part);
    }
    return parts.filter(hasContent);
  }

  /** Returns the parts at the time the stream is cut: grown text and reasoning, complete calls, no empty parts. */
  partial(): MessageContentPart[] {
    return this.#parts.filter(hasContent);
  }

  #grow(kind: "text" | "reasoning", text: string, index: number | undefined): VisibleDelta | undefined {
    // A part begins with its first text, so that the places of what is emitted are the places in the message.
    if (text === "") return undefined;
    const place = this.#growingPlace(kind, index) ?? this.#parts.length;
    const delta = this.#size.takeText(place, text);
    if (delta === "") return undefined;
    if (place === this.#parts.length) {
      this.#parts.push({ type: kind, text: "" });
      if (index !== undefined) this.#places.set(index, place);
    }
    const part = this.#parts[place] as TextContentPart | ReasoningContentPart;
    part.text = grownText(part.text, delta);
    return { kind, delta, partIndex: place };
  }

  /** Returns the part that a delta continues. */
  #growingPlace(kind: "text" | "reasoning", index: number | undefined): number | undefined {
    const place = index === undefined ? this.#parts.length - 1 : this.#places.get(index);
    return place !== undefined && this.#parts[place]?.type === kind ? place : undefined;
  }

  /**
   * Applies the result, if it fits. Otherwise the streamed parts stay; for a result that was not streamed, the parts
   * that fit.
   */
  #conclude(result: ProviderCallResult): void {
    const parts = listedParts(result);
    const whole = new AnswerSize(this.#size.limits);
    if (parts.every((part, place) => whole.fit(place, part) === part)) {
      this.#result = result;
      return;
    }
    const isStreamed = this.#parts.length > 0;
    for (let index = 0; !isStreamed && this.exceeded === undefined; index += 1) {
      this.#place(parts[index] as MessageContentPart, index);
    }
    this.#size.exceeded ??= whole.exceeded;
  }

  /** Puts a complete part in the place of its deltas; returns text that no delta had shown. */
  #place(part: MessageContentPart, index: number | undefined): VisibleDelta | undefined {
    const offered = ownPart(part);
    const last = this.#parts.length - 1;
    let place = index === undefined ? undefined : this.#places.get(index);
    if (index === undefined && grows(offered) && this.#parts[last]?.type === offered.type) place = last;
    const before = place === undefined ? undefined : this.#parts[place];
    if (before === undefined && !hasContent(offered)) return undefined;
    place ??= this.#parts.length;
    const own = this.#size.fit(place, offered);
    if (own === undefined) return undefined;
    if (index !== undefined && before === undefined) this.#places.set(index, place);
    this.#parts[place] = own;
    if (!grows(own)) return undefined;
    const shown = before !== undefined && grows(before) ? before.text : "";
    if (own.text.length <= shown.length || !own.text.startsWith(shown)) return undefined;
    return { kind: own.type, delta: own.text.slice(shown.length), partIndex: place };
  }

  /** Returns the increment, for an adapter that only sends the text so far. */
  #missingText(content: readonly ProviderContentPart[]): string {
    let whole = "";
    for (const part of content) if (part.type === "text" && typeof part.text === "string") whole += part.text;
    let shown = "";
    for (const part of this.#parts) if (part.type === "text") shown += part.text;
    return whole.startsWith(shown) ? whole.slice(shown.length) : whole;
  }
}

function grows(part: MessageContentPart): part is TextContentPart | ReasoningContentPart {
  return part.type === "text" || part.type === "reasoning";
}

function hasContent(part: MessageContentPart): boolean {
  if (part.type === "text") return part.text !== "";
  if (part.type === "reasoning") return part.text !== "" || part.providerMetadata !== undefined;
  return true;
}

/** Returns the parts of a result, followed by the calls that it lists only beside its message. */
function listedParts(
  result: ProviderCallResult,
  content: readonly ProviderContentPart[] = result.message.content,
): MessageContentPart[] {
  const parts = content.map((part) => ownPart(part as MessageContentPart));
  const ids = new Set<string>();
  for (const part of parts) if (part.type === "tool-call" && part.toolCallId) ids.add(part.toolCallId);
  for (const call of result.toolCalls ?? []) {
    if (ids.has(call.id)) continue;
    parts.push(toolCallPart(call));
    if (call.id !== "") ids.add(call.id);
  }
  return parts;
}

function ownPart(part: MessageContentPart): MessageContentPart {
  if (part.type !== "tool-call" || part.argumentsText !== undefined) return { ...part };
  return { ...part, argumentsText: textOfValue(part.arguments ?? {}) };
}

function toolCallPart(call: ProviderToolCall): ToolCallContentPart {
  const argumentsText = call.argumentsText ?? textOfValue(call.arguments ?? {});
  return {
    type: "tool-call",
    toolCallId: call.id,
    name: call.name,
    arguments: call.argumentsText === undefined ? call.arguments : argumentsFromText(argumentsText),
    argumentsText,
  };
}
