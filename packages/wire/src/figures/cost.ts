import type { OpenUnion } from "../json.js";

/** Prices of a model, each for a million tokens. */
export interface ModelPrices {
  /** Price of input that was not cached. */
  readonly input: number;
  /** Price of input from the provider's cache. Absent: as `input`. */
  readonly cachedInput?: number;
  /** Price of input that was written to the provider's cache. Absent: as `input`. */
  readonly cacheWrite?: number;
  /** Price of output, including reasoning. */
  readonly output: number;
  /** ISO 4217 code. Absent: `USD`. */
  readonly currency?: string;
}

/** Cost of one provider call, fixed when it was made: prices that change later do not change it. */
export interface Cost {
  /** In units of the currency, not in cents. */
  readonly amount: number;
  /** ISO 4217 code. */
  readonly currency: string;
  /** `billed`: reported by the provider. `estimated`: the reported tokens at the model's prices. */
  readonly source: OpenUnion<"billed" | "estimated">;
}

/** An amount of one currency: the sum of the two. */
export interface CostAmount {
  readonly currency: string;
  readonly billed: number;
  readonly estimated: number;
}

/** Cost of several provider calls. Amounts include only calls whose cost is known. */
export interface CostSum {
  readonly calls: number;
  /** Calls of unknown cost, which is never counted as 0. */
  readonly unknownCalls: number;
  /** One for each currency, in alphabetical order. Empty if no cost is known. */
  readonly amounts: readonly CostAmount[];
}
