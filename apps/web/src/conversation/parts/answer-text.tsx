import { memo } from "react";
import { ErrorBoundary } from "../../ui/loading/error-boundary.js";
import { loadedPart } from "../../ui/loading/loaded-part.js";
import { BigText } from "../../ui/text/big-text.js";
import { clipText } from "../../ui/text/clip-text.js";

const markdown = loadedPart(async () => (await import("../markdown/markdown.js")).Markdown);

/** Fetches the code that renders an answer before there is one. */
export function preloadMarkdown(): void {
  markdown.preload().catch(() => {
    // It is requested again when there is something to render.
  });
}

/** The assistant's whole text: the middle of a very long text is drawn on request. */
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

/** The same text, until the code that renders it is loaded. */
export function PlainAnswer({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="lines-by-themselves text-[1rem] leading-[1.65] whitespace-pre-wrap">
      {clipText(text, { chars: 4_000, lines: 60, lineChars: 2_000 }).text}
    </div>
  );
}
