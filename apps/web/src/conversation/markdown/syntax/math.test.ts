import { expect, it } from "vitest";
import { mathAt } from "./math.js";

const settled = { growing: false, before: "" };

it.each([
  ["$x^2$ is", "x^2", false],
  ["$\\frac{a}{b}$.", "\\frac{a}{b}", false],
  ["$5$", "5", false],
  ["$n$-th", "n", false],
  ["$a \\$ b$", "a \\$ b", false],
  ["$$x$$", "x", true],
  ["$$\na \\\\ b\n$$", "\na \\\\ b\n", true],
  ["\\(a*b*c\\) and", "a*b*c", false],
  ["\\[\n\\begin{matrix} a \\\\ b \\end{matrix}\n\\]", "\n\\begin{matrix} a \\\\ b \\end{matrix}\n", true],
])("reads %j", (text, tex, display) => {
  const span = mathAt(text, settled);
  expect(span).toMatchObject({ tex, display, open: false });
  expect(text.startsWith(span?.raw ?? "none")).toBe(true);
});

it.each([
  "$5 and $10",
  "$5-$10k",
  "$5, or 10$ more",
  "$1,000 for me, 5$ for you",
  "$ 5 $",
  "$HOME and $PATH",
  "$FOO$BAR",
  "$$$",
  "$$ $$",
  "\\[a\\](https://example.com)",
  "$a\n\nb$",
  "\\(never closed",
  "$$never closed",
])("takes %j for words", (text) => expect(mathAt(text, settled)).toBeUndefined());

it("does not start in the middle of a word", () => {
  expect(mathAt("$5$", { growing: false, before: "S" })).toBeUndefined();
});

it("reads the rest as a formula while its end may still follow, if its start is unambiguous", () => {
  const growing = { growing: true, before: "" };
  expect(mathAt("$$\\frac{a", growing)).toMatchObject({ open: true, raw: "$$\\frac{a" });
  expect(mathAt("\\(a", growing)).toMatchObject({ open: true, display: false });
  expect(mathAt("$5 and", growing)).toBeUndefined();
});

it("gives up on a formula without an end instead of searching for it forever", () => {
  expect(mathAt(`$$${"x".repeat(2_000_000)}`, settled)).toBeUndefined();
  expect(mathAt(`$${"\\a".repeat(1_000_000)}`, settled)).toBeUndefined();
});
