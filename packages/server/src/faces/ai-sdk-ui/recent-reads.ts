/** How long the answer of a turn is replayed after its seal, to a page that read the history before it. */
export const replayAfterSealMs = 15_000;

/** How many chats are remembered. */
const mostChats = 10_000;

/**
 * The turns that were open when somebody read a chat's messages. A page reads the messages, without the running answer,
 * and then asks for its stream: where the turn was sealed in between, the answer would be missing. A hint of this node
 * alone, for some seconds: whoever loses it reads the messages again.
 */
export class RecentReads {
  readonly #turns = new Map<string, string>();

  /** Remembers that a chat was read while a turn was open. */
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

  /** Returns true if the chat was last read while this turn was open. */
  has(owner: string, chatId: string, turnId: string): boolean {
    return this.#turns.get(keyOf(owner, chatId)) === turnId;
  }
}

function keyOf(owner: string, chatId: string): string {
  return JSON.stringify([owner, chatId]);
}
