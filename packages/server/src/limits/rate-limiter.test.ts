import { describe, expect, it } from "vitest";
import { RateLimiter } from "./rate-limiter.js";

function limiter(perSecond: number, burst: number) {
  let now = 0;
  const rate = new RateLimiter({ perSecond, burst, clock: { monotonic: () => now } });
  return {
    rate,
    pass(ms: number) {
      now += ms;
    },
  };
}

describe("a rate limiter", () => {
  it("takes a burst, then as many as flow in", () => {
    const { rate, pass } = limiter(2, 3);
    expect([1, 2, 3, 4].map(() => rate.take("a").allowed)).toEqual([true, true, true, false]);
    expect(rate.take("a")).toMatchObject({ limit: 3, remaining: 0, retryAfterMs: 500, resetSeconds: 2 });
    pass(500);
    expect([1, 2].map(() => rate.take("a").allowed)).toEqual([true, false]);
    pass(60_000);
    expect([1, 2, 3, 4].map(() => rate.take("a").allowed)).toEqual([true, true, true, false]);
  });

  it("counts each caller for itself", () => {
    const { rate } = limiter(1, 1);
    expect([rate.take("a").allowed, rate.take("b").allowed, rate.take("a").allowed]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("does not grow with callers that rest, nor beyond its bound with callers that do not", () => {
    const { rate, pass } = limiter(1, 2);
    for (let caller = 0; caller < 10_000; caller += 1) rate.take(`old ${caller}`);
    pass(10_000);
    rate.take("new");
    expect(rate.size).toBe(1);
    for (let caller = 0; caller < 30_000; caller += 1) rate.take(`busy ${caller}`);
    expect(rate.size).toBeLessThanOrEqual(10_000);
  });
});
