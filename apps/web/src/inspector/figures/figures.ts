import type { Usage } from "@parley/wire";
import {
  formatDuration as knownDuration,
  formatRate as knownRate,
  formatTokens as shortTokens,
} from "../../ui/text/format.js";

/** Text for a figure that is not known. An unknown figure is never shown as 0. */
const unknownFigure = "unknown";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Formats tokens, exact: `12,345`. */
export function formatTokens(tokens: number | undefined): string {
  return tokens === undefined ? unknownFigure : whole.format(tokens);
}

/** Formats tokens in few characters: `950`, `4.2k`, `128k`. */
export function formatTokensShort(tokens: number | undefined): string {
  return tokens === undefined ? unknownFigure : shortTokens(Math.round(tokens));
}

/** Formats a change of tokens with its sign: `+1,204`, `-80`, `no change`. */
export function formatTokenChange(change: number): string {
  const rounded = Math.round(change);
  if (rounded === 0) return "no change";
  return `${rounded > 0 ? "+" : "\u2212"}${whole.format(Math.abs(rounded))}`;
}

/** Formats a duration: `80 ms`, `1.4 s`, `2 min 5 s`. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return unknownFigure;
  return ms > 0 && ms < 0.5 ? "<1 ms" : knownDuration(ms);
}

/** Formats a share of one: `42 %`. A share that is not 0 but rounds to 0 is `<1 %`. */
export function formatShare(share: number | undefined): string {
  if (share === undefined) return unknownFigure;
  const percent = share * 100;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent < 100 && percent > 99) return "99 %";
  return `${Math.round(percent)} %`;
}

/** Returns the tokens written per second, if both are known. */
export function tokensPerSecond(
  outputTokens: number | undefined,
  decodeMs: number | undefined,
): number | undefined {
  if (outputTokens === undefined || decodeMs === undefined || decodeMs <= 0 || outputTokens <= 0) {
    return undefined;
  }
  return (outputTokens * 1000) / decodeMs;
}

/** Formats a speed: `48 tok/s`. */
export function formatRate(rate: number | undefined): string {
  return rate === undefined ? unknownFigure : (knownRate(rate, 1_000) ?? unknownFigure);
}

/**
 * Returns the usage, or undefined if it was not reported: a call always reads something, so a sum of 0 is not a figure.
 */
export function knownUsage(usage: Usage | undefined): Usage | undefined {
  return usage === undefined || (usage.inputTokens === 0 && usage.outputTokens === 0) ? undefined : usage;
}

/** Returns the share of the input that came from the provider's cache, if the provider reports it. */
export function cacheShare(usage: Usage | undefined): number | undefined {
  const known = knownUsage(usage);
  if (known?.cacheReadTokens === undefined || known.inputTokens <= 0) return undefined;
  return Math.min(1, known.cacheReadTokens / known.inputTokens);
}
