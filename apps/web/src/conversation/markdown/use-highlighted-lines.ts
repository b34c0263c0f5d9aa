import { useEffect, useMemo, useRef, useState } from "react";
import { advance, type Progress } from "./highlight-progress.js";
import {
  grammarOf,
  type LineHighlighter,
  loadedHighlighter,
  loadHighlighter,
  type Token,
} from "./highlighter.js";

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
