import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainLine, queryWords, snippetParts } from "./snippet-parts.js";

const hits = (snippet: string, query: string) =>
  snippetParts(snippet, query)
    .filter(({ isHit }) => isHit)
    .map(({ text }) => text);

describe("snippetParts", () => {
  it("marks every word of the query at its start, in any case", () => {
    expect(hits("Tokens are counted. A token, TOKEN!", "token counted")).toEqual([
      "Token",
      "counted",
      "token",
      "TOKEN",
    ]);
  });

  it("does not mark the middle of a word", () => {
    expect(hits("concatenate the cat", "cat")).toEqual(["cat"]);
  });

  it("marks the longer of two words with the same start", () => {
    expect(hits("tokens", "token tokens")).toEqual(["tokens"]);
  });

  it("treats patterns and markup as plain text", () => {
    expect(hits("a.*b <img src=x onerror=alert(1)>", ".* img ( [")).toEqual(["img"]);
    expect(snippetParts("<b>bold</b>", "bold").map(({ text }) => text)).toEqual(["<b>", "bold", "</b>"]);
  });

  it("finds words of other scripts", () => {
    expect(hits("Grüße aus Zürich, İstanbul ve 東京", "zürich 東京")).toEqual(["Zürich", "東京"]);
  });

  it("marks pieces of text without spaces, and words beside it", () => {
    expect(hits("東京都の黒猫とGPT模型", "黒猫 gpt模型")).toEqual(["黒猫", "GPT", "模型"]);
    expect(hits("한국어검색", "검색")).toEqual(["검색"]);
  });

  it("leaves out marks that would reverse the words around them", () => {
    expect(snippetParts("a \u202Ecat\u2066 b", "cat").map(({ text }) => text)).toEqual(["a ", "cat", " b"]);
  });

  it("loses nothing of the text, whatever is searched for", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (snippet, query) => {
        const parts = snippetParts(snippet, query);
        expect(parts.map(({ text }) => text).join("")).toBe(plainLine(snippet));
        let end = 0;
        for (const { text, start } of parts) {
          expect(start).toBe(end);
          end += text.length;
        }
      }),
    );
  });
});

describe("queryWords", () => {
  it("holds each word once", () => {
    expect(queryWords("What's  what, 42?")).toEqual(["what", "s", "42"]);
    expect(queryWords(" ?! ")).toEqual([]);
  });
});
