import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clipText, splitText } from "./clip-text.js";

const limits = { chars: 100, lines: 5, lineChars: 40 };

describe("clipText", () => {
  it("leaves alone what fits", () => {
    expect(clipText("one\ntwo", limits)).toEqual({ text: "one\ntwo", hidden: 0 });
  });

  it("cuts one endless line", () => {
    expect(clipText("x".repeat(1_000_000), limits)).toEqual({ text: "x".repeat(40), hidden: 999_960 });
  });

  it("cuts a tall text at a line's end", () => {
    expect(clipText("a\nb\nc\nd\ne\nf\ng", limits)).toEqual({ text: "a\nb\nc\nd\ne", hidden: 4 });
  });

  it("never cuts a character in two", () => {
    const { text } = clipText("😀".repeat(100), { ...limits, lineChars: 41 });
    expect(text).toBe("😀".repeat(20));
  });

  it("shows a prefix within the limits and counts the rest, for any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: fc.constantFrom("a", "\n", "😀", " ") }), (whole) => {
        const { text, hidden } = clipText(whole, limits);
        expect(whole.startsWith(text)).toBe(true);
        expect(text.length + hidden).toBe(whole.length);
        expect(text.length).toBeLessThanOrEqual(limits.chars);
        expect(text.split("\n").length).toBeLessThanOrEqual(limits.lines + 1);
        for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(limits.lineChars);
      }),
    );
  });
});

it("splits without losing anything and without splitting a character", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: fc.constantFrom("a", "\n", "😀") }), (whole) => {
      const pieces = splitText(whole, 16);
      expect(pieces.join("")).toBe(whole);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(17);
        expect(piece).not.toMatch(/\p{Surrogate}/u);
      }
    }),
  );
});
