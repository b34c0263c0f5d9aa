import { KeptHistory } from "../../history/kept-history.js";

/** The numbers of the cache. */
const historyCacheRules = {
  /** The memory of all histories together, as estimated. The ones that were used longest ago go first. */
  maxBytes: 64 * 1024 * 1024,
};

/**
 * What this node keeps of the conversations that ran here last, so that their next request reads only what was added.
 * Nothing here has to be told of changes: each use begins with what the store says (see `KeptHistory`).
 */
export class HistoryCache {
  readonly #maxBytes: number;
  /** Used longest ago first, with their sizes when they were used last. */
  readonly #kept = new Map<string, { readonly history: KeptHistory; bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number = historyCacheRules.maxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Number of conversations that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** What is kept of a conversation; something empty where nothing is. */
  of(owner: string, conversationId: string): KeptHistory {
    return this.#kept.get(keyOf(owner, conversationId))?.history ?? new KeptHistory();
  }

  /** Keeps a history after its use, as long as there is room for it. */
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

  /** Forgets a conversation: it was deleted, say. */
  drop(owner: string, conversationId: string): void {
    const key = keyOf(owner, conversationId);
    const known = this.#kept.get(key);
    if (known === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= known.bytes;
  }
}

/** Conversation ids have no spaces, so no two pairs are alike. */
function keyOf(owner: string, conversationId: string): string {
  return `${conversationId} ${owner}`;
}
