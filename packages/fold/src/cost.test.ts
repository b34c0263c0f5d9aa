import type { Cost, Usage } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addCosts, cacheLoss, costSum, estimatedCost, noCost, sumCosts } from "./cost.js";

const tokens = fc.nat({ max: 2_000_000 });
const price = fc.nat({ max: 100_000 }).map((cents) => cents / 1_000);
const prices = fc.record({ input: price, cachedInput: price, cacheWrite: price, output: price });

/** Cached and written tokens are parts of the input. */
const usage: fc.Arbitrary<Usage> = fc
  .record({ plain: tokens, cacheReadTokens: tokens, cacheWriteTokens: tokens, outputTokens: tokens })
  .map(({ plain, ...counts }) => ({
    inputTokens: plain + counts.cacheReadTokens + counts.cacheWriteTokens,
    ...counts,
  }));

const cost: fc.Arbitrary<Cost | undefined> = fc.option(
  fc.record({
    amount: fc.nat({ max: 1_000_000 }).map((millionths) => millionths / 1_000_000),
    currency: fc.constantFrom("USD", "EUR", "CHF"),
    source: fc.constantFrom("billed" as const, "estimated" as const),
  }),
  { nil: undefined },
);

describe("estimatedCost", () => {
  it("charges each token at the price of its bucket, once", () => {
    fc.assert(
      fc.property(usage, prices, (counted, at) => {
        const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = counted;
        const plain = inputTokens - cacheReadTokens - cacheWriteTokens;
        const expected =
          (plain * at.input +
            cacheReadTokens * at.cachedInput +
            cacheWriteTokens * at.cacheWrite +
            outputTokens * at.output) /
          1_000_000;
        expect(estimatedCost(counted, at).amount).toBeCloseTo(expected, 9);
      }),
    );
  });

  it("charges cached and written tokens as input if they have no separate price", () => {
    fc.assert(
      fc.property(usage, prices, (counted, { input, output }) => {
        const { cacheReadTokens: _, cacheWriteTokens: __, ...whole } = counted;
        expect(estimatedCost(counted, { input, output })).toEqual(estimatedCost(whole, { input, output }));
      }),
    );
  });

  it("is never negative, even if a report counts more cached tokens than input", () => {
    const counted = { inputTokens: 10, outputTokens: 0, cacheReadTokens: 100 };
    expect(estimatedCost(counted, { input: 5, cachedInput: 1, output: 1 }).amount).toBe(0.0001);
  });

  it("is in dollars if no currency is named", () => {
    const counted = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    expect(estimatedCost(counted, { input: 2, output: 8 })).toEqual({
      amount: 10,
      currency: "USD",
      source: "estimated",
    });
    expect(estimatedCost(counted, { input: 2, output: 8, currency: "EUR" }).currency).toBe("EUR");
  });
});

describe("sums of costs", () => {
  it("count every call, unknown ones apart, and are the same in any order", () => {
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 20 }), (costs) => {
        const sum = sumCosts(costs);
        expect(sum.calls).toBe(costs.length);
        expect(sum.unknownCalls).toBe(costs.filter((each) => each === undefined).length);
        expect(sumCosts(costs.toReversed())).toEqual(sum);
        for (const { currency, billed, estimated } of sum.amounts) {
          const own = costs.filter((each) => each?.currency === currency);
          const whole = own.reduce((amount, each) => amount + (each?.amount ?? 0), 0);
          expect(billed + estimated).toBeCloseTo(whole, 9);
        }
      }),
    );
  });

  it("can be added in any grouping", () => {
    fc.assert(
      fc.property(fc.array(cost), fc.array(cost), (left, right) => {
        expect(addCosts(sumCosts(left), sumCosts(right))).toEqual(sumCosts([...left, ...right]));
      }),
    );
    expect(addCosts(noCost, costSum(undefined))).toEqual({ calls: 1, unknownCalls: 1, amounts: [] });
  });
});

describe("cacheLoss", () => {
  const at = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
  const call = (counted: Partial<Usage>, priced = true) => ({
    model: "a/b",
    usage: { inputTokens: 10_000, outputTokens: 1, ...counted },
    ...(priced ? { prices: at } : {}),
  });

  it("is the input that was cached before and charged in full now, at the difference of the prices", () => {
    const before = call({ cacheReadTokens: 6_000, cacheWriteTokens: 2_000 });
    expect(cacheLoss(before, call({ cacheReadTokens: 1_000 }))).toEqual({
      tokens: 7_000,
      amount: 0.0189,
      currency: "USD",
    });
    const written = cacheLoss(before, call({ cacheReadTokens: 0, cacheWriteTokens: 10_000 }));
    expect(written).toEqual({ tokens: 8_000, amount: 0.0276, currency: "USD" });
  });

  it("reports only the tokens if prices are unknown", () => {
    const before = call({ cacheReadTokens: 6_000 }, false);
    expect(cacheLoss(before, call({ cacheReadTokens: 0 }, false))).toEqual({ tokens: 6_000 });
  });

  it("is undefined if the cache held as much as before, and at most the size of the request", () => {
    const before = call({ cacheReadTokens: 6_000 });
    expect(cacheLoss(before, call({ cacheReadTokens: 6_000 }))).toBeUndefined();
    expect(cacheLoss(undefined, call({}))).toBeUndefined();
    expect(cacheLoss(call({}), call({}))).toBeUndefined();
    expect(cacheLoss(before, call({ inputTokens: 1_000 }))?.tokens).toBe(1_000);
  });
});
