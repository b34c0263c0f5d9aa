import type { GrammarState } from "shiki/core";
import type { LineHighlighter, Token } from "./highlighter.js";

/** A line of code: its pieces, each in one color. */
export type Line = readonly Token[];

/** Code that has been split into lines and colored so far. */
export interface CodeLines {
  /** The code that the lines were made from: whole lines only. */
  readonly done: string;
  /** The lines, in chunks. A chunk that is full and colored keeps its identity. */
  readonly chunks: readonly (readonly Line[])[];
  readonly count: number;
  readonly highlighter: LineHighlighter | undefined;
  /** Number of lines from the start that have their colors, and the state to continue from. */
  readonly coloured: number;
  readonly state: GrammarState | undefined;
}

/** Number of lines that are drawn together. */
export const linesPerChunk = 50;
/** Number of lines that are colored at a time: more would block the page. */
const colouredAtOnce = 150;
/** Lines after these have one color: so much code is not read for its colors. */
const mostColoured = 3_000;

const none: CodeLines = {
  done: "",
  chunks: [],
  count: 0,
  highlighter: undefined,
  coloured: 0,
  state: undefined,
};

/** Adds what was written since: only the new lines if the code just grew. Call it again while `isBehind`. */
export function advance(
  before: CodeLines | undefined,
  code: string,
  highlighter: LineHighlighter | undefined,
): CodeLines {
  const goesOn =
    before !== undefined &&
    (before.done === "" || before.done.endsWith("\n") || before.done === code) &&
    code.startsWith(before.done);
  let lines = goesOn ? before : none;
  if (lines.done !== code) lines = append(lines, code);
  if (lines.highlighter !== highlighter) lines = { ...lines, highlighter, coloured: 0, state: undefined };
  return isBehind(lines) ? colour(lines) : lines;
}

/** Returns true while there are lines to color. */
export function isBehind({ highlighter, coloured, count }: CodeLines): boolean {
  return highlighter !== undefined && coloured < Math.min(count, mostColoured);
}

function append(before: CodeLines, code: string): CodeLines {
  const fresh = code.slice(before.done.length);
  // The newline at the end belongs to the last line; without it no empty line follows.
  const added = (fresh.endsWith("\n") ? fresh.slice(0, -1) : fresh).split("\n");
  const chunks = [...before.chunks];
  for (let from = 0; from < added.length; ) {
    const last = chunks.at(-1);
    const isPartial = last !== undefined && last.length < linesPerChunk;
    const taken = added.slice(from, from + linesPerChunk - (isPartial ? last.length : 0));
    const lines = taken.map((text): Line => [{ text }]);
    if (isPartial) chunks[chunks.length - 1] = [...last, ...lines];
    else chunks.push(lines);
    from += taken.length;
  }
  return { ...before, done: code, chunks, count: before.count + added.length };
}

function colour(lines: CodeLines): CodeLines {
  const { highlighter, coloured, count } = lines;
  if (highlighter === undefined) return lines;
  const end = Math.min(count, mostColoured, coloured + colouredAtOnce);
  const plain: string[] = [];
  for (let at = coloured; at < end; at += 1) plain.push(textOf(lineAt(lines.chunks, at)));
  const { lines: drawn, state } = highlighter.highlight(plain.join("\n"), lines.state);
  const chunks = [...lines.chunks];
  const firstChunk = Math.floor(coloured / linesPerChunk);
  for (let index = firstChunk; index * linesPerChunk < end; index += 1) {
    chunks[index] = (chunks[index] ?? []).map((line, place) => {
      const at = index * linesPerChunk + place - coloured;
      return at < 0 ? line : (drawn[at] ?? line);
    });
  }
  return { ...lines, chunks, coloured: end, state };
}

function lineAt(chunks: CodeLines["chunks"], at: number): Line {
  return chunks[Math.floor(at / linesPerChunk)]?.[at % linesPerChunk] ?? [];
}

/** Returns the characters of a line. */
export function textOf(line: Line): string {
  return line.length === 1 ? (line[0]?.text ?? "") : line.map(({ text }) => text).join("");
}
