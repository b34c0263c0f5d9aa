import { memo } from "react";
import { splitText } from "../../../ui/text/clip-text.js";
import { type CodeLines, type Line, textOf } from "./code-lines.js";

/** A longer line is drawn in rows of this size: a browser lays out one endless line far slower than many. */
const longestLine = 4_000;
/** With more chunks than these, the browser lays out only those in view. */
const fewChunks = 4;

/** The lines of code. Finished lines are drawn once. */
export function CodeBody({ lines, rest }: { readonly lines: CodeLines; readonly rest: string }) {
  const skips = lines.chunks.length > fewChunks;
  return (
    <code>
      {lines.chunks.map((chunk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chunk is what stands at its place
        <Chunk key={index} lines={chunk} skips={skips} />
      ))}
      {rest !== "" && <CodeLine line={[{ text: rest }]} />}
    </code>
  );
}

const Chunk = memo(function Chunk({
  lines,
  skips,
}: {
  readonly lines: readonly Line[];
  readonly skips: boolean;
}) {
  const style = skips ? { containIntrinsicBlockSize: `auto ${lines.length * 1.6}em` } : undefined;
  return (
    <span className={skips ? "code-chunk code-skips" : "code-chunk"} style={style}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
        <CodeLine key={index} line={line} />
      ))}
    </span>
  );
});

const CodeLine = memo(
  function CodeLine({ line }: { readonly line: Line }) {
    const text = textOf(line);
    if (text.length > longestLine) return <LongLine text={text} />;
    return (
      <>
        {line.map(({ text: piece, color }, index) =>
          color === undefined ? (
            piece
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: a token is what stands at its place
            <span key={index} style={{ color }}>
              {piece}
            </span>
          ),
        )}
        {"\n"}
      </>
    );
  },
  (before, after) =>
    before.line === after.line ||
    (before.line.length === after.line.length &&
      before.line.every((token, index) => {
        const other = after.line[index];
        return token.text === other?.text && token.color === other.color;
      })),
);

function LongLine({ text }: { readonly text: string }) {
  return (
    <span className="code-long">
      {splitText(text, longestLine).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place
        <span key={index}>{piece}</span>
      ))}
    </span>
  );
}
