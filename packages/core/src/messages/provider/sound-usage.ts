import type { TokenUsage } from "../message.js";

const details = ["totalTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/**
 * Returns the usable part of reported usage: figures that are finite and not negative. Without a valid count of input
 * and output, usage is unknown.
 */
export function soundUsage(reported: TokenUsage | undefined): TokenUsage | undefined {
  if (reported === undefined || reported === null) return undefined;
  const { inputTokens, outputTokens } = reported;
  if (!isSound(inputTokens) || !isSound(outputTokens)) return undefined;
  const usage: TokenUsage = { inputTokens, outputTokens };
  for (const key of details) {
    const figure = reported[key];
    if (isSound(figure)) usage[key] = figure;
  }
  return usage;
}

function isSound(figure: number | undefined): figure is number {
  return typeof figure === "number" && Number.isFinite(figure) && figure >= 0;
}
