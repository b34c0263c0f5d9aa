import { beforeAll, expect, it } from "vitest";
import { advance, type CodeLines, isBehind, linesPerChunk, textOf } from "./code-lines.js";
import { grammarOf, type LineHighlighter, loadHighlighter } from "./highlighter.js";

const code = `/* a comment
   over two lines */
const greeting = \`hello \${name}
and more\`;
function add(a: number, b: number): number {
  return a + b; // sum
}
`;

let highlighter: LineHighlighter;

beforeAll(async () => {
  const loaded = await loadHighlighter("typescript");
  if (loaded === undefined) throw new Error("the grammar did not load");
  highlighter = loaded;
});

/** Reads the whole code at once. */
function whole(text: string): CodeLines {
  let lines = advance(undefined, text, highlighter);
  while (isBehind(lines)) lines = advance(lines, text, highlighter);
  return lines;
}

it("colors streamed lines as it colors the whole", () => {
  const long = code.repeat(30);
  let lines: CodeLines | undefined;
  for (let end = 0; end <= long.length; end += 37) {
    const complete = long.slice(0, long.slice(0, end).lastIndexOf("\n") + 1);
    if (complete !== "") lines = advance(lines, complete, highlighter);
  }
  lines = advance(lines, long, highlighter);
  while (isBehind(lines)) lines = advance(lines, long, highlighter);
  expect(lines.chunks).toEqual(whole(long).chunks);
  expect(lines.chunks.flat().map(textOf).join("\n")).toBe(long.trimEnd());
});

it("leaves finished chunks alone, whatever follows them", () => {
  const line = "const a = 1;\n";
  const first = whole(line.repeat(linesPerChunk + 1));
  const second = advance(first, line.repeat(linesPerChunk + 2), highlighter);
  expect(second.chunks[0]).toBe(first.chunks[0]);
  expect(second.chunks[1]).toHaveLength(2);
  expect(advance(second, line.repeat(linesPerChunk + 2), highlighter)).toBe(second);
});

it("shows code at once and colors it step by step, up to a limit", () => {
  const long = "const a = 1;\n".repeat(5_000);
  let lines = advance(undefined, long, highlighter);
  expect(lines.count).toBe(5_000);
  expect(isBehind(lines)).toBe(true);
  let rounds = 1;
  for (; isBehind(lines); rounds += 1) lines = advance(lines, long, highlighter);
  expect(rounds).toBeGreaterThan(5);
  expect(lines.chunks.flat().slice(-1)).toEqual([[{ text: "const a = 1;" }]]);
  expect(lines.chunks[0]?.[0]?.length).toBeGreaterThan(1);
});

it("starts again when the code is replaced, and when its colors arrive", () => {
  const plain = advance(undefined, "const a = 1;\n", undefined);
  expect(plain.chunks).toEqual([[[{ text: "const a = 1;" }]]]);
  expect(advance(plain, "const a = 1;\n", highlighter).chunks[0]?.[0]?.length).toBeGreaterThan(1);
  const other = advance(plain, "let b = 2;\n", undefined);
  expect(other.chunks.flat().map(textOf)).toEqual(["let b = 2;"]);
});

it("finds languages by the names that models use", () => {
  expect(grammarOf("TS")).toBe("typescript");
  expect(grammarOf("sh")).toBe("bash");
  expect(grammarOf("constructor")).toBeUndefined();
  expect(grammarOf("brainfuck")).toBeUndefined();
});
