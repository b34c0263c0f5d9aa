import type { ParleyError } from "../../errors.js";
import type { MessageContentPart } from "../../messages/part.js";
import { firstBytes } from "../../messages/text/first-bytes.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { type AnswerLimits, type AnswerSizeLimit, answerTooLarge } from "../../ports/answer-limits.js";

const unlimited: Pick<AnswerLimits, AnswerSizeLimit> = {
  answerBytes: Number.POSITIVE_INFINITY,
  answerCalls: Number.POSITIVE_INFINITY,
  answerParts: Number.POSITIVE_INFINITY,
};

/** Maximum depth that is measured: deeper data cannot be stored either. */
const deepest = 2_000;

/**
 * Size of an answer, part by part, against its limits. Each event is measured once, by what it adds; nothing is
 * measured beyond the limit that it exceeds.
 */
export class AnswerSize {
  readonly limits: Pick<AnswerLimits, AnswerSizeLimit>;
  /** Set once: by the first limit that was exceeded. */
  exceeded: ParleyError | undefined;
  /** Bytes of each part. */
  readonly #sizes: number[] = [];
  readonly #calls = new Set<number>();
  /** Bytes of the arguments of calls that are not complete, by the calls' ids. */
  readonly #inputs = new Map<string, number>();
  #bytes = 0;

  constructor(limits: Pick<AnswerLimits, AnswerSizeLimit> = unlimited) {
    this.limits = limits;
  }

  /** Adds text to a part; returns as much of it as fits. */
  takeText(place: number, text: string): string {
    if (!this.#open(place)) return "";
    const left = this.limits.answerBytes - this.#bytes;
    // Every character takes at least a byte, so a text that is far too long need not be measured whole.
    const bytes = text.length > left ? text.length : utf8Length(text);
    if (bytes <= left) {
      this.#add(place, bytes);
      return text;
    }
    this.#add(place, left);
    this.#exceed("answerBytes");
    return firstBytes(text, left);
  }

  /** Adds to the arguments of a call that is not complete. */
  takeInput(toolCallId: string, text: string): void {
    const before = this.#inputs.get(toolCallId);
    if (before === undefined && this.#calls.size + this.#inputs.size >= this.limits.answerCalls) {
      this.#exceed("answerCalls");
      return;
    }
    const bytes = text.length > this.limits.answerBytes ? text.length : utf8Length(text);
    this.#inputs.set(toolCallId, (before ?? 0) + bytes);
    this.#bytes += bytes;
    if (this.#bytes > this.limits.answerBytes) this.#exceed("answerBytes");
  }

  /**
   * Puts a complete part in its place and returns it, if it fits. For a text or reasoning that is new here, returns
   * the beginning that fits, without its metadata: a signature is valid only for the whole. Undefined if nothing
   * fits.
   */
  fit(place: number, part: MessageContentPart): MessageContentPart | undefined {
    if (!this.#open(place)) return undefined;
    if (part.type === "tool-call" && !this.#openCall(place, part.toolCallId)) return undefined;
    const before = this.#sizes[place] ?? 0;
    const left = this.limits.answerBytes - this.#bytes + before;
    const bytes = sizeOfPart(part, left);
    if (bytes <= left) {
      this.#add(place, bytes - before);
      return part;
    }
    const text = before === 0 && (part.type === "text" || part.type === "reasoning") ? part.text : "";
    const fitting = typeof text === "string" ? this.takeText(place, text) : "";
    this.#exceed("answerBytes");
    return fitting === "" ? undefined : ({ type: part.type, text: fitting } as MessageContentPart);
  }

  #open(place: number): boolean {
    if (place < this.#sizes.length) return true;
    if (place >= this.limits.answerParts) {
      this.#exceed("answerParts");
      return false;
    }
    this.#sizes[place] = 0;
    return true;
  }

  #openCall(place: number, toolCallId: string | undefined): boolean {
    if (this.#calls.has(place)) return true;
    const input = this.#inputs.get(toolCallId ?? "");
    if (input !== undefined) {
      this.#bytes -= input;
      this.#inputs.delete(toolCallId ?? "");
    }
    if (this.#calls.size + this.#inputs.size >= this.limits.answerCalls) {
      this.#exceed("answerCalls");
      return false;
    }
    this.#calls.add(place);
    return true;
  }

  #add(place: number, bytes: number): void {
    this.#sizes[place] = (this.#sizes[place] ?? 0) + bytes;
    this.#bytes += bytes;
  }

  #exceed(limit: AnswerSizeLimit): void {
    this.exceeded ??= answerTooLarge(limit, this.limits[limit]);
  }
}

/** Returns the bytes of a part as it is stored; more than `atMost` is not measured further. */
function sizeOfPart(part: MessageContentPart, atMost: number): number {
  const { type, ...content } = part;
  // The parsed arguments are derived from their text.
  if (type === "tool-call" && part.argumentsText !== undefined) Reflect.deleteProperty(content, "arguments");
  return sizeOfValue(content, atMost, 0);
}

function sizeOfValue(value: unknown, atMost: number, depth: number): number {
  if (typeof value === "string") return value.length > atMost ? value.length : utf8Length(value);
  if (typeof value !== "object" || value === null || depth > deepest) return 0;
  let bytes = 0;
  for (const key of Object.keys(value)) {
    bytes += sizeOfValue((value as Record<string, unknown>)[key], atMost - bytes, depth + 1);
    if (depth > 0 && !Array.isArray(value)) bytes += key.length;
    if (bytes > atMost) return bytes;
  }
  return bytes;
}
