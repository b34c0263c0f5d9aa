import type { FileCounter } from "../messages/tokens/count-message.js";
import type { TokenEstimator } from "../messages/tokens/token-counter.js";

/** Part of an estimator that measuring needs. */
export type TextCounter = Pick<TokenEstimator, "countText" | "factor" | "rule">;

/**
 * Counts texts for one model. Counts are uncalibrated, so that they can be kept and added up; `factor` is the model's
 * calibration, for sums of them. An estimator without a factor calibrates its counts itself; the factor is then 1.
 */
export interface TokenScale {
  readonly factor: number;
  readonly countText: (text: string) => number;
  /** Counts files by the rule of the model's provider. Absent: as rows do. */
  readonly countFile?: FileCounter | undefined;
  /** The rule of counts that may be used in place of a count of this scale, if there is one. */
  readonly rule: number | undefined;
}

/** Returns the scale on which an estimator counts for a model. */
export function tokenScale(tokens: TextCounter, model?: string): TokenScale {
  const { rule } = tokens;
  if (model === undefined) return { factor: 1, countText: (text) => tokens.countText(text), rule };
  const factor = tokens.factor?.(model);
  if (factor !== undefined && Number.isFinite(factor) && factor > 0) {
    return { factor, countText: (text) => tokens.countText(text), rule };
  }
  return { factor: 1, countText: (text) => tokens.countText(text, model), rule: undefined };
}

/** Returns the calibrated tokens of a sum of counts. */
export function calibrated(count: number, { factor }: Pick<TokenScale, "factor">): number {
  return Math.ceil(count * factor);
}

/** Returns the largest count whose calibrated tokens are within a limit. */
export function uncalibratedLimit(limit: number, scale: Pick<TokenScale, "factor">): number {
  if (!Number.isFinite(limit)) return limit;
  let count = Math.floor(limit / scale.factor);
  // Division and multiplication round separately.
  while (calibrated(count, scale) > limit) count -= 1;
  while (calibrated(count + 1, scale) <= limit) count += 1;
  return count;
}
