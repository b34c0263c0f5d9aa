import type { Cost, CostAmount, CostSum, ModelPrices, Usage } from "@parley/wire";

const perTokens = 1_000_000;

/** The currency of prices that name none. */
export const defaultCurrency = "USD";

/**
 * Computes the cost of the reported tokens at a model's prices. Cached and written tokens are parts of the input and are
 * charged at their own price; a report that counts more of them than there was input charges no input beside them.
 */
export function estimatedCost(usage: Usage, prices: ModelPrices): Cost {
  const { input, cachedInput = input, cacheWrite = input, output, currency = defaultCurrency } = prices;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const plainTokens = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const sum =
    plainTokens * input +
    cacheReadTokens * cachedInput +
    cacheWriteTokens * cacheWrite +
    outputTokens * output;
  return { amount: roundAmount(sum / perTokens), currency, source: "estimated" };
}

/** Sums the costs of calls; an absent cost is unknown. */
export function sumCosts(costs: Iterable<Cost | undefined>): CostSum {
  let sum = noCost;
  for (const cost of costs) sum = addCosts(sum, costSum(cost));
  return sum;
}

/** The sum over no calls. */
export const noCost: CostSum = { calls: 0, unknownCalls: 0, amounts: [] };

/** Returns the sum over one call. */
export function costSum(cost: Cost | undefined): CostSum {
  if (cost === undefined) return { calls: 1, unknownCalls: 1, amounts: [] };
  const { amount, currency, source } = cost;
  const isBilled = source === "billed";
  const amounts = [{ currency, billed: isBilled ? amount : 0, estimated: isBilled ? 0 : amount }];
  return { calls: 1, unknownCalls: 0, amounts };
}

/** Adds two sums, currency by currency. */
export function addCosts(left: CostSum, right: CostSum): CostSum {
  const amounts = new Map<string, CostAmount>(left.amounts.map((each) => [each.currency, each]));
  for (const { currency, billed, estimated } of right.amounts) {
    const before = amounts.get(currency) ?? { currency, billed: 0, estimated: 0 };
    amounts.set(currency, {
      currency,
      billed: roundAmount(before.billed + billed),
      estimated: roundAmount(before.estimated + estimated),
    });
  }
  return {
    calls: left.calls + right.calls,
    unknownCalls: left.unknownCalls + right.unknownCalls,
    amounts: [...amounts.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1)),
  };
}

/** The part of a provider call that determines the value of its cache. */
export interface CachedCall {
  readonly model: string;
  readonly usage?: Usage | undefined;
  readonly prices?: ModelPrices | undefined;
}

/**
 * Input that had been in the provider's cache and was charged in full, and the extra cost compared with
 * reading it.
 */
export interface CacheLoss {
  readonly tokens: number;
  /** Absent if the prices are unknown. */
  readonly amount?: number;
  readonly currency?: string;
}

/**
 * Computes what a call lost because its prefix broke: the tokens that the call before it had read from the
 * cache or written to it, less those that this call has read from it. Undefined if nothing was lost or the
 * tokens are unknown.
 */
export function cacheLoss(before: CachedCall | undefined, call: CachedCall): CacheLoss | undefined {
  const { usage, prices } = call;
  if (before?.usage === undefined || usage === undefined) return undefined;
  const cachedBefore = (before.usage.cacheReadTokens ?? 0) + (before.usage.cacheWriteTokens ?? 0);
  const { inputTokens, cacheReadTokens: read = 0, cacheWriteTokens: written = 0 } = usage;
  const tokens = Math.min(cachedBefore, inputTokens) - read;
  if (tokens <= 0) return undefined;
  if (prices === undefined) return { tokens };
  const { input, cachedInput = input, cacheWrite = input, currency = defaultCurrency } = prices;
  const unread = Math.max(1, inputTokens - read);
  const paid = (Math.max(0, unread - written) * input + Math.min(written, unread) * cacheWrite) / unread;
  const amount = roundAmount((tokens * (paid - cachedInput)) / perTokens);
  return amount <= 0 ? undefined : { tokens, amount, currency };
}

/**
 * Rounds an amount: sums of binary fractions leave noise in the last digits; no provider charges in smaller
 * units than this.
 */
export function roundAmount(amount: number): number {
  return Math.round(amount * 1e12) / 1e12;
}
