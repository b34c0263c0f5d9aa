import { memo, useMemo, useState } from "react";
import { Button } from "../../ui/button.js";
import { ErrorBoundary } from "../../ui/loading/error-boundary.js";
import { loadedPart } from "../../ui/loading/loaded-part.js";
import { BigText } from "../../ui/text/big-text.js";
import { clipText } from "../../ui/text/clip-text.js";
import { formatBytes } from "../../ui/text/format.js";

const markdown = loadedPart(async () => (await import("../markdown/markdown.js")).Markdown);

/** Fetches what draws an answer before there is one. */
export function preloadMarkdown(): void {
  markdown.preload().catch(() => {
    // It is asked for again when there is something to draw.
  });
}

/** More than a person reads, and more than can be drawn as rich text without holding up the page. */
const limits = { chars: 120_000, lines: 3_000, lineChars: 20_000, tableRows: 300 };

/** What the assistant wrote. A text that is far too long is cut, and shown whole as plain text. */
export const AnswerText = memo(function AnswerText({
  text,
  streaming,
}: {
  readonly text: string;
  readonly streaming: boolean;
}) {
  const [whole, setWhole] = useState(false);
  const clipped = useMemo(() => clipText(text, limits), [text]);
  const shown = clipped.text;
  if (whole && clipped.hidden > 0) return <BigText text={text} uncut />;
  return (
    <>
      <ErrorBoundary fallback={() => <PlainAnswer text={shown} />}>
        <markdown.Part text={shown} streaming={streaming} fallback={<PlainAnswer text={shown} />} />
      </ErrorBoundary>
      {clipped.hidden > 0 && (
        <div className="mt-2 flex flex-wrap items-center gap-3 text-sm text-soft">
          <span>{formatBytes(clipped.hidden)} more are not shown.</span>
          <Button size="small" onClick={() => setWhole(true)}>
            Show all as plain text
          </Button>
        </div>
      )}
    </>
  );
});

/** The same words, until what draws them properly is there. */
function PlainAnswer({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="lines-by-themselves text-[1rem] leading-[1.65] whitespace-pre-wrap">
      {clipText(text, { chars: 4_000, lines: 60, lineChars: 2_000 }).text}
    </div>
  );
}
