import { beforeAll, expect, it } from "vitest";
import { advance, type Progress } from "./highlight-progress.js";
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

it("colours lines that stream in as it colours the whole", () => {
  let progress: Progress | undefined;
  for (let end = 0; end <= code.length; end += 7) {
    const lines = code.slice(0, code.slice(0, end).lastIndexOf("\n") + 1);
    progress = advance(highlighter, progress, lines);
  }
  progress = advance(highlighter, progress, code);
  expect(progress.lines).toEqual(advance(highlighter, undefined, code).lines);
  expect(progress.lines.map((line) => line.map(({ text }) => text).join("")).join("\n")).toBe(code.trimEnd());
});

it("does not colour again what it has coloured", () => {
  const first = advance(highlighter, undefined, "const a = 1;\n");
  const second = advance(highlighter, first, "const a = 1;\nconst b = 2;\n");
  expect(second.lines[0]).toBe(first.lines[0]);
  expect(advance(highlighter, second, "const a = 1;\nconst b = 2;\n")).toBe(second);
});

it("begins anew when the code is another one", () => {
  const first = advance(highlighter, undefined, "const a = 1;\n");
  const other = advance(highlighter, first, "let b = 2;\n");
  expect(other.lines).toHaveLength(1);
  expect(other.lines[0]?.map(({ text }) => text).join("")).toBe("let b = 2;");
});

it("knows languages by the names that models use", () => {
  expect(grammarOf("TS")).toBe("typescript");
  expect(grammarOf("sh")).toBe("bash");
  expect(grammarOf("constructor")).toBeUndefined();
  expect(grammarOf("brainfuck")).toBeUndefined();
});
