import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStyle } from "./style.js";
import { textWidth } from "./text-width.js";
import { wrap } from "./wrap.js";

const style = createStyle(true);
const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom("漢字かな", "👩‍👩‍👧‍👦", "é", "long".repeat(9)),
);
const plainWord = word.map((text) => text.replace(/\s|\p{Control}/gu, "x"));

describe("breaking lines", () => {
  it("never makes a line wider than the screen, and loses no word", () => {
    fc.assert(
      fc.property(fc.array(plainWord), fc.integer({ min: 10, max: 60 }), (words, columns) => {
        const text = words.map((each, index) => (index % 3 === 0 ? style.bold(each) : each)).join(" ");
        const lines = wrap(text, { columns });
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
        const kept = lines.map(stripVTControlCharacters).join("").replaceAll(" ", "");
        expect(kept).toBe(words.join("").replaceAll(" ", ""));
      }),
    );
  });

  it("breaks between words and keeps the indent of a list", () => {
    expect(wrap("one two three four", { columns: 12, first: "- ", rest: "  " })).toEqual([
      "- one two",
      "  three four",
    ]);
  });

  it("ends a colour before a break and begins it again behind it", () => {
    const lines = wrap(style.red("aaaa bbbb cccc"), { columns: 9 });
    expect(lines).toEqual(["\u001B[31maaaa bbbb\u001B[0m", "\u001B[31mcccc\u001B[39m"]);
  });

  it("keeps a colour that begins behind the space at a break", () => {
    const lines = wrap(`aaaa bbbb ${style.green("cccc")}`, { columns: 9 });
    expect(lines[1]).toBe("\u001B[32mcccc\u001B[39m");
  });

  it("keeps a look behind what stands before the line, which ends its own", () => {
    const lines = wrap(style.dim("aaaa bbbb"), { columns: 7, first: "", rest: style.dim("| "), indent: 2 });
    expect(lines[1]).toBe("\u001B[2m| \u001B[22m\u001B[2mbbbb\u001B[22m");
  });

  it("keeps empty lines and the indent of code", () => {
    expect(wrap("a\n\n    b", { columns: 20 })).toEqual(["a", "", "    b"]);
  });
});
