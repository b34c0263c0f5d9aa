import { memo } from "react";
import { ErrorBoundary } from "../../ui/loading/error-boundary.js";
import { loadedPart } from "../../ui/loading/loaded-part.js";
import { BigText } from "../../ui/text/big-text.js";
import { clipText } from "../../ui/text/clip-text.js";

const markdown = loadedPart(async () => (await import("../markdown/markdown.js")).Markdown);

/** Fetches what draws an answer before there is one. */
export function preloadMarkdown(): void {
  markdown.preload().catch(() => {
    // It is asked for again when there is something to draw.
  });
}

/** What the assistant wrote, all of it: the middle of a very long text is drawn when it is asked for. */
export const AnswerText = memo(function AnswerText({
  text,
  streaming,
}: {
  readonly text: string;
  readonly streaming: boolean;
}) {
  return (
    <ErrorBoundary fallback={() => <BigText text={text} uncut />}>
      <markdown.Part text={text} streaming={streaming} fallback={<PlainAnswer text={text} />} />
    </ErrorBoundary>
  );
});

/** The same words, until what draws them properly is there. */
export function PlainAnswer({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="lines-by-themselves text-[1rem] leading-[1.65] whitespace-pre-wrap">
      {clipText(text, { chars: 4_000, lines: 60, lineChars: 2_000 }).text}
    </div>
  );
}
