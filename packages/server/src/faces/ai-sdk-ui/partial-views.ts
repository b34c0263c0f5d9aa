/** Time after its seal during which the answer of a turn is replayed to a page that has only a part of it. */
export const replayAfterSealMs = 15_000;

/** Number of chats that are remembered. */
const mostChats = 10_000;

/**
 * The turns of which a page has only a part: it read the messages while the turn was open, or its stream was cut. When
 * it requests the stream, the turn may be sealed, and without a replay the answer would be missing. A hint of this
 * node alone, for some seconds: a page that loses it reads the messages again.
 */
export class PartialViews {
  readonly #turns = new Map<string, string>();

  /** Remembers that a page of the chat has only a part of a turn. */
  add(owner: string, chatId: string, turnId: string): void {
    const key = keyOf(owner, chatId);
    this.#turns.delete(key);
    this.#turns.set(key, turnId);
    if (this.#turns.size <= mostChats) return;
    for (const oldest of this.#turns.keys()) {
      this.#turns.delete(oldest);
      break;
    }
  }

  /** Returns true if a page of the chat has only a part of this turn. */
  has(owner: string, chatId: string, turnId: string): boolean {
    return this.#turns.get(keyOf(owner, chatId)) === turnId;
  }
}

function keyOf(owner: string, chatId: string): string {
  return JSON.stringify([owner, chatId]);
}
