import type { TurnMetrics } from "@parley/wire";
import { cacheShare, knownUsage, tokensPerSecond } from "./figures.js";

/** A figure over the turns; null if it is not known. */
export type TrendValues = readonly (number | null)[];

/** Series over the turns of a conversation: each has as many values as there are turns. */
export interface Trends {
  /** The turn's number, from 1; if the turns before these are not known, its place from the newest, which is 0. */
  readonly turns: readonly number[];
  /** From the turn's first call to its first token. */
  readonly ttftMs: TrendValues;
  readonly durationMs: TrendValues;
  /** While the model was writing, over all steps. */
  readonly tokensPerSecond: TrendValues;
  readonly inputTokens: TrendValues;
  readonly outputTokens: TrendValues;
  /** Tokens in context after the turn. */
  readonly contextSize: TrendValues;
  /** Percentage of the input that came from the provider's cache. */
  readonly cachePercent: TrendValues;
}

/** Lines up the figures of sealed turns, oldest first: all of them, or the newest. Pure. */
export function trendsOf(turns: readonly TurnMetrics[], isWhole = true): Trends {
  const column = (pick: (turn: TurnMetrics) => number | undefined): TrendValues =>
    turns.map((turn) => pick(turn) ?? null);
  return {
    turns: turns.map((_, index) => index + 1 - (isWhole ? 0 : turns.length)),
    ttftMs: column((turn) => turn.steps[0]?.ttftMs),
    durationMs: column(({ durationMs, waitedMs = 0 }) =>
      durationMs === undefined ? undefined : durationMs - waitedMs,
    ),
    tokensPerSecond: column(writingRate),
    inputTokens: column((turn) => knownUsage(turn.usage)?.inputTokens),
    outputTokens: column((turn) => knownUsage(turn.usage)?.outputTokens),
    contextSize: column((turn) => turn.contextSize),
    cachePercent: column((turn) => {
      const share = cacheShare(turn.usage);
      return share === undefined ? undefined : share * 100;
    }),
  };
}

/**
 * Returns the speed of writing. Only steps with both figures count, so that a missing time does not make the rest look
 * fast.
 */
function writingRate(turn: TurnMetrics): number | undefined {
  let tokens = 0;
  let ms = 0;
  for (const { usage, decodeMs } of turn.steps) {
    const known = knownUsage(usage);
    if (known === undefined || decodeMs === undefined) continue;
    tokens += known.outputTokens;
    ms += decodeMs;
  }
  return tokensPerSecond(tokens, ms);
}
