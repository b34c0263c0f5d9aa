import { tokenRule } from "./count-message.js";
import { countTextTokens } from "./text-tokens.js";
import {
  calibrate,
  type ModelCalibration,
  readCalibration,
  type TokenObservation,
  uncalibrated,
} from "./token-calibration.js";

/** Counts tokens without a tokenizer, and learns from what providers report. */
export interface TokenEstimator {
  /** The tokens of a text: a whole number, 0 for the empty text only. Calibrated when a model is given. */
  countText(text: string, model?: string): number;
  /** Takes in what a provider reported for a whole request that was estimated with this model. */
  observe(model: string, observation: TokenObservation): void;
  /**
   * What counts for this model are multiplied with now. An estimator that has it wants it back with the
   * report, as `factor`, so that reports of requests that ran side by side are understood.
   */
  factor?(model: string): number;
  /**
   * The rule of its uncalibrated counts: counts that stores keep under the same rule are used in place of its own.
   * Without it, every message is counted by the estimator itself.
   */
  readonly rule?: number;
}

/** What a counter has learned, as plain data that JSON can carry. */
export interface TokenCounterSnapshot {
  readonly version: 1;
  readonly models: Readonly<Record<string, ModelCalibration>>;
}

/**
 * Parley's default estimator: {@link countTextTokens}, times a factor per model. The factor is 1 until usage
 * is reported, then follows the ratio of reported to counted tokens of the last dozen requests. The same
 * calls in the same order give the same numbers: there is no clock and no chance in it.
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

  /** What counts for this model are multiplied with: 1 for a model without reports, else 0.25 to 4. */
  factor(model: string): number {
    return this.#models.get(model)?.factor ?? uncalibrated.factor;
  }

  /** What was learned so far. */
  snapshot(): TokenCounterSnapshot {
    return { version: 1, models: Object.fromEntries(this.#models) };
  }

  /** Puts a snapshot in the place of what was learned. Entries that cannot be read are left out. */
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

/** A counter that has learned nothing yet, or what the snapshot says. */
export function createTokenCounter(snapshot?: TokenCounterSnapshot): TokenCounter {
  const counter = new TokenCounter();
  if (snapshot !== undefined) counter.restore(snapshot);
  return counter;
}
