import { tokenRule } from "./count-message.js";
import { countTextTokens } from "./text-tokens.js";
import {
  calibrate,
  type ModelCalibration,
  readCalibration,
  type TokenObservation,
  uncalibrated,
} from "./token-calibration.js";

/** Counts tokens without a tokenizer, and learns from providers' reports. */
export interface TokenEstimator {
  /** Counts the tokens of a text: a whole number, 0 for the empty text only. Calibrated if a model is given. */
  countText(text: string, model?: string): number;
  /** Includes a provider's report for a whole request that was estimated with this model. */
  observe(model: string, observation: TokenObservation): void;
  /**
   * Returns the current multiplier for this model's token counts. An estimator that has one expects it back with the
   * report, as `factor`, so that reports of concurrent requests are interpreted correctly.
   */
  factor?(model: string): number;
  /**
   * The rule of its uncalibrated counts: counts that stores keep under the same rule are used in place of its own.
   * Without it, every message is counted by the estimator itself.
   */
  readonly rule?: number;
}

/** State of a counter, as plain data that JSON can carry. */
export interface TokenCounterSnapshot {
  readonly version: 1;
  readonly models: Readonly<Record<string, ModelCalibration>>;
}

/**
 * Parley's default estimator: {@link countTextTokens}, times a factor per model. The factor is 1 until usage is
 * reported, then follows the ratio of reported to counted tokens of the last dozen requests. The same calls in the
 * same order give the same numbers: it uses no clock and no randomness.
 */
export class TokenCounter implements TokenEstimator {
  readonly rule = tokenRule;
  readonly #models = new Map<string, ModelCalibration>();

  countText(text: string, model?: string): number {
    const tokens = countTextTokens(text);
    if (tokens === 0 || model === undefined) return tokens;
    return Math.max(1, Math.round(tokens * this.factor(model)));
  }

  observe(model: string, observation: TokenObservation): void {
    this.#models.set(model, calibrate(this.#models.get(model) ?? uncalibrated, observation));
  }

  /** Returns the multiplier for this model's token counts: 1 until usage has been reported, then 0.25 to 4. */
  factor(model: string): number {
    return this.#models.get(model)?.factor ?? uncalibrated.factor;
  }

  /** Returns what was learned so far. */
  snapshot(): TokenCounterSnapshot {
    return { version: 1, models: Object.fromEntries(this.#models) };
  }

  /** Replaces what was learned with a snapshot. Entries that cannot be read are left out. */
  restore(snapshot: unknown): void {
    this.#models.clear();
    if (typeof snapshot !== "object" || snapshot === null) return;
    const { version, models } = snapshot as Record<string, unknown>;
    if (version !== 1 || typeof models !== "object" || models === null) return;
    for (const [model, value] of Object.entries(models)) {
      const known = readCalibration(value);
      if (known !== undefined) this.#models.set(model, known);
    }
  }
}

/** Creates a counter that has learned nothing yet, or that starts from the snapshot. */
export function createTokenCounter(snapshot?: TokenCounterSnapshot): TokenCounter {
  const counter = new TokenCounter();
  if (snapshot !== undefined) counter.restore(snapshot);
  return counter;
}
