import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { safeJson, safeStyled, safeText } from "./safe-text.js";

const unsafe = /[^\P{Control}\n\t]|\p{Bidi_Control}/u;

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
        expect(unsafe.test(safeText(text))).toBe(false);
      }),
    );
  });
});

describe("a line of our own", () => {
  it("keeps its colours, and nothing else that begins with an escape", () => {
    const line = "\u001B[31mred\u001B[39m \u001B[1m\u001B[38;5;208mbold\u001B[0m \u001B[m";
    expect(safeStyled(line)).toBe(line);
    const nasty = "\u001B[2J\u001B]0;title\u0007\u001B[8mhidden\u001B[30;40m\u009B31m\u007F\u200F\u001B";
    expect(safeStyled(nasty)).toBe("[2J]0;title[8mhidden[30;40m31m");
  });

  it("cannot be made of two halves of a sequence", () => {
    const halves = ["title: \u001B", "]0;owned\u0007", "\u001B[", "31m"];
    expect(halves.map(safeStyled)).toEqual(["title: ", "]0;owned", "[", "31m"]);
  });
});

describe("JSON", () => {
  it("is the same value with escapes in the place of what a terminal would obey", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const all = { value, text, nasty: "\u009B1m\u202E\u007F\u0085\u061C" };
        const json = safeJson(JSON.stringify(all, null, 2));
        expect(unsafe.test(json)).toBe(false);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(all)));
      }),
    );
  });
});
