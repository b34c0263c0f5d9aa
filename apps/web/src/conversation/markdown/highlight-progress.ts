import type { GrammarState } from "shiki/core";
import type { LineHighlighter, Token } from "./highlighter.js";

/** How far a code that streams in is coloured. */
export interface Progress {
  readonly highlighter: LineHighlighter;
  /** The code that `lines` were made from: whole lines only. */
  readonly done: string;
  readonly lines: readonly (readonly Token[])[];
  readonly state: GrammarState | undefined;
}

/** Colours what came since: only the new lines where the code just grew, all of it where it changed. */
export function advance(highlighter: LineHighlighter, before: Progress | undefined, code: string): Progress {
  if (before?.highlighter === highlighter && before.done === code) return before;
  const goesOn =
    before?.highlighter === highlighter &&
    before.state !== undefined &&
    before.done.endsWith("\n") &&
    code.startsWith(before.done);
  const from = goesOn ? before.done.length : 0;
  const fresh = code.slice(from);
  // The newline at the end belongs to the last line; without it no empty line follows.
  const whole = fresh.endsWith("\n") ? fresh.slice(0, -1) : fresh;
  const { lines, state } = highlighter.highlight(whole, goesOn ? before.state : undefined);
  return { highlighter, done: code, lines: goesOn ? [...before.lines, ...lines] : lines, state };
}
