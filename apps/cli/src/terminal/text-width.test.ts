import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { safeLine } from "./safe-text.js";
import { clip, textWidth } from "./text-width.js";

describe("the width of a text", () => {
  it.each([
    ["abc", 3],
    ["漢字", 4],
    ["👍", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["🇩🇪", 2],
    ["e\u0301", 1],
    ["\u001B[31mred\u001B[39m", 3],
    ["─│", 2],
    ["…", 1],
  ])("%j takes %i columns", (text, width) => expect(textWidth(text)).toBe(width));

  it("is never passed by a clipped text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        const plain = safeLine(text);
        expect(textWidth(clip(plain, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
