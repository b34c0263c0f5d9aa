import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutMarks } from "./markdown-marks.js";
import { searchTerms } from "./search-text.js";

const plain = (text: string, at = text.length) => withoutMarks(text, at).text;

describe("a text without marks", () => {
  it.each([
    ["# A heading\n\nText", "A heading\n\nText"],
    [
      "Some **bold**, *slanted*, __strong__, _soft_ and ~~wrong~~ words",
      "Some bold, slanted, strong, soft and wrong words",
    ],
    ["***both*** and **one _in_ another**", "both and one in another"],
    [
      'A [link](https://example.com/a_b_c), ![a picture](x.png "T") and a [note][1]',
      "A link, a picture and a note",
    ],
    ["**[bold link](https://example.com)**", "bold link"],
    ["Call `run(**all)` or ``a ` b``", "Call run(**all) or a ` b"],
    ["```ts\nconst a = b * c * d; // **no**\n```\nand", "const a = b * c * d; // **no**\nand"],
    ["> a quote\n> - with a list\n> - [x] done", "a quote\nwith a list\ndone"],
    ["- one\n* two\n+ three\n1. four", "one\ntwo\nthree\n1. four"],
    ["a\n\n---\n\nb\n***\nc", "a\n\n\nb\nc"],
    ["| a | b |\n| --- | :-: |\n| 1 | 2 |", "| a | b |\n| 1 | 2 |"],
  ])("of %j is %j", (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it.each([
    "2 * 3 * 4",
    "snake_case_name and __init__py",
    "a*b*c",
    "[not a link] (here)",
    "C# and #hashtag",
    "a - b",
    "5 > 3",
    "1. first",
    "~/.config",
    "list[int](x y)",
  ])("stays %j where there are none", (text) => {
    expect(plain(text)).toBe(text);
  });

  it("keeps what stands at the place, also within a mark", () => {
    const link = "see [the docs](https://example.com/needle) here";
    expect(plain(link, link.indexOf("needle"))).toBe("see the docs](https://example.com/needle) here");
    const fence = "```needle\ncode\n```";
    expect(plain(fence, 3)).toContain("needle");
  });

  it("has the terms of the text, in their order, and the place of the one that was looked at", () => {
    const piece = fc.constantFrom(
      "**",
      "_",
      "`",
      "```",
      "\n",
      "# ",
      "> ",
      "- ",
      "[",
      "](u)",
      " ",
      "word",
      "é",
      "two",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(), (pieces, nth) => {
        const text = pieces.join("");
        const terms = [...searchTerms(text)];
        const chosen = terms[nth % Math.max(1, terms.length)];
        if (chosen === undefined) return;
        const { text: kept, at } = withoutMarks(text, chosen.start);
        const left = [...searchTerms(kept)];
        expect(left.find(({ start }) => start === at)?.term).toBe(chosen.term);
        let from = 0;
        for (const { term } of left) {
          const found = terms.findIndex((each, index) => index >= from && each.term === term);
          expect(found, `${term} of ${JSON.stringify(text)}`).toBeGreaterThanOrEqual(0);
          from = found + 1;
        }
      }),
    );
  });
});
