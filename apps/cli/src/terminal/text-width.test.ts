import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clip, safeLine, safeText, textWidth } from "./text-width.js";

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

describe("text that others wrote", () => {
  it("cannot move the cursor, set the title, ring or reverse the direction", () => {
    const nasty = "a\u001B[2Jb\u001B]0;title\u0007c\rd\u009B1me\u202Ef\u0008g";
    const safe = safeText(nasty);
    expect(safe).not.toMatch(/[^\P{Control}\n\t]|\u202E/u);
    expect(safe).toContain("a");
    expect(safe).toContain("g");
  });

  it("keeps line breaks, tabs and all letters", () => {
    expect(safeText("a\tb\n漢 é 👍")).toBe("a\tb\n漢 é 👍");
  });

  it("is safe whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(/[^\P{Control}\n\t]/u.test(safeText(text))).toBe(false);
      }),
    );
  });
});
