import { Fragment } from "react";
import { codePointName, codePointWords, visibleRuns } from "./visible-text.js";

/** Text from a model or from a tool, as data: invisible characters are shown by their code point. */
export function DataText({ text }: { readonly text: string }) {
  return <bdi>{drawData(text)}</bdi>;
}

/** Draws a piece of a text, each invisible character as a mark. */
export function drawData(text: string): React.ReactNode {
  return visibleRuns(text).map((run, index) =>
    "text" in run ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a run is what stands at its place
      <Fragment key={index}>{run.text}</Fragment>
    ) : (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: a run is what stands at its place
        key={index}
        title={codePointWords(run.hidden)}
        className="mx-px rounded-[3px] bg-warn-soft px-1 font-mono text-[0.6875rem] text-warn [unicode-bidi:isolate]"
      >
        {codePointName(run.hidden)}
      </span>
    ),
  );
}
