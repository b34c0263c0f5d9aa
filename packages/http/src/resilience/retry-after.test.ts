import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInstant, readRetryAfterMs, readShouldRetry } from "./retry-after.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const read = (headers: Record<string, string>) =>
  readRetryAfterMs(
    (name) => headers[name] ?? null,
    () => NOW,
  );

describe("readRetryAfterMs", () => {
  it("prefers milliseconds to seconds", () => {
    expect(read({ "retry-after-ms": "12.5", "retry-after": "9" })).toBe(12.5);
    expect(read({ "retry-after-ms": "nonsense", "retry-after": "9" })).toBe(9000);
  });

  it("reads all three date formats of HTTP, and RFC 3339, as GMT", () => {
    expect(read({ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" })).toBe(60_000);
    expect(read({ "retry-after": "Thursday, 01-Jan-26 00:01:00 GMT" })).toBe(60_000);
    expect(read({ "retry-after": "Thu Jan  1 00:01:00 2026" })).toBe(60_000);
    expect(read({ "retry-after": "2026-01-01T00:01:00Z" })).toBe(60_000);
    expect(read({ "retry-after": "2026-01-01T01:01:00+01:00" })).toBe(60_000);
  });

  it("treats a date in the past as no wait", () => {
    expect(read({ "retry-after": "Thu, 01 Jan 1998 00:00:00 GMT" })).toBe(0);
  });

  it("returns undefined for malformed values", () => {
    for (const value of [
      "",
      "soon",
      "apple 5",
      "-3",
      "1e3",
      "0x10",
      "5 seconds",
      "Infinity",
      "Mon",
      "2026",
    ]) {
      const found = read({ "retry-after": value });
      expect([value, found]).toEqual([value, value === "2026" ? 2_026_000 : undefined]);
    }
    expect(read({})).toBeUndefined();
  });

  it("reads back any number of seconds and any date", () => {
    fc.assert(
      fc.property(fc.nat(), (seconds) => {
        expect(read({ "retry-after": String(seconds) })).toBe(seconds * 1000);
        expect(read({ "retry-after-ms": ` ${seconds} ` })).toBe(seconds);
      }),
    );
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(seconds, (epoch) => {
        const date = new Date(epoch * 1000);
        expect(read({ "retry-after": date.toUTCString() })).toBe(Math.max(0, epoch * 1000 - NOW));
        expect(parseInstant(date.toISOString())).toBe(epoch * 1000);
      }),
    );
  });

  it("never throws and never waits a negative or unreadable time", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const found = read({ "retry-after-ms": a, "retry-after": b });
        expect(found === undefined || found >= 0).toBe(true);
      }),
    );
  });
});

describe("readShouldRetry", () => {
  it("recognizes true and false in any letter case, and nothing else", () => {
    const say = (value: string | null) => readShouldRetry(() => value);
    expect([say("true"), say(" False "), say("yes"), say(""), say(null)]).toEqual([
      true,
      false,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
