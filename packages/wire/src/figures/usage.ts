/**
 * How much a model should reason before it answers. Each provider maps a level to what its API has, and
 * ignores it where there is nothing to map to.
 *
 * The value of the turn wins, then that of the conversation, then `"high"`. The server resolves it.
 */
export type ReasoningEffort = "low" | "medium" | "high" | "xhigh" | "max";

/** Token counts of one step, or summed over several. */
export interface Usage {
  /** Everything the model read, with cached tokens counted. */
  readonly inputTokens: number;
  /** Everything the model wrote, with reasoning counted. */
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache. Absent where it is not reported. */
  readonly cacheReadTokens?: number;
  /** The part of `inputTokens` that was written to the provider's cache. Absent where it is not reported. */
  readonly cacheWriteTokens?: number;
  /** The part of `outputTokens` that was reasoning. Absent where it is not reported. */
  readonly reasoningTokens?: number;
}
