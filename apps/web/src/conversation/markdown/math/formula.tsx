import { useLayoutEffect, useRef, useState } from "react";
import { sourceAttribute } from "../copy-sources.js";
import { drawFormula, loadedMath, loadMath, soon } from "./math-loader.js";

export interface FormulaProps {
  readonly tex: string;
  readonly display: boolean;
  /** It has no end yet: it is shown as it is written. */
  readonly open: boolean;
  /** The source with its delimiters: this is copied. */
  readonly source: string;
}

/** Longer formulas are shown as they are written. */
const longest = 5_000;

/** A formula. Until it can be drawn, or if it cannot, it is shown as it is written. */
export function Formula({ tex, display, open, source }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [state, setState] = useState<{
    readonly drawn: boolean;
    readonly problem?: string;
    readonly wide?: boolean;
  }>({
    drawn: false,
  });
  useLayoutEffect(() => {
    const element = place.current;
    if (open || element === null || tex.length > longest) return;
    let isGone = false;
    const draw = () => {
      if (isGone) return;
      const problem = drawFormula(element, tex, display);
      const wide =
        problem === undefined && display && element.scrollWidth > (element.parentElement?.clientWidth ?? 0);
      setState(problem === undefined ? { drawn: true, wide } : { drawn: false, problem });
    };
    if (loadedMath() === undefined) {
      loadMath().then(
        () => soon(draw),
        () => undefined,
      );
    } else soon(draw);
    return () => {
      isGone = true;
    };
  }, [tex, display, open]);
  return (
    <span
      className={display ? "md-formula md-formula-display" : "md-formula"}
      title={state.problem}
      dir="ltr"
      {...(state.drawn ? { [sourceAttribute]: source } : {})}
      {...(state.wide === true ? { tabIndex: 0, role: "group", "aria-label": "Formula" } : {})}
    >
      {!state.drawn && <span className="md-formula-source">{source}</span>}
      <span ref={place} hidden={!state.drawn} />
    </span>
  );
}
