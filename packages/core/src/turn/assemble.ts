import type { TokenUsage } from "../messages/message.js";
import type {
  MessageContentPart,
  ReasoningContentPart,
  TextContentPart,
  ToolCallContentPart,
} from "../messages/part.js";
import { argumentsFromText, textOfValue } from "../messages/part.js";
import { soundUsage } from "../messages/provider/sound-usage.js";
import { grownText } from "../messages/text/grown-text.js";
import type {
  ProviderCallResult,
  ProviderContentPart,
  ProviderStreamEvent,
  ProviderToolCall,
} from "../ports.js";

/** What an event adds that a watcher can see at once. */
export interface VisibleDelta {
  readonly kind: "text" | "reasoning";
  readonly delta: string;
  /** The part's place in the assembled message. */
  readonly partIndex: number;
}

/**
 * Folds a provider's events into the parts of one assistant message. No I/O, no clock: the same events give
 * the same parts. Text grows by concatenation, so each delta costs the same however long the answer is.
 */
export class Assembly {
  readonly #parts: MessageContentPart[] = [];
  /** The provider's part numbers, mapped to places in `#parts`: a provider may skip or interleave. */
  readonly #places = new Map<number, number>();
  #usage: TokenUsage | undefined;
  #result: ProviderCallResult | undefined;

  /** What was reported last, as far as it can be counted with. */
  get usage(): TokenUsage | undefined {
    return soundUsage(this.#result?.usage) ?? soundUsage(this.#usage);
  }

  get result(): ProviderCallResult | undefined {
    return this.#result;
  }

  /** Takes one event; returns what it adds to the visible text, if anything. */
  apply(event: ProviderStreamEvent): VisibleDelta | undefined {
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
        return undefined;
      case "done":
        this.#result = event.result;
        return undefined;
      case "tool-input-delta":
      case "error":
        return undefined;
      default:
        return event satisfies never;
    }
  }

  /**
   * The finished parts. The result's own parts are the provider's last word; calls that it lists only beside
   * them, or that were only streamed, are appended; a result without parts leaves what was streamed.
   */
  finish(): MessageContentPart[] {
    const result = this.#result;
    if (result === undefined) return this.partial();
    const said = result.message.content.map((part) => ownPart(part as MessageContentPart));
    const parts = said.length > 0 ? said : this.partial();
    const ids = new Set<string>();
    for (const part of parts) if (part.type === "tool-call" && part.toolCallId) ids.add(part.toolCallId);
    for (const call of result.toolCalls ?? []) {
      if (ids.has(call.id)) continue;
      parts.push(toolCallPart(call));
      if (call.id !== "") ids.add(call.id);
    }
    const listsCalls = parts.some((part) => part.type === "tool-call");
    for (const part of said.length > 0 ? this.#parts : []) {
      if (part.type !== "tool-call" || ids.has(part.toolCallId ?? "")) continue;
      // Without an id it can only be told from the listed ones if there are none.
      if (part.toolCallId || !listsCalls) parts.push(part);
    }
    return parts.filter(hasContent);
  }

  /** What exists when the stream is cut: grown text and reasoning, complete calls, no empty parts. */
  partial(): MessageContentPart[] {
    return this.#parts.filter(hasContent);
  }

  #grow(kind: "text" | "reasoning", delta: string, index: number | undefined): VisibleDelta | undefined {
    // A part begins with its first text, so that the places of what is told are the places in the message.
    if (delta === "") return undefined;
    const place = this.#openPlace(kind, index);
    const part = this.#parts[place] as TextContentPart | ReasoningContentPart;
    part.text = grownText(part.text, delta);
    return { kind, delta, partIndex: place };
  }

  #openPlace(kind: "text" | "reasoning", index: number | undefined): number {
    if (index === undefined) {
      const last = this.#parts.length - 1;
      if (this.#parts[last]?.type === kind) return last;
      return this.#parts.push({ type: kind, text: "" }) - 1;
    }
    const known = this.#places.get(index);
    if (known !== undefined && this.#parts[known]?.type === kind) return known;
    const place = this.#parts.push({ type: kind, text: "" }) - 1;
    this.#places.set(index, place);
    return place;
  }

  /** Puts a complete part where its deltas grew; returns text that no delta had shown. */
  #place(part: MessageContentPart, index: number | undefined): VisibleDelta | undefined {
    const own = ownPart(part);
    const last = this.#parts.length - 1;
    let place = index === undefined ? undefined : this.#places.get(index);
    if (index === undefined && grows(own) && this.#parts[last]?.type === own.type) place = last;
    const before = place === undefined ? undefined : this.#parts[place];
    if (before === undefined && !hasContent(own)) return undefined;
    if (place === undefined) {
      place = this.#parts.push(own) - 1;
      if (index !== undefined) this.#places.set(index, place);
    } else {
      this.#parts[place] = own;
    }
    if (!grows(own)) return undefined;
    const shown = before !== undefined && grows(before) ? before.text : "";
    if (own.text.length <= shown.length || !own.text.startsWith(shown)) return undefined;
    return { kind: own.type, delta: own.text.slice(shown.length), partIndex: place };
  }

  /** The increment, for an adapter that only sends the text so far. */
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
