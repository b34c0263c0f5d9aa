import type { TokenUsage } from "../message.js";

const details = ["totalTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/**
 * What a provider reports, as far as it can be counted with: figures that are finite and not negative. Without a sound
 * count of what was read and written there is nothing to count with, and usage is unknown.
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
