import { describe, expect, it } from "vitest";
import { nextChange, relativeTime } from "./relative-time.js";

const now = Date.UTC(2026, 5, 15, 12);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe("relativeTime", () => {
  it.each([
    [0, "now"],
    [59_999, "now"],
    [minute, "1m"],
    [59 * minute, "59m"],
    [hour, "1h"],
    [23 * hour, "23h"],
    [day, "1d"],
    [6 * day, "6d"],
  ])("says %i ms ago as %s", (age, said) => expect(relativeTime(now - age, now, "en")).toBe(said));

  it("shows a date after a week, with the year if it is another one", () => {
    expect(relativeTime(now - 30 * day, now, "en")).toBe("May 16");
    expect(relativeTime(now - 400 * day, now, "en")).toBe("May 11, 2025");
  });

  it("shows a time in the future as now", () => expect(relativeTime(now + hour, now)).toBe("now"));
});

describe("nextChange", () => {
  it("is when the text changes, and not before", () => {
    for (const age of [0, 30_000, 5 * minute + 1, hour, 3 * hour + 7, 2 * day + 5]) {
      const wait = nextChange(now - age, now);
      const said = relativeTime(now - age, now);
      expect(relativeTime(now - age, now + wait - 1)).toBe(said);
      expect(relativeTime(now - age, now + wait)).not.toBe(said);
    }
  });
});
