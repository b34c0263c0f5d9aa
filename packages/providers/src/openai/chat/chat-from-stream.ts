import {
  argumentsFromText,
  grownText,
  type MessageContentPart,
  type MessageOrigin,
  omitUndefined,
  TextDelta,
} from "@parley/core/messages";
import type { ProviderFinishReason, ProviderStreamEvent, ProviderToolCall } from "@parley/core/ports";
import { toStreamError } from "../../call/http-failure.js";
import type { StreamFold } from "../../call/stream-call.js";
import type { ToolNames } from "../../call/tool-names.js";
import { billedAmount } from "../billed-amount.js";
import { readOpenAIFailure } from "../failure.js";
import { tokenUsage } from "../token-usage.js";
import type { ChatChunk, ChatDelta, ChatToolCallDelta, ChatUsage } from "./chat-api-types.js";
import { ThinkTags } from "./think-tags.js";

/** Information about the call that the fold needs. */
export interface FoldChat {
  readonly provider: string;
  readonly origin: MessageOrigin;
  readonly names: ToolNames;
  /** Treat a stream that just ends as a complete answer. */
  readonly acceptUnmarkedEnd: boolean;
  /** The date of an answer that has none. */
  readonly startedAt: Date;
  /** Treat `<think>` tags at the start of the text as reasoning; `opened`: the text starts inside them. */
  readonly thinkTags?: boolean | "opened";
}

const nothing: readonly ProviderStreamEvent[] = [];

/**
 * Folds the chunks of a chat completion. Servers omit most of what the API promises, so an answer is complete
 * after either a finish reason or `[DONE]`; usage, ids, indices and roles are used if present and not
 * required.
 */
export function createChatFold(call: FoldChat): StreamFold<ChatChunk> {
  return new ChatFold(call);
}

interface Growing {
  readonly kind: "text" | "reasoning";
  readonly index: number;
  text: string;
}

interface OpenChatCall {
  readonly kind: "call";
  readonly index: number;
  /** The server's index for it, if it sends one. */
  readonly place: number | undefined;
  id: string;
  /** True if the id is the server's, not one created here. */
  given: boolean;
  name: string;
  argumentsText: string;
  /** The end of the arguments that was not emitted yet. */
  unshown: string;
  /** True once anything of it was emitted under its id. */
  shown: boolean;
}

class ChatFold implements StreamFold<ChatChunk> {
  readonly #call: FoldChat;
  readonly #slots: (Growing | OpenChatCall)[] = [];
  #growing: Growing | undefined;
  readonly #calls: OpenChatCall[] = [];
  /** The newest call of each of the server's indices and ids. */
  readonly #callsByPlace = new Map<number, OpenChatCall>();
  readonly #callsById = new Map<string, OpenChatCall>();
  #text = "";
  #id = "";
  #created: number | undefined;
  #usage: ChatUsage | undefined;
  #finishReason: string | undefined;
  #refused = false;
  #last: ChatChunk | undefined;
  /** Undefined once no more tags are expected. */
  #tags: ThinkTags | undefined;

  constructor(call: FoldChat) {
    this.#call = call;
    const { thinkTags = false } = call;
    if (thinkTags !== false) this.#tags = new ThinkTags({ opened: thinkTags === "opened" });
  }

  get complete(): boolean {
    return this.#finishReason !== undefined;
  }

  get parts(): number {
    return this.#slots.length;
  }

  push(chunk: ChatChunk): readonly ProviderStreamEvent[] {
    if (typeof chunk !== "object" || chunk === null) return nothing;
    if (chunk.error !== undefined && chunk.error !== null) return this.#fail(chunk);
    this.#last = chunk;
    if (this.#id === "" && typeof chunk.id === "string") this.#id = chunk.id;
    if (typeof chunk.created === "number") this.#created ??= chunk.created;
    const usage = chunk.usage ?? chunk.x_groq?.usage;
    if (typeof usage === "object" && usage !== null) this.#usage = usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined || choice === null) return nothing;
    const delta = choice.delta ?? choice.message;
    const events = delta === undefined || delta === null ? nothing : this.#apply(delta);
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      if (choice.finish_reason === "error") return [...events, ...this.#fail(chunk)];
      this.#finishReason = choice.finish_reason;
    }
    return events;
  }

  end({ marked }: { readonly marked: boolean }): readonly ProviderStreamEvent[] {
    const spoke = this.#slots.length > 0;
    if (this.#finishReason === undefined && !marked && !(this.#call.acceptUnmarkedEnd && spoke))
      return nothing;
    const events: ProviderStreamEvent[] = this.#endTags();
    // Cut by the token limit: the last call's arguments may end anywhere and must not be run.
    const cut = this.#finishReason === "length" ? this.#calls.at(-1) : undefined;
    const toolCalls: ProviderToolCall[] = [];
    const content: MessageContentPart[] = [];
    for (const slot of this.#slots) {
      if (slot.kind !== "call") {
        content.push({ type: slot.kind, text: slot.text });
        continue;
      }
      if (slot === cut && !isJson(slot.argumentsText)) continue;
      const toolCall = this.#toolCall(slot);
      events.push(...this.#showArguments(slot), { type: "tool-call", toolCall, index: slot.index });
      toolCalls.push(toolCall);
      const { id, name, arguments: parsed, argumentsText = "" } = toolCall;
      content.push({ type: "tool-call", toolCallId: id, name, arguments: parsed, argumentsText });
    }
    const usage = this.#usage === undefined ? undefined : toTokenUsage(this.#usage);
    const billed = billedAmount(this.#usage);
    if (usage !== undefined) events.push({ type: "usage", usage, ...omitUndefined({ billed }) });
    events.push({
      type: "done",
      result: {
        id: this.#id || "chat-completion",
        createdAt: this.#created === undefined ? this.#call.startedAt : new Date(this.#created * 1000),
        message: { role: "assistant", content, origin: this.#call.origin },
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
        ...omitUndefined({ usage, billed }),
        finishReason: this.#reason(toolCalls.length),
        raw: this.#last,
      },
    });
    return events;
  }

  #apply(delta: ChatDelta): readonly ProviderStreamEvent[] {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    const text = plainText(delta.content);
    // Nearly every chunk is one piece of text.
    if (text !== "" && !reasoning && !delta.tool_calls && !delta.refusal) return this.#say(text);
    const events: ProviderStreamEvent[] = [];
    if (typeof reasoning === "string" && reasoning !== "") {
      // A server with a field for reasoning leaves no tags in its text.
      events.push(...this.#endTags(), this.#grow("reasoning", reasoning));
    }
    if (text !== "") events.push(...this.#say(text));
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      events.push(...this.#endTags(), this.#grow("text", delta.refusal));
    }
    for (const call of delta.tool_calls ?? []) events.push(...this.#endTags(), ...this.#applyCall(call));
    return events;
  }

  #say(text: string): ProviderStreamEvent[] {
    const tags = this.#tags;
    if (tags === undefined) return [this.#grow("text", text)];
    const events = tags.push(text).map((piece) => this.#grow(piece.kind, piece.text));
    if (tags.passes) this.#tags = undefined;
    return events;
  }

  /** Emits the text that the tags still held back, before any other event. */
  #endTags(): ProviderStreamEvent[] {
    const held = this.#tags?.end() ?? [];
    this.#tags = undefined;
    return held.map((piece) => this.#grow(piece.kind, piece.text));
  }

  #grow(kind: "text" | "reasoning", delta: string): ProviderStreamEvent {
    let growing = this.#growing;
    if (growing?.kind !== kind) {
      growing = { kind, index: this.#slots.length, text: "" };
      this.#slots.push(growing);
      this.#growing = growing;
    }
    growing.text = grownText(growing.text, delta);
    if (kind === "reasoning") return { type: "reasoning-delta", textDelta: delta, index: growing.index };
    this.#text = grownText(this.#text, delta);
    return new TextDelta(delta, this.#text, growing.index);
  }

  #applyCall(delta: ChatToolCallDelta): readonly ProviderStreamEvent[] {
    const call = this.#callOf(delta);
    if (typeof delta.function?.name === "string" && call.name === "") call.name = delta.function.name;
    const given = delta.function?.arguments;
    // Some servers send the arguments parsed.
    const text = typeof given === "object" && given !== null ? JSON.stringify(given) : given;
    if (typeof text === "string") {
      call.argumentsText = grownText(call.argumentsText, text);
      call.unshown += text;
    }
    return this.#showArguments(call);
  }

  /**
   * Returns the call that a piece belongs to: by index if the server sends one; but a server that gives every
   * call the same index marks the start of another call with a new id (and a name).
   */
  #callOf({ index: place, id, function: fn }: ChatToolCallDelta): OpenChatCall {
    const newId = typeof id === "string" && id !== "" ? id : undefined;
    let known: OpenChatCall | undefined;
    if (typeof place === "number") known = this.#callsByPlace.get(place);
    else if (newId !== undefined) known = this.#callsById.get(newId);
    // Neither index nor id: a name starts a call, anything else continues the last one.
    else if (typeof fn?.name !== "string" || fn.name === "") known = this.#calls.at(-1);
    const begins = typeof fn?.name === "string" && fn.name !== "";
    if (known !== undefined && begins && newId !== undefined && known.given && known.id !== newId)
      known = undefined;
    if (known !== undefined) {
      if (newId !== undefined && !known.given && !known.shown) {
        known.id = newId;
        known.given = true;
        this.#callsById.set(newId, known);
      }
      return known;
    }
    this.#growing = undefined;
    const call: OpenChatCall = {
      kind: "call",
      index: this.#slots.length,
      place: typeof place === "number" ? place : undefined,
      id: newId ?? this.#ownId(),
      given: newId !== undefined,
      name: "",
      argumentsText: "",
      unshown: "",
      shown: false,
    };
    this.#slots.push(call);
    this.#calls.push(call);
    if (call.place !== undefined) this.#callsByPlace.set(call.place, call);
    this.#callsById.set(call.id, call);
    return call;
  }

  /** Returns an id for a call without one: unique in this answer, and very likely among other answers. */
  #ownId(): string {
    const base = this.#id.replace(/[^a-zA-Z0-9_-]/g, "").slice(-40);
    return `call_${base === "" ? "" : `${base}_`}${this.#calls.length}`;
  }

  #showArguments(call: OpenChatCall): readonly ProviderStreamEvent[] {
    if (call.name === "" || call.unshown === "") return nothing;
    const inputTextDelta = call.unshown;
    call.unshown = "";
    call.shown = true;
    const name = this.#call.names.fromSent(call.name);
    return [{ type: "tool-input-delta", toolCallId: call.id, name, inputTextDelta }];
  }

  #toolCall({ id, name, argumentsText }: OpenChatCall): ProviderToolCall {
    return {
      id,
      name: this.#call.names.fromSent(name),
      arguments: argumentsFromText(argumentsText),
      argumentsText,
    };
  }

  #reason(calls: number): ProviderFinishReason {
    switch (this.#finishReason) {
      case "length":
      case "max_tokens":
        return "length";
      case "content_filter":
        return "content-filter";
      default:
        // Some servers send `stop` after calls.
        if (calls > 0) return "tool-calls";
        return this.#refused ? "content-filter" : "stop";
    }
  }

  #fail(payload: ChatChunk): readonly ProviderStreamEvent[] {
    return [{ type: "error", error: toStreamError(payload, this.#call.provider, readOpenAIFailure) }];
  }
}

function plainText(content: ChatDelta["content"]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

function toTokenUsage(usage: ChatUsage) {
  return tokenUsage({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cacheRead: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    cacheWrite: usage.prompt_tokens_details?.cache_write_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens,
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
