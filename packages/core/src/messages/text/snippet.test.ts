import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findTerms, parseSearch } from "./search-text.js";
import { snippetAround } from "./snippet.js";

/** Returns true if no half of a character is alone in the text. */
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

  it("is well-formed wherever it is cut", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 300 }).filter(isWhole),
        fc.nat(300),
        (text, place) => {
          const at = Math.min(place, Math.max(0, text.length - 1));
          expect(isWhole(snippetAround(text, at))).toBe(true);
        },
      ),
    );
  });

  it("leaves out marks of markdown, and says that it was cut where only marks are near", () => {
    const link = `[the docs](https://example.com/${"x".repeat(150)})`;
    const text = `${"before ".repeat(60)}${link} say **HERE** and ${link}${" behind".repeat(60)}`;
    expect(snippetAround(text, text.indexOf("HERE"))).toMatch(/^….*say HERE and the docs behind.*…$/);
    const code = `Run\n\n\`\`\`ts\n${"call(**kwargs);\n".repeat(60)}\`\`\`\n\n**HERE**`;
    expect(snippetAround(code, code.indexOf("HERE"))).toMatch(/^…(.|\n)*call\(\*\*kwargs\);\n\nHERE$/);
  });

  it("never loses the match, whatever marks stand around and within it", () => {
    const piece = fc.constantFrom(
      ...[
        "**",
        "__",
        "*",
        "_",
        "~~",
        "`",
        "```",
        "```js",
        "\n",
        "\n\n",
        "# ",
        "> ",
        "- ",
        "[x] ",
        "|",
        "---",
        " ",
      ],
      ...[
        "[",
        "](",
        ")",
        "![",
        "](https://example.com/a_b)",
        "<b>",
        "word",
        "two words",
        "snake_case",
        "東京",
        "é",
        "\u0301",
      ],
    );
    const pieces = fc.array(piece, { maxLength: 40 });
    fc.assert(
      fc.property(
        pieces,
        pieces,
        fc.constantFrom("needle", "Nädel", "黒猫", "n33dle"),
        (before, behind, word) => {
          const text = `${before.join("")}${word}${behind.join("")}`;
          const wanted = parseSearch(word);
          const at = findTerms(text, wanted);
          // Joined to another word it does not match.
          if (at === undefined) return;
          expect(findTerms(snippetAround(text, at), wanted)).toBeDefined();
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
