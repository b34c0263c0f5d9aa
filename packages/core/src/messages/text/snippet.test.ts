import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { snippetAround } from "./snippet.js";

/** No half of a character stands alone in it. */
const isWhole = (text: string) => !/\p{Surrogate}/u.test(text);

describe("a snippet", () => {
  it("is the whole text where that is short", () => {
    expect(snippetAround("Just a few words.", 7)).toBe("Just a few words.");
    expect(snippetAround("", 0)).toBe("");
  });

  it("is cut between words, and says where", () => {
    const text = `${"before ".repeat(20)}HERE${" behind".repeat(20)}`;
    const snippet = snippetAround(text, text.indexOf("HERE"));
    expect(snippet).toMatch(/^…(before )+HERE( behind)+…$/);
    expect(snippet.length).toBeLessThan(125);
  });

  it("is cut somewhere in a word that does not end", () => {
    const text = `${"x".repeat(200)}HERE${"y".repeat(200)}`;
    expect(snippetAround(text, 200)).toBe(`…${"x".repeat(60)}HERE${"y".repeat(56)}…`);
  });

  it("holds what stands at its place, and is well-formed wherever that is", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 300 }).filter(isWhole),
        fc.nat(300),
        (text, place) => {
          const at = Math.min(place, Math.max(0, text.length - 1));
          const snippet = snippetAround(text, at);
          expect(isWhole(snippet)).toBe(true);
          const inner = snippet.replace(/^…/, "").replace(/…$/, "");
          expect(text).toContain(inner);
          if (text !== "" && !/[\ud800-\udfff…\s]/.test(text.charAt(at)))
            expect(inner).toContain(text.charAt(at));
        },
      ),
    );
  });
});
