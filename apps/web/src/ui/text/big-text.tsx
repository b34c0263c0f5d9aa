import { memo, type ReactNode, useMemo, useState } from "react";
import { Button } from "../button.js";
import { cx } from "../cx.js";
import { clipText, splitText } from "./clip-text.js";
import { formatBytes } from "./format.js";

export interface BigTextProps {
  readonly text: string;
  /** Number of lines that are shown at first. */
  readonly lines?: number;
  readonly chars?: number;
  readonly mono?: boolean;
  /** True: nothing is cut at first. */
  readonly uncut?: boolean;
  /** Draws a piece of it. Absent: as it is. */
  readonly draw?: (piece: string) => ReactNode;
  readonly className?: string;
}

/**
 * Text as it is, of any length: a long text is cut, and shown whole in pieces that the browser draws when they come
 * into view.
 */
export const BigText = memo(function BigText({
  text,
  lines = 40,
  chars = 6_000,
  mono = false,
  uncut = false,
  draw,
  className,
}: BigTextProps) {
  const [whole, setWhole] = useState(uncut);
  const clipped = useMemo(() => clipText(text, { chars, lines, lineChars: chars }), [text, chars, lines]);
  const pieces = useMemo(() => (whole ? splitText(text, 10_000) : [clipped.text]), [whole, text, clipped]);
  return (
    <div className={className}>
      <div
        dir="auto"
        className={cx("isolate-text whitespace-pre-wrap", mono && "font-mono text-xs leading-relaxed")}
      >
        {pieces.map((piece, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place
            key={index}
            className={cx(
              "lines-by-themselves",
              whole && "[contain-intrinsic-size:auto_20rem] [content-visibility:auto]",
            )}
          >
            {draw === undefined ? piece : draw(piece)}
          </div>
        ))}
      </div>
      {clipped.hidden > 0 && !uncut && (
        <Button tone="plain" size="small" className="mt-2" onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : `Show all (${formatBytes(text.length)})`}
        </Button>
      )}
    </div>
  );
});
