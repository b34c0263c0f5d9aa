import { useEffect, useMemo, useRef, useState } from "react";
import { advance, type CodeLines, isBehind } from "./code-lines.js";
import { grammarOf, type LineHighlighter, loadedHighlighter, loadHighlighter } from "./highlighter.js";

/**
 * Returns the lines of code, as far as they are colored, and the line that is still growing. While code streams in,
 * each finished line is colored once, from the grammar's last state; the growing line has one color until it ends.
 */
export function useCodeLines(
  code: string,
  language: string,
  growing: boolean,
): { readonly lines: CodeLines; readonly rest: string } {
  const highlighter = useHighlighter(grammarOf(language));
  const before = useRef<CodeLines | undefined>(undefined);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round colors some more
  const shown = useMemo(() => {
    const end = growing ? code.lastIndexOf("\n") + 1 : code.length;
    before.current = advance(before.current, code.slice(0, end), highlighter);
    return { lines: before.current, rest: code.slice(end) };
  }, [code, growing, highlighter, round]);
  const behind = isBehind(shown.lines);
  useEffect(() => {
    if (!behind) return;
    const frame = requestAnimationFrame(() => setRound(round + 1));
    return () => cancelAnimationFrame(frame);
  }, [behind, round]);
  return shown;
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
