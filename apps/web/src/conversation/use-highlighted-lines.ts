import { useEffect, useMemo, useRef, useState } from "react";
import type { GrammarState } from "shiki/core";
import {
  grammarOf,
  type LineHighlighter,
  loadedHighlighter,
  loadHighlighter,
  type Token,
} from "./highlighter.js";

interface Progress {
  readonly highlighter: LineHighlighter;
  /** The code that `lines` were made from: whole lines only. */
  readonly done: string;
  readonly lines: readonly (readonly Token[])[];
  readonly state: GrammarState | undefined;
}

/**
 * The lines of a code, coloured as far as that has got. While code streams in, each finished line is coloured once,
 * from where the grammar stood, and keeps its identity; the line that still grows has one colour until it ends.
 */
export function useHighlightedLines(
  code: string,
  language: string,
  growing: boolean,
): readonly (readonly Token[])[] {
  const highlighter = useHighlighter(grammarOf(language));
  const progress = useRef<Progress | undefined>(undefined);
  return useMemo(() => {
    if (highlighter === undefined) return plainLines(code);
    const end = growing ? code.lastIndexOf("\n") + 1 : code.length;
    progress.current = advance(highlighter, progress.current, code.slice(0, end));
    const rest = code.slice(end);
    return rest === "" ? progress.current.lines : [...progress.current.lines, [{ text: rest }]];
  }, [code, growing, highlighter]);
}

function advance(highlighter: LineHighlighter, before: Progress | undefined, code: string): Progress {
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

function useHighlighter(grammar: string | undefined): LineHighlighter | undefined {
  const [, setLoaded] = useState<string>();
  useEffect(() => {
    if (grammar === undefined || loadedHighlighter(grammar) !== undefined) return;
    let gone = false;
    void loadHighlighter(grammar).then(() => {
      if (!gone) setLoaded(grammar);
    });
    return () => {
      gone = true;
    };
  }, [grammar]);
  return grammar === undefined ? undefined : loadedHighlighter(grammar);
}

function plainLines(code: string): readonly (readonly Token[])[] {
  return (code.endsWith("\n") ? code.slice(0, -1) : code).split("\n").map((text) => [{ text }]);
}
