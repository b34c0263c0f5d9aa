import { KeptHistory } from "../../history/kept-history.js";

/** The numbers of the cache. */
const historyCacheRules = {
  /** Estimated memory of all histories together. The least recently used ones are dropped first. */
  maxBytes: 64 * 1024 * 1024,
};

/**
 * Histories of the conversations that ran on this node last, so that their next request reads only what was added. No
 * notification of changes is needed: each use begins with a read of the store (see `KeptHistory`).
 */
export class HistoryCache {
  readonly #maxBytes: number;
  /** Least recently used first, with their sizes at their last use. */
  readonly #kept = new Map<string, { readonly history: KeptHistory; bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number = historyCacheRules.maxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Number of conversations that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** Returns the history of a conversation; an empty one if none is kept. */
  of(owner: string, conversationId: string): KeptHistory {
    return this.#kept.get(keyOf(owner, conversationId))?.history ?? new KeptHistory();
  }

  /** Keeps a history after its use, as long as it fits. */
  keep(owner: string, conversationId: string, history: KeptHistory): void {
    const key = keyOf(owner, conversationId);
    this.drop(owner, conversationId);
    const { bytes } = history;
    if (bytes > this.#maxBytes) return;
    this.#kept.set(key, { history, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: size }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= size;
    }
  }

  /** Drops a conversation, for example when it was deleted. */
  drop(owner: string, conversationId: string): void {
    const key = keyOf(owner, conversationId);
    const known = this.#kept.get(key);
    if (known === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= known.bytes;
  }
}

/** Returns the key of a conversation. Conversation ids have no spaces, so keys are unique. */
function keyOf(owner: string, conversationId: string): string {
  return `${conversationId} ${owner}`;
}
