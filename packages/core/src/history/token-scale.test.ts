import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTokenCounter } from "../messages/tokens/token-counter.js";
import { calibrated, tokenScale, uncalibratedLimit } from "./token-scale.js";

describe("a scale of tokens", () => {
  it("counts without the calibration that it applies to sums", () => {
    const counter = createTokenCounter();
    const text = "a text of some length";
    const before = tokenScale(counter, "m").countText(text);
    for (let n = 0; n < 8; n += 1)
      counter.observe("m", { estimated: 100, actual: 150, factor: counter.factor("m") });
    const scale = tokenScale(counter, "m");
    expect(scale.factor).toBeGreaterThan(1.2);
    expect(scale.countText(text)).toBe(before);
    expect(tokenScale(counter).factor).toBe(1);
    expect(scale.rule).toBe(counter.rule);
  });

  it("leaves the calibration to an estimator that returns no factor, and uses no count but its own", () => {
    const estimator = { rule: 1, countText: (text: string, model?: string) => text.length * (model ? 2 : 1) };
    const scale = tokenScale(estimator, "m");
    expect([scale.factor, scale.countText("four"), scale.rule]).toEqual([1, 8, undefined]);
    const odd = tokenScale({ ...estimator, factor: () => Number.NaN }, "m");
    expect([odd.factor, odd.countText("four"), odd.rule]).toEqual([1, 8, undefined]);
  });

  it("has a limit before calibration that is exactly the one behind it", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.25, max: 4, noNaN: true }),
        fc.integer({ min: 0, max: 10_000_000 }),
        (factor, limit) => {
          const count = uncalibratedLimit(limit, { factor });
          expect(calibrated(count, { factor })).toBeLessThanOrEqual(limit);
          expect(calibrated(count + 1, { factor })).toBeGreaterThan(limit);
        },
      ),
    );
    expect(uncalibratedLimit(Number.POSITIVE_INFINITY, { factor: 0.5 })).toBe(Number.POSITIVE_INFINITY);
  });
});
