import { describe, expect, it } from "vitest";
import { dataLine, dataLines, dataStart, escapeInvisible, foldData } from "./data-text.js";

const hostile = "rm \u202Egpj.exe\u2066 \u001B[2J\u0000 a\u200Bb\u00ADc \u00A0\u3000 \u{E0041}\u2028";

describe("data for a person who decides", () => {
  it("shows every character that cannot be seen as an escape, and every other as it is", () => {
    const shown = escapeInvisible(hostile);
    expect(shown).toBe(
      "rm \\u202egpj.exe\\u2066 \\u001b[2J\\u0000 a\\u200bb\\u00adc \\u00a0\\u3000 \\udb40\\udc41\\u2028",
    );
    expect(shown).toMatch(/^[\x20-\x7e]*$/);
    expect(escapeInvisible("Grüße 日本 ∞")).toBe("Grüße 日本 ∞");
  });

  it("lays JSON out without changing its value", () => {
    const text = JSON.stringify({ path: hostile, lines: "one\ntwo", more: [1, { a: null }] });
    const lines = dataLines(text);
    expect(JSON.parse(lines.join("\n"))).toEqual(JSON.parse(text));
    expect(lines[1]).toMatch(/^ {2}"path": "rm \\u202e/);
    expect(JSON.parse(dataLine(text))).toEqual(JSON.parse(text));
  });

  it("begins the same on one line", () => {
    expect(dataStart('{\n  "a": "x\u202E"\n}')).toBe('{ "a": "x\\u202e" }');
    expect(dataStart("x".repeat(2_000))).toBe(`${"x".repeat(1_000)}…`);
  });

  it("shows what is no JSON as it is", () => {
    expect(dataLines("not {\n\tjson")).toEqual(["not {", "\\u0009json"]);
  });

  it("is broken where the width is full, and loses nothing", () => {
    const lines = ["one two   three", "日本語の文字", "", "a😀b😀"];
    const { lines: folded, hidden } = foldData(lines, { columns: 4 });
    expect(folded).toEqual(["one ", "two ", "  th", "ree", "日本", "語の", "文字", "", "a😀b", "😀"]);
    expect(hidden).toBe(0);
  });

  it("is folded after so many rows, and says how much is left", () => {
    expect(foldData(["abcdef", "gh"], { columns: 2, rows: 2 })).toEqual({ lines: ["ab", "cd"], hidden: 4 });
  });

  it("can be a megabyte without delay", () => {
    const text = JSON.stringify({ a: "x\u202e".repeat(150_000) });
    const { lines, hidden } = foldData(dataLines(text), { columns: 80, rows: 10 });
    expect(lines).toHaveLength(10);
    expect(hidden).toBeGreaterThan(1_000_000);
  });
});
