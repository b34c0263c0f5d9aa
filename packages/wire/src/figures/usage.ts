/**
 * Amount of reasoning before a model answers. Each provider maps a level to its API, and ignores it if there
 * is no equivalent.
 *
 * The value of the turn wins, then that of the conversation, then `"high"`. The server resolves it.
 */
export type ReasoningEffort = "low" | "medium" | "high" | "xhigh" | "max";

/** Token counts of one step, or summed over several. */
export interface Usage {
  /** All tokens that the model read, including cached ones. */
  readonly inputTokens: number;
  /** All tokens that the model wrote, including reasoning. */
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache. Absent if it is not reported. */
  readonly cacheReadTokens?: number;
  /** The part of `inputTokens` that was written to the provider's cache. Absent if it is not reported. */
  readonly cacheWriteTokens?: number;
  /** The part of `outputTokens` that was reasoning. Absent if it is not reported. */
  readonly reasoningTokens?: number;
}
