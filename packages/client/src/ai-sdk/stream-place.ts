/** The fields of a chunk that its place depends on. */
interface PlacedChunk {
  readonly type: string;
  readonly id?: string;
  readonly delta?: string;
  readonly transient?: boolean;
  readonly preliminary?: boolean;
}

/**
 * The place up to which a stream was received, in a form that does not depend on how the server cuts text into pieces:
 * the chunks that a replay has too, the parts that have ended, and the characters of each part that is growing.
 */
export class StreamPlace {
  #chunks = 0;
  #ended = 0;
  readonly #growing = new Map<string, number>();

  /** Counts a chunk that was passed on. */
  add(chunk: PlacedChunk): void {
    const { type, id = "", delta = "" } = chunk;
    if (type === "text-delta" || type === "reasoning-delta") {
      this.#growing.set(id, (this.#growing.get(id) ?? 0) + delta.length);
      return;
    }
    if (chunk.transient === true || chunk.preliminary === true) return;
    this.#chunks += 1;
    if (type === "text-start" || type === "reasoning-start") this.#growing.set(id, 0);
    if ((type === "text-end" || type === "reasoning-end") && this.#growing.delete(id)) this.#ended += 1;
  }

  toString(): string {
    return [this.#chunks, this.#ended, ...this.#growing.values()].join(".");
  }
}
