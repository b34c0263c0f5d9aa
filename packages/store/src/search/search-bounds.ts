/** Bounds of searches and of the index behind them. */
export interface SearchBounds {
  /** How long one search may look, in milliseconds. */
  readonly searchMs: number;
  /** Searches that run at once in this process, of all owners and of one: fewer than there are connections. */
  readonly atOnce: number;
  readonly perOwner: number;
  /** How long a search waits for its turn before it answers without having looked, in milliseconds. */
  readonly waitMs: number;
  /** Conversations, messages and characters of an owner that are looked through while they are not in the index. */
  readonly tailLogs: number;
  readonly tailRows: number;
  readonly tailCharacters: number;
  /** The newest entries of an owner that are looked at before the index of terms is asked. */
  readonly newestRows: number;
  /** Entries of each further look, where terms are too common for their index. */
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
