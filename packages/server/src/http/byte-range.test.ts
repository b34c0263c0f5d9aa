import { describe, expect, it } from "vitest";
import { readRange } from "./byte-range.js";

describe("a range of bytes", () => {
  it.each([
    ["bytes=0-", 100, { start: 0, end: 100 }],
    ["bytes=10-19", 100, { start: 10, end: 20 }],
    ["bytes=99-99", 100, { start: 99, end: 100 }],
    ["bytes=90-1000", 100, { start: 90, end: 100 }],
    ["bytes=-30", 100, { start: 70, end: 100 }],
    ["bytes=-300", 100, { start: 0, end: 100 }],
  ])("%s of %i bytes", (header, size, range) => {
    expect(readRange(header, size)).toEqual(range);
  });

  it.each(["bytes=100-", "bytes=100-200", "bytes=-0"])("%s has no byte of 100", (header) => {
    expect(readRange(header, 100)).toBe("none");
  });

  it("of an empty file has no byte", () => {
    expect(readRange("bytes=0-", 0)).toBe("none");
    expect(readRange("bytes=-5", 0)).toBe("none");
  });

  it.each([
    undefined,
    "",
    "bytes=-",
    "bytes=5-4",
    "bytes=0-1,5-6",
    "lines=0-1",
    "bytes=a-b",
    "bytes=0-1e9",
    `bytes=${"9".repeat(40)}-`,
  ])("%s is ignored", (header) => {
    expect(readRange(header, 100)).toBe("whole");
  });
});
