import type { OpenUnion } from "../json.js";

/** Prices of a model, each for a million tokens. */
export interface ModelPrices {
  /** Of input that no cache held. */
  readonly input: number;
  /** Of input that the provider's cache held. Absent: as `input`. */
  readonly cachedInput?: number;
  /** Of input that was written to the provider's cache. Absent: as `input`. */
  readonly cacheWrite?: number;
  /** Of output, reasoning included. */
  readonly output: number;
  /** As ISO 4217 has it. Absent: `USD`. */
  readonly currency?: string;
}

/** Cost of one provider call, fixed when it was made: prices that change later do not change it. */
export interface Cost {
  /** In units of the currency, not in cents. */
  readonly amount: number;
  /** As ISO 4217 has it. */
  readonly currency: string;
  /** `billed`: as the provider reported it. `estimated`: the reported tokens at the model's prices. */
  readonly source: OpenUnion<"billed" | "estimated">;
}

/** An amount of one currency: the sum of the two. */
export interface CostAmount {
  readonly currency: string;
  readonly billed: number;
  readonly estimated: number;
}

/** Cost of several provider calls. Amounts are the cost of the calls whose cost is known: the others are not in them. */
export interface CostSum {
  readonly calls: number;
  /** Calls of unknown cost, which is never counted as 0. */
  readonly unknownCalls: number;
  /** One for each currency, in alphabetical order. Empty where no cost is known. */
  readonly amounts: readonly CostAmount[];
}
