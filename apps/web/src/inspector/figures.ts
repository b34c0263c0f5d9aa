import type { Usage } from "@parley/wire";

/** What stands where a figure is not known. An unknown figure is never shown as 0. */
export const unknownFigure = "unknown";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const oneDigit = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** Tokens, exact: `12,345`. */
export function formatTokens(tokens: number | undefined): string {
  return tokens === undefined ? unknownFigure : whole.format(tokens);
}

/** Tokens where there is little room: `950`, `12.3k`, `1.2M`. */
export function formatTokensShort(tokens: number | undefined): string {
  if (tokens === undefined) return unknownFigure;
  if (tokens < 999.5) return whole.format(tokens);
  if (tokens < 999_950) return `${oneDigit.format(tokens / 1000)}k`;
  return `${oneDigit.format(tokens / 1_000_000)}M`;
}

/** A change of tokens with its sign: `+1,204`, `-80`, `no change`. */
export function formatTokenChange(change: number): string {
  const rounded = Math.round(change);
  if (rounded === 0) return "no change";
  return `${rounded > 0 ? "+" : "\u2212"}${whole.format(Math.abs(rounded))}`;
}

/** A duration: `80 ms`, `1.4 s`, `2 min 05 s`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return unknownFigure;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${oneDigit.format(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A share of one: `42 %`. What is there but rounds to nothing is `<1 %`. */
export function formatShare(share: number | undefined): string {
  if (share === undefined) return unknownFigure;
  const percent = share * 100;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent < 100 && percent > 99) return "99 %";
  return `${Math.round(percent)} %`;
}

/** Tokens that were written per second, where both are known. */
export function tokensPerSecond(
  outputTokens: number | undefined,
  decodeMs: number | undefined,
): number | undefined {
  if (outputTokens === undefined || decodeMs === undefined || decodeMs <= 0 || outputTokens <= 0) {
    return undefined;
  }
  return (outputTokens * 1000) / decodeMs;
}

/** A speed: `48 tok/s`. */
export function formatRate(rate: number | undefined): string {
  return rate === undefined
    ? unknownFigure
    : `${rate < 10 ? oneDigit.format(rate) : whole.format(rate)} tok/s`;
}

/** The usage, unless nobody reported it: a call always reads something, so a sum of nothing is not a figure. */
export function knownUsage(usage: Usage | undefined): Usage | undefined {
  return usage === undefined || (usage.inputTokens === 0 && usage.outputTokens === 0) ? undefined : usage;
}

/** The share of the input that came from the provider's cache, where the provider says so. */
export function cacheShare(usage: Usage | undefined): number | undefined {
  const known = knownUsage(usage);
  if (known?.cacheReadTokens === undefined || known.inputTokens <= 0) return undefined;
  return Math.min(1, known.cacheReadTokens / known.inputTokens);
}
