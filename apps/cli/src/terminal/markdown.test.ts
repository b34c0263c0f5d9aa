import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "./markdown.js";
import { MarkdownStream } from "./markdown-stream.js";
import { createStyle } from "./style.js";
import { textWidth } from "./text-width.js";

const plain = { columns: 40, style: createStyle(false) };
const coloured = { columns: 40, style: createStyle(true) };

describe("markdown in a terminal", () => {
  it("shows headings, paragraphs, lists, quotes and rules", () => {
    const lines = renderMarkdown(
      "# Title\n\nSome **bold** and `code < 1` words, more than fit on one line of it.\n\n- one\n- two\n  - nested\n\n> said\n\n---\n\n7. seven\n8. eight",
      plain,
    );
    expect(lines).toEqual([
      "Title",
      "",
      "Some bold and code < 1 words, more than",
      "fit on one line of it.",
      "",
      "  • one",
      "  • two",
      "      • nested",
      "",
      "│ said",
      "",
      "─".repeat(40),
      "",
      "  7. seven",
      "  8. eight",
    ]);
  });

  it("keeps code as it is, indented", () => {
    expect(renderMarkdown("```ts\nconst a = 1;\n\n  b();\n```", plain)).toEqual([
      "    const a = 1;",
      "    ",
      "      b();",
    ]);
  });

  it("draws tables that fit, and cuts cells where they do not", () => {
    const lines = renderMarkdown(
      "| a | number |\n|---|--:|\n| x | 12 |\n| a very long cell that does not fit here | 3 |",
      plain,
    );
    expect(lines[0]).toMatch(/^┌─+┬─+┐$/);
    expect(lines[3]).toMatch(/^│ x +│ +12 │$/);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(40);
    expect(lines.join("\n")).toContain("…");
  });

  it("shows where a link leads", () => {
    expect(renderMarkdown("[label](https://a.example) https://b.example", plain)).toEqual([
      "label (https://a.example)",
      "https://b.example",
    ]);
  });

  it("lets no text control the terminal", () => {
    expect(renderMarkdown("a\u001B[2J**b**\u001B]0;x\u0007", plain).join("")).toBe("ab");
  });
});

const piece = fc.constantFrom(
  "A paragraph with **bold** and `code`.",
  "Another one,\nin two lines.",
  "# Heading",
  "- one\n- two **bold**\n- three",
  "1. one\n2. two",
  "7. seven\n\n8. eight\n\n   more of it",
  "1) one\n2) two",
  "* one\n  - nested\n\n+ other",
  "12",
  "```js\nlet a = 1;\n\nlet b = 2;\n```",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "> a quote",
  "---",
);

describe("markdown while it is written", () => {
  it("ends up as if it had been there at once, however it was cut", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat({ max: 400 })),
        (pieces, cuts) => {
          const text = pieces.join("\n\n");
          const stream = new MarkdownStream();
          const lines: string[] = [];
          for (const cut of [...cuts].sort((a, b) => a - b)) {
            lines.push(...stream.update(text.slice(0, cut), { ...coloured, whole: false }).finished);
          }
          const last = stream.update(text, { ...coloured, whole: true });
          lines.push(...last.finished);
          expect(last.live).toEqual([]);
          expect(lines).toEqual(renderMarkdown(text, coloured));
        },
      ),
    );
  });

  it("keeps a list together while the number of its next item is written", () => {
    const stream = new MarkdownStream();
    const update = (text: string) => stream.update(text, { ...plain, whole: false });
    for (const text of ["1. one\n\n", "1. one\n\n2", "1. one\n\n2."])
      expect(update(text).finished).toEqual([]);
    expect(update("1. one\n\n2. two\n\nEnd").finished).toEqual(["  1. one", "", "  2. two"]);
  });

  it("shows the piece that grows as live, and finishes it when the next one begins", () => {
    const stream = new MarkdownStream();
    expect(stream.update("One **tw", { ...plain, whole: false })).toEqual({
      finished: [],
      live: ["One **tw"],
    });
    expect(stream.update("One **two**.\n\nThr", { ...plain, whole: false })).toEqual({
      finished: ["One two."],
      live: ["", "Thr"],
    });
  });
});
