/**
 * Decides when a conversation is compacted automatically, how much of it a compaction leaves as it is, and if a
 * summary is worth keeping. All figures are tokens unless stated otherwise.
 */
export interface CompactionPolicy {
  /**
   * Returns the size of a request at which the conversation is compacted before its next step; 0 for never. `setting`
   * is the conversation's own threshold, if it has one.
   */
  threshold(conversation: { readonly contextWindow: number; readonly setting?: number | undefined }): number;
  /** Returns the number of newest messages that a compaction by hand keeps if the caller gives none. */
  keepLastN(): number;
  /**
   * Returns the amount that an automatic compaction keeps: of the newest messages, and of the turn's newest step,
   * which the model has not answered yet.
   */
  kept(threshold: number): { readonly tokens: number; readonly newestStepTokens: number };
  /** Returns true if a summary is enough shorter than what it covers. */
  isWorthwhile(summary: { readonly summaryTokens: number; readonly coveredTokens: number }): boolean;
  /** Returns the request size below which nothing is tried again after a compaction that gained nothing. */
  retryAbove(requestTokens: number): number;
  /** Returns the amount of the conversation that one request for a summary carries. */
  pieceTokens(contextWindow: number): number;
  /** Returns the length, in characters, at which arguments and results of tools are cut for the summary. */
  clipCharacters(): number;
}

/** The numbers of the default policy. */
export interface CompactionRules {
  /** Share of the window at which a conversation is compacted automatically; 0 for never. */
  readonly thresholdShare: number;
  /** Messages that a compaction by hand keeps. */
  readonly keepLastN: number;
  /** The share of the threshold that an automatic compaction keeps of the newest messages. */
  readonly keptShare: number;
  /** The same, including the turn's newest step. */
  readonly newestStepShare: number;
  /** The largest share of the covered tokens that a summary may have. */
  readonly largestSummaryShare: number;
  /** The growth of a request before the next try, after one that gained nothing. */
  readonly growthBeforeRetry: number;
  /** The share of the window that one request for a summary fills with the conversation. */
  readonly pieceShare: number;
  /** Minimum that such a request carries, however small the window is. */
  readonly smallestPiece: number;
  readonly clipCharacters: number;
}

/** Numbers of the default policy. */
export const defaultCompactionRules: CompactionRules = {
  thresholdShare: 0.8,
  keepLastN: 10,
  keptShare: 0.4,
  newestStepShare: 0.8,
  largestSummaryShare: 0.9,
  growthBeforeRetry: 1.25,
  pieceShare: 0.6,
  smallestPiece: 256,
  clipCharacters: 4_000,
};

/** Creates the default policy, with the given numbers in place of the defaults. */
export function createCompactionPolicy(rules: Partial<CompactionRules> = {}): CompactionPolicy {
  const all = { ...defaultCompactionRules, ...rules };
  return {
    threshold: ({ contextWindow, setting }) => setting ?? Math.floor(contextWindow * all.thresholdShare),
    keepLastN: () => all.keepLastN,
    kept: (threshold) => ({
      tokens: threshold * all.keptShare,
      newestStepTokens: threshold * all.newestStepShare,
    }),
    isWorthwhile: ({ summaryTokens, coveredTokens }) =>
      summaryTokens < coveredTokens * all.largestSummaryShare,
    retryAbove: (requestTokens) => requestTokens * all.growthBeforeRetry,
    pieceTokens: (contextWindow) => Math.max(all.smallestPiece, Math.floor(contextWindow * all.pieceShare)),
    clipCharacters: () => all.clipCharacters,
  };
}
