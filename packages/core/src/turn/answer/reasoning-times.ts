import type { MessageContentPart } from "../../messages/part.js";

/** When each part of a step's reasoning was first and last heard of. */
export class ReasoningTimes {
  readonly #times = new Map<number, { readonly first: number; last: number }>();

  /** A delta of the part at this place arrived. */
  note(partIndex: number, at: number): void {
    const times = this.#times.get(partIndex);
    if (times === undefined) this.#times.set(partIndex, { first: at, last: at });
    else times.last = at;
  }

  /** The finished parts, each of the reasoning with how long it took where that was seen: in more than one piece. */
  stamp(parts: MessageContentPart[]): MessageContentPart[] {
    if (this.#times.size === 0) return parts;
    return parts.map((part, index) => {
      const times = part.type === "reasoning" ? this.#times.get(index) : undefined;
      if (times === undefined || times.last === times.first) return part;
      return { ...part, durationMs: Math.round(times.last - times.first) };
    });
  }
}
