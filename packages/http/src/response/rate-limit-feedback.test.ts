import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDurationMs, parseReset, readRateLimitFeedback } from "./rate-limit-feedback.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const wallNow = () => NOW;
const read = (headers: Record<string, string>, status = 200) =>
  readRateLimitFeedback(Object.entries(headers), status, wallNow);
const inMs = (ms: number) => new Date(NOW + ms);

describe("readRateLimitFeedback", () => {
  it("reads limits, remaining amounts and resets, for requests and tokens", () => {
    expect(
      read({
        "x-ratelimit-limit-requests": "60",
        "X-RateLimit-Remaining-Requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
        "content-type": "text/plain",
      }),
    ).toEqual({
      limitRequests: 60,
      remainingRequests: 59,
      resetRequestsAt: inMs(1000),
      limitTokens: 150_000,
      remainingTokens: 149_984,
      resetTokensAt: inMs(360_000),
      rawHeaders: {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
      },
    });
  });

  it("reads the other word order, any prefix, and headers that name no noun", () => {
    expect(
      read({
        "vendor-ratelimit-tokens-remaining": "5",
        "vendor-ratelimit-tokens-reset": "2026-01-01T00:00:30Z",
        "ratelimit-limit": "10",
        "ratelimit-reset": "7",
      }),
    ).toMatchObject({
      remainingTokens: 5,
      resetTokensAt: inMs(30_000),
      limitRequests: 10,
      resetRequestsAt: inMs(7000),
    });
  });

  it("marks a 429, with or without headers", () => {
    expect(read({}, 429)).toEqual({ isRateLimited: true });
    expect(read({ "retry-after": "3" }, 429)).toEqual({
      isRateLimited: true,
      rawHeaders: { "retry-after": "3" },
    });
  });

  it("returns undefined if the response has no such header", () => {
    expect(read({ "content-type": "x", "x-not-ratelimit-ish": "1" })).toBeUndefined();
  });

  it("omits values that it cannot read", () => {
    expect(read({ "x-ratelimit-remaining-tokens": "many", "x-ratelimit-reset-tokens": "later" })).toEqual({
      rawHeaders: { "x-ratelimit-remaining-tokens": "many", "x-ratelimit-reset-tokens": "later" },
    });
  });
});

describe("resets", () => {
  it.each([
    ["12ms", 12],
    ["1s", 1000],
    ["6m0s", 360_000],
    ["1h2m3.5s", 3_723_500],
    ["1d", 86_400_000],
    ["250µs", 0.25],
    ["0s", 0],
    ["30", 30_000],
    ["0.5", 500],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["2026-01-01T00:00:05.250Z", 5250],
    [String(NOW / 1000 + 9), 9000],
    [String(NOW + 9), 9],
  ])("reads %s", (value, ms) => {
    expect(parseReset(value, wallNow)).toEqual(inMs(ms));
  });

  it.each(["", "s", "1", "1x", "1s2", "-1s", "1 s", "soon"])("rejects %j as a duration", (value) => {
    expect(parseDurationMs(value)).toBeUndefined();
  });

  it("adds up any sequence of units", () => {
    const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
    const part = fc.tuple(fc.nat(10_000), fc.constantFrom("h", "m", "s", "ms"));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const text = parts.map(([amount, unit]) => `${amount}${unit}`).join("");
        const total = parts.reduce((sum, [amount, unit]) => sum + amount * units[unit], 0);
        expect(parseDurationMs(text)).toBe(total);
      }),
    );
  });

  it("never throws and never yields an invalid date", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.bigInt().map(String)), (value) => {
        const at = parseReset(value, wallNow);
        expect(at === undefined || !Number.isNaN(at.getTime())).toBe(true);
      }),
    );
  });
});
