import { ParleyError } from "@parley/core/errors";
import {
  argumentsFromText,
  grownText,
  type MessageContentPart,
  type MessageOrigin,
  omitUndefined,
  TextDelta,
  type TokenUsage,
} from "@parley/core/messages";
import type { ProviderFinishReason, ProviderStreamEvent, ProviderToolCall } from "@parley/core/ports";
import { toStreamError } from "../../call/http-failure.js";
import type { StreamFold } from "../../call/stream-call.js";
import type { ToolNames } from "../../call/tool-names.js";
import type { AssistantBlock, BlockDelta, Citation, MessagesEvent, MessagesUsage } from "../api-types.js";
import { readAnthropicFailure } from "../failure.js";
import {
  type AnswerBlock,
  argumentsOf,
  blockForDelta,
  blockOf,
  growOpaque,
  partOf,
  startBlock,
  textIn,
} from "./answer-block.js";
import { addUsage, mergeUsage, toTokenUsage } from "./token-usage.js";

/** Information about the call that the fold needs. */
export interface FoldMessage {
  readonly provider: string;
  readonly origin: MessageOrigin;
  readonly names: ToolNames;
  readonly startedAt: Date;
  /** Results of earlier requests of the same call; see `MessageFold.paused`. */
  readonly before?: PausedAnswer | undefined;
}

/** An answer that the API has interrupted and continues when it is sent back unchanged. */
export interface PausedAnswer {
  readonly parts: readonly MessageContentPart[];
  readonly text: string;
  readonly usage: TokenUsage | undefined;
  /** The answer so far in the API's own form. */
  readonly content: readonly AssistantBlock[];
}

/** A fold that also records whether the answer was interrupted. */
export interface MessageFold extends StreamFold<MessagesEvent> {
  /** Set if the API paused a long turn: the same call, with this content added, continues it. */
  readonly paused: PausedAnswer | undefined;
}

const nothing: readonly ProviderStreamEvent[] = [];

/**
 * Folds the events of a Messages stream. No I/O and no clock: the same events give the same result. Events of
 * unknown types are skipped; blocks of unknown types are kept to be sent back. A recognizably repeated event,
 * or one after the end of its block, changes nothing.
 */
export function createMessageFold(call: FoldMessage): MessageFold {
  return new StreamedMessage(call);
}

class StreamedMessage implements MessageFold {
  readonly #call: FoldMessage;
  /** In the order in which they started. */
  readonly #order: AnswerBlock[] = [];
  readonly #byIndex = new Map<number, AnswerBlock>();
  /**
   * The parts by their place: those of earlier requests first, then one per block, with sources between them.
   */
  readonly #parts: (MessageContentPart | undefined)[];
  readonly #cited = new Set<string>();
  /** Calls whose arguments are not valid JSON: whether they were cut off is known when the answer ends. */
  readonly #unparsedCalls: Extract<AnswerBlock, { kind: "call" }>[] = [];
  #text: string;
  #id = "";
  #usage: MessagesUsage | undefined;
  #stopReason: string | undefined;
  /** The text block of the last delta: almost always that of the next one too. */
  #current: Extract<AnswerBlock, { kind: "text" }> | undefined;
  #currentIndex = -1;
  #paused: PausedAnswer | undefined;

  constructor(call: FoldMessage) {
    this.#call = call;
    this.#parts = [...(call.before?.parts ?? [])];
    this.#text = call.before?.text ?? "";
  }

  get paused(): PausedAnswer | undefined {
    return this.#paused;
  }

  get parts(): number {
    return this.#parts.length;
  }

  push(event: MessagesEvent): readonly ProviderStreamEvent[] {
    switch (event.type) {
      case "content_block_delta":
        return this.#delta(event.index ?? 0, event.delta);
      case "content_block_start":
        return this.#start(event);
      case "content_block_stop":
        return this.#stop(this.#byIndex.get(event.index ?? 0));
      case "message_start":
        return this.#messageStart(event);
      case "message_delta":
        return this.#messageDelta(event);
      case "message_stop":
        return this.#finish();
      case "error":
        return this.#fail(event);
      default:
        return nothing;
    }
  }

  /** Returns nothing: a complete stream always has a last event; without it the answer is incomplete. */
  end(): readonly ProviderStreamEvent[] {
    return nothing;
  }

  #messageStart({ message }: MessagesEvent): readonly ProviderStreamEvent[] {
    if (this.#id === "") this.#id = textIn(message?.id);
    return this.#takeUsage(message?.usage);
  }

  #messageDelta({ delta, usage }: MessagesEvent): readonly ProviderStreamEvent[] {
    if (typeof delta?.stop_reason === "string") this.#stopReason = delta.stop_reason;
    return this.#takeUsage(usage);
  }

  #takeUsage(usage: MessagesUsage | null | undefined): readonly ProviderStreamEvent[] {
    if (usage === null || usage === undefined) return nothing;
    this.#usage = mergeUsage(this.#usage, usage);
    const known = this.#totalUsage();
    return known === undefined ? nothing : [{ type: "usage", usage: known }];
  }

  #totalUsage(): TokenUsage | undefined {
    return addUsage(this.#call.before?.usage, toTokenUsage(this.#usage));
  }

  #start({ index = 0, content_block: started }: MessagesEvent): readonly ProviderStreamEvent[] {
    if (started === undefined || this.#byIndex.has(index)) return nothing;
    const block = startBlock(started, this.#parts.length, this.#call.names);
    this.#open(index, block);
    if (block.kind === "text") return this.#showText(block, block.text);
    if (block.kind === "thinking") return showThinking(block.index, block.text);
    return nothing;
  }

  #open(index: number, block: AnswerBlock): void {
    this.#byIndex.set(index, block);
    this.#order.push(block);
    this.#parts.push(undefined);
  }

  #delta(index: number, delta: BlockDelta | undefined): readonly ProviderStreamEvent[] {
    if (delta === undefined) return nothing;
    if (index === this.#currentIndex && this.#current !== undefined && delta.type === "text_delta") {
      return this.#growText(this.#current, textIn(delta.text));
    }
    let block = this.#byIndex.get(index);
    if (block === undefined) {
      block = blockForDelta(delta, this.#parts.length);
      if (block === undefined) return nothing;
      this.#open(index, block);
    }
    if (block.closed) return nothing;
    switch (block.kind) {
      case "text":
        if (delta.type === "citations_delta") return this.#cite(block.citations, delta.citation);
        if (delta.type !== "text_delta") return nothing;
        this.#current = block;
        this.#currentIndex = index;
        return this.#growText(block, textIn(delta.text));
      case "thinking":
        if (delta.type === "signature_delta") block.signature += textIn(delta.signature);
        if (delta.type !== "thinking_delta") return nothing;
        block.text = grownText(block.text, textIn(delta.thinking));
        return showThinking(block.index, textIn(delta.thinking));
      case "call": {
        const inputTextDelta = delta.type === "input_json_delta" ? textIn(delta.partial_json) : "";
        if (inputTextDelta === "") return nothing;
        block.argumentsText += inputTextDelta;
        return [{ type: "tool-input-delta", toolCallId: block.id, name: block.name, inputTextDelta }];
      }
      case "opaque":
        growOpaque(block, delta);
        return nothing;
      case "redacted":
        return nothing;
      default:
        return block satisfies never;
    }
  }

  #growText(block: Extract<AnswerBlock, { kind: "text" }>, delta: string): readonly ProviderStreamEvent[] {
    if (block.closed) return nothing;
    block.text = grownText(block.text, delta);
    return this.#showText(block, delta);
  }

  #showText(block: { readonly index: number }, delta: string): readonly ProviderStreamEvent[] {
    if (delta === "") return nothing;
    this.#text = grownText(this.#text, delta);
    return [new TextDelta(delta, this.#text, block.index)];
  }

  /** Adds a source as a separate part, after the text that cites it, each source once. */
  #cite(citations: Citation[], citation: Citation | undefined): readonly ProviderStreamEvent[] {
    if (citation === undefined || citation === null) return nothing;
    citations.push(citation);
    const url = textIn(citation.url) || textIn(citation.source);
    const title = textIn(citation.title) || textIn(citation.document_title);
    const isWeb = /^https?:\/\//i.test(url);
    const key = isWeb ? url : title;
    if (key === "" || this.#cited.has(key)) return nothing;
    this.#cited.add(key);
    const part: MessageContentPart = {
      type: "source",
      ...(isWeb ? { url } : {}),
      ...(title === "" ? {} : { title }),
    };
    const index = this.#parts.push(part) - 1;
    return [{ type: "part", part, index }];
  }

  #stop(block: AnswerBlock | undefined): readonly ProviderStreamEvent[] {
    if (block === undefined || block.closed) return nothing;
    block.closed = true;
    if (block.kind === "call") {
      if (isObject(argumentsFromText(argumentsOf(block)))) return this.#showCall(block);
      this.#unparsedCalls.push(block);
      return nothing;
    }
    const part = partOf(block);
    this.#parts[block.index] = part;
    return part === undefined ? nothing : [{ type: "part", part, index: block.index }];
  }

  #showCall(block: Extract<AnswerBlock, { kind: "call" }>): readonly ProviderStreamEvent[] {
    const part = partOf(block);
    this.#parts[block.index] = part;
    if (part?.type !== "tool-call") return nothing;
    return [{ type: "tool-call", toolCall: toolCallOf(part), index: block.index }];
  }

  #finish(): readonly ProviderStreamEvent[] {
    const events: ProviderStreamEvent[] = [];
    for (const block of this.#order) events.push(...this.#stop(block));
    // Cut by the token limit: incomplete arguments must not be run.
    const isCut = this.#stopReason === "max_tokens" || this.#stopReason === "model_context_window_exceeded";
    if (!isCut) for (const block of this.#unparsedCalls) events.push(...this.#showCall(block));

    const content = this.#parts.filter((part) => part !== undefined);
    if (content.length === 0 && this.#stopReason === "model_context_window_exceeded") {
      return [{ type: "error", error: new ParleyError("context_overflow") }];
    }
    const toolCalls = content.flatMap((part) => (part.type === "tool-call" ? [toolCallOf(part)] : []));
    const usage = this.#totalUsage();
    if (this.#stopReason === "pause_turn") {
      this.#paused = {
        parts: content,
        text: this.#text,
        usage,
        content: [
          ...(this.#call.before?.content ?? []),
          ...this.#order.flatMap((block) => blockOf(block) ?? []),
        ],
      };
    }
    events.push({
      type: "done",
      result: {
        id: this.#id || "message",
        createdAt: this.#call.startedAt,
        message: { role: "assistant", content, origin: this.#call.origin },
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
        ...omitUndefined({ usage }),
        finishReason: finishReason(this.#stopReason, toolCalls.length > 0),
      },
    });
    return events;
  }

  #fail(event: MessagesEvent): readonly ProviderStreamEvent[] {
    return [{ type: "error", error: toStreamError(event, this.#call.provider, readAnthropicFailure) }];
  }
}

function showThinking(index: number, textDelta: string): readonly ProviderStreamEvent[] {
  return textDelta === "" ? nothing : [{ type: "reasoning-delta", textDelta, index }];
}

function toolCallOf(part: Extract<MessageContentPart, { type: "tool-call" }>): ProviderToolCall {
  const { toolCallId = "", name, arguments: parsed, argumentsText } = part;
  return {
    id: toolCallId,
    name,
    arguments: parsed,
    ...omitUndefined({ argumentsText }),
  };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function finishReason(stopReason: string | undefined, hasCalls: boolean): ProviderFinishReason {
  switch (stopReason) {
    case undefined:
    case "end_turn":
    case "stop_sequence":
      return hasCalls ? "tool-calls" : "stop";
    case "tool_use":
      return "tool-calls";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "content-filter";
    default:
      return "other";
  }
}
