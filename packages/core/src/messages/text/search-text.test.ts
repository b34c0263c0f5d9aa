import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findTerms, parseSearch, searchableText, searchedBytes, searchTerms } from "./search-text.js";

const terms = (text: string) => [...searchTerms(text)].map(({ term }) => term);
const isTorn = (text: string) =>
  /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
const finds = (text: string, query: string) => findTerms(text, parseSearch(query)) !== undefined;

describe("searchTerms", () => {
  it("takes words regardless of case, and parts them at everything else", () => {
    expect(terms("Where's the CAPYBARA? foo_bar v2.10 a/b@c.de")).toEqual([
      "where",
      "s",
      "the",
      "capybara",
      "foo",
      "bar",
      "v2",
      "10",
      "a",
      "b",
      "c",
      "de",
    ]);
  });

  it("takes composed and decomposed characters, wide forms and ligatures as the same", () => {
    expect(terms("Zu\u0308rich ＡＢＣ ﬁn İ ΣΑΣ ｶﾞ")).toEqual(terms("Zürich abc fin i\u0307 σας ガ"));
  });

  it("takes pairs from scripts without spaces, and their last character alone", () => {
    expect(terms("東京都")).toEqual(["東京", "京都", "都"]);
    expect(terms("GPT模型v2")).toEqual(["gpt", "模型", "型", "v2"]);
    expect(terms("한국어 검색")).toEqual(["한국", "국어", "어", "검색", "색"]);
    expect(terms("コーヒー。𠮷野家")).toEqual(["コー", "ーヒ", "ヒー", "ー", "𠮷野", "野家", "家"]);
  });

  it("keeps the marks of scripts that need them within the word", () => {
    expect(terms("हिन्दी में")).toEqual(["हिन्दी", "में"]);
  });

  it("says where each term begins", () => {
    const text = "see 東京都, then go";
    expect([...searchTerms(text)].map(({ start }) => start)).toEqual([0, 4, 5, 6, 9, 14]);
  });

  it("never parts a character and never gives an empty or an endless term", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x10ffff), { maxLength: 60 }), (codes) => {
        const text = String.fromCodePoint(...codes);
        const odd = [...searchTerms(text)].filter(
          ({ term, start }) =>
            term === "" || term.length > 64 || isTorn(term) || start < 0 || start >= text.length,
        );
        expect(odd).toEqual([]);
      }),
    );
  });

  it("gives the same terms for what was folded already", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
        const once = terms(text).filter((term) => [...term].length > 2);
        expect(once.flatMap(terms)).toEqual(once);
      }),
    );
  });
});

describe("a query", () => {
  it("finds the beginning of its last word, unless something follows it", () => {
    expect(finds("a category", "a cat")).toBe(true);
    expect(finds("a category", "a cat ")).toBe(false);
    expect(finds("a category", "cat a")).toBe(false);
    expect(finds("a concatenation", "cat")).toBe(false);
  });

  it("finds single characters and longer pieces anywhere in a stretch without spaces", () => {
    for (const query of ["黒", "猫", "黒猫", "猫が", "が"])
      expect(finds("これは黒猫が好き", query)).toBe(true);
    expect(finds("これは黒猫が好き", "猫黒")).toBe(false);
    expect(finds("서울에서", "서울")).toBe(true);
  });

  it("finds nothing in what asks for nothing", () => {
    for (const query of ["", "  ", "'\"&|!():*", "\\"]) expect(parseSearch(query)).toEqual([]);
    expect(finds("text", "?")).toBe(false);
  });

  it("asks for a term once, and for the whole word where it has both", () => {
    expect(parseSearch("cat dog cat")).toEqual([
      { term: "cat", isPrefix: false },
      { term: "dog", isPrefix: false },
    ]);
  });

  it("finds every piece of a text, wherever it is cut behind a word", () => {
    const word = fc.string({
      unit: fc.constantFrom(..."abcßéΣя0東京한국カー𠮷"),
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 8 }),
        fc.nat(),
        fc.nat(),
        (words, from, count) => {
          const first = from % words.length;
          const piece = words.slice(first, first + 1 + (count % words.length)).join(" ");
          expect(finds(words.join(" "), piece)).toBe(true);
          expect(finds(words.join("\n").toUpperCase(), piece.toUpperCase())).toBe(true);
          const characters = [...piece];
          expect(finds(words.join(", "), characters.slice(0, 1 + (count % characters.length)).join(""))).toBe(
            true,
          );
        },
      ),
    );
  });

  it("begins where the first of its terms does", () => {
    expect(findTerms("one two three two", parseSearch("three two"))).toBe(4);
  });
});

describe("searchableText", () => {
  const ofTexts = (...texts: string[]) =>
    searchableText({ content: texts.map((text) => ({ type: "text" as const, text })) });

  it("keeps parts apart, and leaves out what is no text", () => {
    expect(ofTexts("one", "two")).toBe("one two");
    expect(searchableText({ content: [{ type: "reasoning", text: "secret" }] })).toBe("");
  });

  it("ends after so many bytes, between two characters", () => {
    fc.assert(
      fc.property(fc.nat(3), fc.constantFrom("a", "é", "東", "🙂"), (before, character) => {
        const text = "a".repeat(before) + character.repeat(searchedBytes);
        const kept = ofTexts(text);
        const { length } = new TextEncoder().encode(kept);
        expect(length).toBeLessThanOrEqual(searchedBytes);
        expect(length).toBeGreaterThan(searchedBytes - 4);
        expect(text.startsWith(kept)).toBe(true);
        expect(isTorn(kept)).toBe(false);
      }),
      { numRuns: 12 },
    );
  });
});
