import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Block, emptyDocument, type MarkdownDocument, readDocument, sizeOfBlocks } from "./document.js";

const whole = (text: string) => readDocument(emptyDocument, text, false);
const blocksOf = ({ groups }: MarkdownDocument) => groups.flat();

/** Reads a text as it streams in, in pieces of these sizes, and then as a whole. */
function streamed(text: string, sizes: readonly number[]): MarkdownDocument {
  let document = emptyDocument;
  for (let end = 0, n = 0; end < text.length; n += 1) {
    end += sizes[n % sizes.length] ?? 1;
    document = readDocument(document, text.slice(0, end), true);
  }
  return readDocument(document, text, false);
}

const parts = [
  "Some words.\n\n",
  "More **words** that\ngo on\n",
  "# A heading\n",
  "A heading\n===\n",
  "- one\n- two\n",
  "\n  still the second\n",
  "1. first\n2. second\n\n",
  "* * *\n",
  "> quoted\n> again\n",
  "lazy\n",
  "```ts\nconst a = 1;\n\n// two\n```\n",
  "~~~\n```\n~~~\n",
  "```\nno end\n",
  "    indented\n",
  "| a | b |\n| - | - |\n| 1 | 2 |\n",
  "\n\n",
  "$$\nx \\\\ y\n$$\n",
  "\\[ x \\]\n",
  "<details>\n<summary>More</summary>\n\ninside\n\n</details>\n",
  "<div>\n",
  "[a]: https://example.com\n",
  "[^1]: a note\n    goes on\n",
  "words[^1] and [a]\n",
  "-",
  " ",
  "- ",
  "\\",
  "`",
  "*",
];

describe("a text that streams in", () => {
  it("ends with the same blocks as the whole text, wherever it was cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
        (chosen, sizes) => {
          const text = chosen.join("");
          expect(blocksOf(streamed(text, sizes))).toEqual(blocksOf(whole(text)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("keeps settled groups as they are", () => {
    const text = "A paragraph.\n\n".repeat(100);
    const first = readDocument(emptyDocument, text, true);
    const second = readDocument(first, `${text}More`, true);
    expect(first.groups.length).toBeGreaterThan(2);
    expect(second.groups[0]).toBe(first.groups[0]);
    expect(second.groups[1]).toBe(first.groups[1]);
  });

  it("does not parse a growing fence again", () => {
    const before = readDocument(emptyDocument, "Code:\n\n```ts\nconst a", true);
    const after = readDocument(before, "Code:\n\n```ts\nconst a = 1;\nconst b = 2;\n``", true);
    expect(after.settled).toBe(before.settled);
    // The start of a closing fence is not shown.
    expect(blocksOf(after).at(-1)).toEqual({
      kind: "code",
      start: 7,
      language: "ts",
      code: "const a = 1;\nconst b = 2;\n",
      open: true,
    });
    const closed = readDocument(after, "Code:\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\nDone", true);
    expect(blocksOf(closed).map(({ kind }) => kind)).toEqual(["markdown", "code", "markdown"]);
  });
});

it("reads an endless line in pieces, none of which splits a character", () => {
  const blocks = blocksOf(whole("\u{1D54F}".repeat(250_000)));
  expect(blocks.length).toBeGreaterThan(20);
  expect(sizeOfBlocks(blocks)).toBe(500_000);
  for (const block of blocks as Extract<Block, { raw: string }>[]) {
    expect(block.kind).toBe("piece");
    expect(block.raw).not.toMatch(/\p{Surrogate}/u);
  }
});

it("keeps a picture in the text in one block", () => {
  const picture = `![dot](data:image/png;base64,${"A".repeat(50_000)})`;
  expect(blocksOf(whole(picture))).toEqual([{ kind: "markdown", start: 0, raw: picture }]);
});

it("collects footnotes and references, wherever they are defined", () => {
  const { references } = whole(
    "One[^b] and [^a] [x].\n\n[^a]: first\n[^b]: second\n    goes on\n\n[x]: https://example.com\n",
  );
  expect([...references.mentioned]).toEqual(["b", "a"]);
  expect(references.footnotes.get("b")).toContain("goes on");
  expect(references.links).toEqual({ x: { href: "https://example.com", title: undefined } });
});

it("reads endless nesting as text, quickly", () => {
  for (const text of [
    ">".repeat(50_000),
    "- ".repeat(20_000),
    "<details>".repeat(2_000),
    "[".repeat(50_000),
    "**_".repeat(5_000),
  ]) {
    expect(blocksOf(whole(`${text}deep`)).length).toBeGreaterThan(0);
  }
});
