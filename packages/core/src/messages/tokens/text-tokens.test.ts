import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countTextTokens, createTextCounter } from "./text-tokens.js";
import { countedTexts } from "./text-tokens.test-support.js";
import { tokenWeights } from "./token-weights.js";

/** Strings of any code units, halves of pairs included, with runs and spaces as texts have them. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
      fc
        .tuple(
          fc.constantFrom(" ", "\n", "\t", "a", "Z", "7", "-", "é", "ж", "你", "한", "😀", "\ud83d"),
          fc.nat(40),
        )
        .map(([unit, times]) => unit.repeat(times)),
      fc.constantFrom(" the", " don't", "camelCase", "HTTPServer", '{"a":1}', "こんにちは", "  \n\n  ", " ("),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("countTextTokens", () => {
  it("is 0 for the empty text only", () => {
    expect(countTextTokens("")).toBe(0);
    for (const text of [" ", "a", "\n", "\ud800", "\u0000", "\ufeff"]) expect(countTextTokens(text)).toBe(1);
  });

  it("counts what tokenizers cut alike exactly", () => {
    expect(countTextTokens("hello")).toBe(1);
    expect(countTextTokens("The cat sat on the mat.")).toBe(7);
    expect(countTextTokens("12345678")).toBe(3);
    expect(countTextTokens("1\n22\n333\n4444")).toBe(8);
    expect(countTextTokens("camelCase")).toBe(2);
    expect(countTextTokens("a\n\n\n        b")).toBe(4);
  });

  it("is off by at most 8 % on average, and by at most 15 % on each of a set of short texts", () => {
    const errors = countedTexts.map(({ text, tokens }) => Math.abs(countTextTokens(text) / tokens - 1));
    expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.08);
    for (const error of errors) expect(error).toBeLessThan(0.15);
  });

  it("takes a word of a language that it has seen for long to be one more of it", () => {
    const polish = "Przecież wszyscy mieszkańcy wiedzieli, że ścieżka prowadzi przez głęboki wąwóz. ".repeat(
      3,
    );
    const word = " rozpoczynali";
    expect(countTextTokens(polish + word)).toBeGreaterThanOrEqual(countTextTokens(polish) + 2);
  });

  it("charges endless runs by their length", () => {
    for (const unit of ["a", "Q", "ж", "ا", "क", "ก", "的", "가", "ア", "0", "é", "aé"]) {
      const tokens = countTextTokens(unit.repeat(10_000));
      expect(tokens, unit).toBeGreaterThan(1_500);
      expect(tokens, unit).toBeLessThan(25_000);
    }
    for (const unit of ["-", "=", " ", "\n", "\t", "*"]) {
      const tokens = countTextTokens(unit.repeat(10_000));
      expect(tokens, JSON.stringify(unit)).toBeGreaterThan(50);
      expect(tokens, JSON.stringify(unit)).toBeLessThan(2_500);
    }
  });

  it("gives a whole number between 1 and four per code unit for any other text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text !== "");
        const tokens = countTextTokens(text);
        expect(Number.isInteger(tokens)).toBe(true);
        expect(tokens).toBeGreaterThanOrEqual(1);
        // The shortest text of a rare symbol is rounded up.
        expect(tokens).toBeLessThanOrEqual(4 * text.length);
      }),
      { numRuns: 500 },
    );
  });

  it("gives about the sum of two texts for both together", () => {
    fc.assert(
      fc.property(anyText, anyText, (first, second) => {
        const apart = countTextTokens(first) + countTextTokens(second);
        const together = countTextTokens(first + second);
        // A word may be cut in two, and the language of the first text shifts the cost of the second.
        expect(together).toBeGreaterThanOrEqual(apart * 0.6 - 6);
        expect(together).toBeLessThanOrEqual(apart * 1.5 + 6);
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same for the same text, whatever was counted before", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const before = countTextTokens(text);
        countTextTokens(other);
        expect(countTextTokens(text)).toBe(before);
        expect(createTextCounter(tokenWeights)(text)).toBe(before);
      }),
    );
  });

  it("looks at each code unit a bounded number of times", () => {
    // Runs that a careless pass would read again from each of their characters.
    for (const unit of [" ", "\n ", "-", "a", "A", "\ud83d", "😀", "'", "1", "的", "a'"]) {
      const reads = countReads(unit.repeat(2_000));
      expect(reads / (unit.length * 2_000), JSON.stringify(unit)).toBeLessThan(8);
    }
  });
});

/** Counts how often the pass reads a code unit of the text. */
function countReads(text: string): number {
  let reads = 0;
  const watched = {
    length: text.length,
    charCodeAt(at: number) {
      reads++;
      return text.charCodeAt(at);
    },
  };
  countTextTokens(watched as unknown as string);
  return reads;
}
