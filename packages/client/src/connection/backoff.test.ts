import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.js";

describe("the wait before a reconnect", () => {
  const pace = { minMs: 250, maxMs: 15_000 };

  it("doubles its span with each failure, up to a limit", () => {
    const spans = [0, 1, 2, 5, 6, 7, 1000].map((attempt) => backoffMs(attempt, { ...pace, random: () => 1 }));
    expect(spans).toEqual([250, 500, 1000, 8000, 15_000, 15_000, 15_000]);
  });

  it("is anywhere in its span", () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, share) => {
        const span = backoffMs(attempt, { ...pace, random: () => 1 });
        expect(backoffMs(attempt, { ...pace, random: () => share })).toBe(share * span);
      }),
    );
  });
});
