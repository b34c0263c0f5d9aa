import { type ClipboardEvent, Fragment, memo, useId, useMemo, useRef, useState } from "react";
import { Button } from "../../ui/button.js";
import { formatBytes } from "../../ui/text/format.js";
import { FootnoteText, MarkdownBlock, TextPiece } from "./block.js";
import { BlockContext } from "./block-context.js";
import { CodeFence } from "./code/code-fence.js";
import { copyWithSources } from "./copy-sources.js";
import { Footnotes } from "./footnotes.js";
import { type Gap, gapIn, narrowGap } from "./gap.js";
import { type Block, emptyDocument, type MarkdownDocument, readDocument } from "./syntax/document.js";
import "./markdown.css";

/*
 * Untrusted markdown. A parser splits it into tokens, and every element is made from a token here: no HTML of the text
 * reaches the browser. HTML in a text is shown as text, except for a short list of tags; links lead to the web or to
 * mail only; remote pictures are not loaded until the user asks for them.
 */

export interface MarkdownProps {
  readonly text: string;
  /** True if more text is expected: unfinished marks are then closed, and only the last part is drawn again. */
  readonly streaming: boolean;
}

/** Markdown while it streams in and once it is complete; the change between the two draws nothing again. */
export const Markdown = memo(function Markdown({ text, streaming }: MarkdownProps) {
  const document = useDocument(text, streaming);
  const { groups, references } = document;
  const idPrefix = useId();
  const surroundings = useMemo(() => ({ references, idPrefix }), [references, idPrefix]);
  const [gap, setGap] = useState(() => gapIn(groups));
  const last = groups.length - 1;
  const showMore = (size: number) => setGap(gap === undefined ? undefined : narrowGap(groups, gap, size));
  return (
    <BlockContext.Provider value={surroundings}>
      <div className="md" onCopy={copySources}>
        {groups.map((blocks, index) => {
          if (gap !== undefined && index === gap.from)
            return <GapControl key="gap" gap={gap} onShow={showMore} />;
          if (gap !== undefined && index > gap.from && index < gap.to) return null;
          // biome-ignore lint/suspicious/noArrayIndexKey: a group is what stands at its place
          return <Group key={index} blocks={blocks} growing={streaming && index === last} />;
        })}
        <Footnotes draw={(raw) => <FootnoteText raw={raw} />} />
      </div>
    </BlockContext.Provider>
  );
});

function useDocument(text: string, streaming: boolean): MarkdownDocument {
  const before = useRef(emptyDocument);
  return useMemo(() => {
    before.current = readDocument(before.current, text, streaming);
    return before.current;
  }, [text, streaming]);
}

/** Adjacent blocks. A full group is drawn once, however long the text after it gets. */
const Group = memo(function Group({
  blocks,
  growing,
}: {
  readonly blocks: readonly Block[];
  readonly growing: boolean;
}) {
  const last = blocks.length - 1;
  return blocks.map((block, index) => (
    <Fragment key={block.start}>
      <OneOf block={block} growing={growing && index === last} />
    </Fragment>
  ));
});

function OneOf({ block, growing }: { readonly block: Block; readonly growing: boolean }) {
  switch (block.kind) {
    case "code":
      return <CodeFence code={block.code} language={block.language} growing={growing && block.open} />;
    case "piece":
      return <TextPiece raw={block.raw} />;
    case "markdown":
      return <MarkdownBlock raw={block.raw} growing={growing} />;
  }
}

/** Replaces the middle of an answer that is too long to be drawn at once. */
function GapControl({ gap, onShow }: { readonly gap: Gap; readonly onShow: (size: number) => void }) {
  return (
    <div className="md-gap">
      <span>{formatBytes(gap.chars)} in between are not drawn yet.</span>
      <Button size="small" onClick={() => onShow(100_000)}>
        Show more
      </Button>
      <Button size="small" tone="quiet" onClick={() => onShow(Number.POSITIVE_INFINITY)}>
        Show all
      </Button>
    </div>
  );
}

function copySources(event: ClipboardEvent<HTMLElement>): void {
  const selection = getSelection();
  if (selection !== null && copyWithSources(selection, event.clipboardData)) event.preventDefault();
}
