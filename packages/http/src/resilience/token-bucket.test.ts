import { getEventListeners } from "node:events";
import { VirtualClock } from "@parley/testing/http";
import { describe, expect, it } from "vitest";
import type { AttemptContext } from "../ports.js";
import { TokenBucketRateLimiter } from "./token-bucket.js";

const to = (origin: string): AttemptContext => ({
  clientName: "c",
  origin,
  request: { operation: "o", method: "GET" },
});
const A = to("http://a");
const { signal } = new AbortController();

/** Lets every promise that can settle now settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("TokenBucketRateLimiter", () => {
  it("admits a burst at once, then one attempt per interval, in order", async () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 10, burst: 2, clock });
    expect([limiter.acquire(A, signal), limiter.acquire(A, signal)]).toEqual([undefined, undefined]);
    const order: number[] = [];
    for (const n of [1, 2, 3]) void Promise.resolve(limiter.acquire(A, signal)).then(() => order.push(n));
    clock.advance(99);
    await settle();
    expect(order).toEqual([]);
    clock.advance(1);
    await settle();
    expect(order).toEqual([1]);
    clock.advance(200);
    await settle();
    expect(order).toEqual([1, 2, 3]);
    expect(clock.pending).toBe(0);
  });

  it("pauses for a minute at most, whatever one response asks for", async () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 10, clock });
    limiter.report(A, { isRateLimited: true }, 10 * 365 * 86_400_000);
    let isThrough = false;
    void Promise.resolve(limiter.acquire(A, signal)).then(() => {
      isThrough = true;
    });
    clock.advance(59_999);
    await settle();
    expect(isThrough).toBe(false);
    clock.advance(1);
    await settle();
    expect(isThrough).toBe(true);
  });

  it("accumulates no more than a burst", () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 10, burst: 2, clock });
    clock.advance(60_000);
    const turns = [1, 2, 3].map(() => limiter.acquire(A, signal));
    expect(turns.map((turn) => turn === undefined)).toEqual([true, true, false]);
  });

  it("keeps origins apart", () => {
    const limiter = new TokenBucketRateLimiter({ perSecond: 1, burst: 1, clock: new VirtualClock() });
    expect(limiter.acquire(A, signal)).toBeUndefined();
    expect(limiter.acquire(to("http://b"), signal)).toBeUndefined();
  });

  it("pauses until the reset when the server reports that nothing remains, or asks to wait", async () => {
    for (const report of [
      (limiter: TokenBucketRateLimiter, at: Date) =>
        limiter.report(A, { remainingTokens: 0, resetTokensAt: at }, undefined),
      (limiter: TokenBucketRateLimiter, at: Date) =>
        limiter.report(A, { remainingRequests: 0, resetRequestsAt: at }, undefined),
      (limiter: TokenBucketRateLimiter) => limiter.report(A, { isRateLimited: true }, 5000),
    ]) {
      const clock = new VirtualClock();
      const limiter = new TokenBucketRateLimiter({ perSecond: 1000, clock });
      limiter.acquire(A, signal);
      report(limiter, new Date(clock.wallNow() + 5000));
      let gone = false;
      void Promise.resolve(limiter.acquire(A, signal)).then(() => {
        gone = true;
      });
      clock.advance(4999);
      await settle();
      expect(gone).toBe(false);
      clock.advance(1);
      await settle();
      expect(gone).toBe(true);
    }
  });

  it("ignores limits that are not reached", () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 1000, clock });
    limiter.report(A, { remainingTokens: 1, resetTokensAt: new Date(clock.wallNow() + 5000) }, 5000);
    expect(limiter.acquire(A, signal)).toBeUndefined();
  });

  it("removes a waiter that aborts, with its listener and timer", async () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 1, burst: 1, clock });
    limiter.acquire(A, signal);
    const aborter = new AbortController();
    const waiting = limiter.acquire(A, aborter.signal);
    expect(clock.pending).toBe(1);
    aborter.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    expect(clock.pending).toBe(0);
    expect(getEventListeners(aborter.signal, "abort")).toHaveLength(0);
    await expect(limiter.acquire(A, aborter.signal)).rejects.toThrow("gone");
  });

  it("refuses a rate that would never admit anything", () => {
    expect(() => new TokenBucketRateLimiter({ perSecond: 0 })).toThrow(RangeError);
  });
});
