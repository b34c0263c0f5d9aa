import { addToHash, emptyHash } from "@parley/fold";

/** The fields of a chunk that its place depends on. */
interface PlacedChunk {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
}

/** Chunks that may arrive in another order, or again, without effect: outcomes of calls, and data. */
const uncounted = /^(tool-output|data)-/;

/**
 * The place up to which a stream was received, in a form that does not depend on how the server cuts text into pieces:
 * the number of chunks and a hash of them and of the parts that have ended, the number of those parts, and length and
 * hash of each part that is growing.
 */
export class StreamPlace {
  #chunks = 0;
  #hash = emptyHash;
  #ended = 0;
  readonly #growing = new Map<string, { length: number; hash: number }>();

  /** Counts a chunk that was passed on. */
  add({ type, id = "", delta = "", toolCallId = "" }: PlacedChunk): void {
    const part = this.#growing.get(id);
    if (type === "text-delta" || type === "reasoning-delta") {
      if (part === undefined) return;
      part.length += delta.length;
      part.hash = addToHash(part.hash, delta);
      return;
    }
    if (uncounted.test(type)) return;
    this.#chunks += 1;
    this.#hash = addToHash(this.#hash, type + toolCallId);
    if (type === "text-start" || type === "reasoning-start") {
      this.#growing.set(id, { length: 0, hash: emptyHash });
    }
    if ((type !== "text-end" && type !== "reasoning-end") || part === undefined) return;
    this.#growing.delete(id);
    this.#ended += 1;
    this.#hash = addToHash(this.#hash, String(part.hash));
  }

  toString(): string {
    const growing = [...this.#growing.values()].map(({ length, hash }) => `${length}-${hash}`);
    return [`${this.#chunks}-${this.#hash}`, this.#ended, ...growing].join(".");
  }
}
