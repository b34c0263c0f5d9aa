import type { MessageContentPart } from "../../messages/part.js";

/** Times of the first and last delta of each part of a step's reasoning. */
export class ReasoningTimes {
  readonly #times = new Map<number, { readonly first: number; last: number }>();

  /** Records that a delta of the part at this place arrived. */
  note(partIndex: number, at: number): void {
    const times = this.#times.get(partIndex);
    if (times === undefined) this.#times.set(partIndex, { first: at, last: at });
    else times.last = at;
  }

  /** Returns the finished parts, reasoning with its duration if that was measured: in more than one piece. */
  stamp(parts: MessageContentPart[]): MessageContentPart[] {
    if (this.#times.size === 0) return parts;
    return parts.map((part, index) => {
      const times = part.type === "reasoning" ? this.#times.get(index) : undefined;
      if (times === undefined || times.last === times.first) return part;
      return { ...part, durationMs: Math.round(times.last - times.first) };
    });
  }
}
