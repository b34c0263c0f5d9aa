import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCompactionPolicy, defaultCompactionRules } from "./compaction-policy.js";

describe("the compaction policy", () => {
  it("prefers a conversation's own threshold, also when that is never", () => {
    const policy = createCompactionPolicy();
    expect(policy.threshold({ contextWindow: 10_000 })).toBe(8_000);
    expect(policy.threshold({ contextWindow: 10_000, setting: 500 })).toBe(500);
    expect(policy.threshold({ contextWindow: 10_000, setting: 0 })).toBe(0);
    expect(createCompactionPolicy({ thresholdShare: 0 }).threshold({ contextWindow: 10_000 })).toBe(0);
  });

  it("changes only the numbers that are given", () => {
    const policy = createCompactionPolicy({ keepLastN: 3 });
    expect(policy.keepLastN()).toBe(3);
    expect(policy.clipCharacters()).toBe(defaultCompactionRules.clipCharacters);
  });

  it("keeps less than the threshold, and retries only with a larger request", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), (tokens) => {
        const policy = createCompactionPolicy();
        const kept = policy.kept(tokens);
        expect(kept.tokens).toBeLessThanOrEqual(kept.newestStepTokens);
        expect(kept.newestStepTokens).toBeLessThan(tokens);
        expect(policy.retryAbove(tokens)).toBeGreaterThan(tokens);
        expect(policy.pieceTokens(tokens)).toBeGreaterThanOrEqual(defaultCompactionRules.smallestPiece);
        expect(policy.isWorthwhile({ summaryTokens: tokens, coveredTokens: tokens })).toBe(false);
      }),
    );
  });
});
