import { describe, expect, it } from "vitest";
import { formatBytes, formatDuration, formatRate, formatTokens } from "./format.js";

describe("formatDuration", () => {
  it.each([
    [0, "0 ms"],
    [340, "340 ms"],
    [1_000, "1.0 s"],
    [9_999, "9.9 s"],
    [12_400, "12 s"],
    [60_000, "1 min"],
    [185_000, "3 min 5 s"],
    [7_440_000, "2 h 4 min"],
  ])("says %i ms as %s", (ms, said) => expect(formatDuration(ms)).toBe(said));

  it("returns nothing for an invalid duration", () => {
    expect(formatDuration(Number.NaN)).toBe("");
    expect(formatDuration(-5)).toBe("");
  });
});

describe("formatTokens", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1k"],
    [4_230, "4.2k"],
    [128_000, "128k"],
    [999_600, "1M"],
    [1_100_000, "1.1M"],
  ])("says %i as %s", (count, said) => expect(formatTokens(count)).toBe(said));
});

it("formats sizes", () => {
  expect(formatBytes(12)).toBe("12 B");
  expect(formatBytes(1_048_576)).toBe("1 MB");
});

it("formats a rate only if both figures are known", () => {
  expect(formatRate(100, 2_000)).toBe("50 tok/s");
  expect(formatRate(3, 1_000)).toBe("3.0 tok/s");
  expect(formatRate(undefined, 2_000)).toBeUndefined();
  expect(formatRate(100, 0)).toBeUndefined();
});
