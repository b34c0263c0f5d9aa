import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanFileName } from "./file-name.js";

describe("the name of a file", () => {
  it.each([
    ["report.pdf", "report.pdf"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\me\\cat.png", "cat.png"],
    ["a\r\nSet-Cookie: x.png", "aSet-Cookie: x.png"],
    ["invoice\u202Egnp.exe", "invoicegnp.exe"],
    ["zero\u200Bwidth.txt", "zerowidth.txt"],
    ["  two   words .txt ", "two words .txt"],
    ["Übersicht 2024 – 日本.md", "Übersicht 2024 – 日本.md"],
    ["", "file"],
    ["..", "file"],
    ["folder/", "file"],
    ["\u0000", "file"],
  ])("%j becomes %j", (given, name) => {
    expect(cleanFileName(given)).toBe(name);
  });

  it("keeps the ending of a long name", () => {
    const name = cleanFileName(`${"ä".repeat(5_000)}.tar.gz`);
    expect([...name]).toHaveLength(200);
    expect(name.endsWith("ä.gz")).toBe(true);
  });

  it("is bounded, plain and stable for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (given) => {
        const name = cleanFileName(given);
        expect([...name].length).toBeLessThanOrEqual(200);
        expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}/\\]/u);
        expect(name).not.toBe("");
        expect(cleanFileName(name)).toBe(name);
      }),
    );
  });
});
