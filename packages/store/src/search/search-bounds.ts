/** Bounds of searches and of the index behind them. */
export interface SearchBounds {
  /** Time limit of one search, in milliseconds. */
  readonly searchMs: number;
  /** Searches that run at once in this process, of all owners and of one: fewer than there are connections. */
  readonly atOnce: number;
  readonly perOwner: number;
  /** Time that a search waits for its turn before it returns without results, in milliseconds. */
  readonly waitMs: number;
  /** Conversations, messages and characters of an owner that are searched while they are not in the index. */
  readonly tailLogs: number;
  readonly tailRows: number;
  readonly tailCharacters: number;
  /** The newest entries of an owner that are read before the index of terms is used. */
  readonly newestRows: number;
  /** Entries of each further page, if terms are too common for their index. */
  readonly pageRows: number;
  /** Hits that are taken from the index of terms. With more of them, terms are too common for it. */
  readonly indexHits: number;
  /** Conversations that are added to the index in one transaction, and characters of their messages. */
  readonly batchLogs: number;
  readonly batchCharacters: number;
}

export const defaultSearchBounds: SearchBounds = {
  searchMs: 3_000,
  atOnce: 4,
  perOwner: 2,
  waitMs: 1_500,
  tailLogs: 500,
  tailRows: 2_000,
  tailCharacters: 4_000_000,
  newestRows: 1_000,
  pageRows: 5_000,
  indexHits: 10_000,
  batchLogs: 50,
  batchCharacters: 300_000,
};
