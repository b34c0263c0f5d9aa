import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffDelayMs } from "./backoff.js";

const profile = { baseBackoffMs: 250, maxBackoffMs: 60_000, jitterFactorRange: [0.8, 1.2] as const };

describe("backoffDelayMs", () => {
  it("doubles from the base with each attempt", () => {
    const steady = { ...profile, jitterFactorRange: [1, 1] as const };
    expect([1, 2, 3, 4].map((attempt) => backoffDelayMs(attempt, steady, () => 0.3))).toEqual([
      250, 500, 1000, 2000,
    ]);
  });

  it("spreads by the jitter range", () => {
    expect(backoffDelayMs(1, profile, () => 0)).toBe(200);
    expect(backoffDelayMs(1, profile, () => 1)).toBeCloseTo(300);
  });

  it("uses the requested wait, without jitter, up to the cap", () => {
    expect(backoffDelayMs(5, profile, () => 0.9, 1234)).toBe(1234);
    expect(backoffDelayMs(5, profile, () => 0.9, 0)).toBe(0);
    expect(backoffDelayMs(5, profile, () => 0.9, 999_999)).toBe(60_000);
  });

  it("ignores an absurd requested wait", () => {
    expect(backoffDelayMs(1, profile, () => 0.5, -5)).toBe(250);
    expect(backoffDelayMs(1, profile, () => 0.5, Number.NaN)).toBe(250);
  });

  it("is always a number between zero and the cap, and within the jitter of the exact power", () => {
    const factors = fc.tuple(
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.double({ min: 0, max: 3, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        factors,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, baseBackoffMs, maxBackoffMs, [a, b], random) => {
          const range = [Math.min(a, b), Math.max(a, b)] as const;
          const delay = backoffDelayMs(
            attempt,
            { baseBackoffMs, maxBackoffMs, jitterFactorRange: range },
            () => random,
          );
          expect(delay).toBeGreaterThanOrEqual(0);
          expect(delay).toBeLessThanOrEqual(maxBackoffMs);
          if (attempt < 30 && delay < maxBackoffMs) {
            const exact = baseBackoffMs * 2 ** (attempt - 1);
            expect(delay).toBeGreaterThanOrEqual(exact * range[0] * 0.999_999);
            expect(delay).toBeLessThanOrEqual(exact * range[1] * 1.000_001);
          }
        },
      ),
    );
  });
});
