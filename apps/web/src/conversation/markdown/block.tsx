import type { Token, Tokens } from "marked";
import { createElement, Fragment, memo, type ReactNode, useContext, useMemo, useState } from "react";
import remend from "remend";
import { BlockContext, GrowingContext } from "./block-context.js";
import { CodeFence } from "./code/code-fence.js";
import { Inline } from "./inline.js";
import { Formula } from "./math/formula.js";
import { Pieces } from "./pieces.js";
import { type DetailsToken, type MathToken, readBlock, readInline } from "./syntax/lexer.js";
import { MarkdownTable } from "./table/table.js";
import { textOf } from "./text-of.js";

/** A longer list is drawn in pieces. */
const listPiece = 400;

/** Draws a block of markdown. `growing`: unclosed marks are closed. */
export const MarkdownBlock = memo(function MarkdownBlock({
  raw,
  growing,
}: {
  readonly raw: string;
  readonly growing: boolean;
}) {
  const { links } = useContext(BlockContext).references;
  const tokens = useMemo(
    () => readSafely(growing ? closeMarks(raw) : raw, links, growing),
    [raw, links, growing],
  );
  return (
    <GrowingContext.Provider value={growing}>
      <Blocks tokens={tokens} />
    </GrowingContext.Provider>
  );
});

/** A piece of a paragraph that is too long to be drawn as one. */
export const TextPiece = memo(function TextPiece({ raw }: { readonly raw: string }) {
  const { links } = useContext(BlockContext).references;
  const tokens = useMemo(() => readInline(raw, links), [raw, links]);
  return (
    <p dir="auto" className="md-piece">
      <Inline tokens={tokens} />
    </p>
  );
});

/** Draws the text of a footnote, without its label. */
export function FootnoteText({ raw }: { readonly raw: string }): ReactNode {
  const { links } = useContext(BlockContext).references;
  const tokens = useMemo(() => readSafely(raw, links, false), [raw, links]);
  return (
    <Blocks tokens={tokens.flatMap((token) => (token.type === "footnote" ? (token.tokens ?? []) : []))} />
  );
}

/** Parses a text. If the parser fails, the text is shown as it is. */
function readSafely(raw: string, links: Parameters<typeof readBlock>[1], growing: boolean): readonly Token[] {
  try {
    return readBlock(raw, links, growing);
  } catch {
    return [{ type: "plain", raw }];
  }
}

/** Closes marks that have no end yet. Leaves alone what looks like a formula: its signs have another meaning. */
function closeMarks(raw: string): string {
  if (/\$\$|\\[([]/.test(raw)) return raw;
  return remend(raw, { katex: false, comparisonOperators: false, singleTilde: false, linkMode: "text-only" });
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a block is what stands at its place
    <Fragment key={index}>
      <OneBlock token={token} />
    </Fragment>
  ));
}

function OneBlock({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
    case "footnote":
      return null;
    case "paragraph":
      return <Paragraph tokens={token.tokens ?? []} />;
    case "text":
      return <Inline tokens={token.tokens ?? [token]} />;
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "list":
      return <List token={token as Tokens.List} />;
    case "blockquote":
      return (
        <blockquote dir="auto">
          <Blocks tokens={token.tokens ?? []} />
        </blockquote>
      );
    case "code":
      return <NestedCode token={token as Tokens.Code} />;
    case "table":
      return <MarkdownTable token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "math": {
      const { tex, open, raw } = token as MathToken;
      return <Formula tex={tex} display open={open} source={raw.trim()} />;
    }
    case "details":
      return <Details token={token as DetailsToken} />;
    case "html":
      return <HtmlText text={token.raw} />;
    case "checkbox":
      return <Inline tokens={[token]} />;
    default:
      return <PlainLines text={token.raw} />;
  }
}

function Paragraph({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <p dir="auto">
      <Inline tokens={tokens} />
    </p>
  );
}

/**
 * Headings are one level lower: the page's own title is the first level. A heading without text, as it starts, is not
 * drawn.
 */
function Heading({ token }: { readonly token: Tokens.Heading }) {
  if (textOf(token.tokens).trim() === "") return null;
  const tag = `h${Math.min(6, token.depth + 1)}`;
  return createElement(tag, { dir: "auto" }, <Inline tokens={token.tokens} />);
}

function List({ token }: { readonly token: Tokens.List }) {
  const Tag = token.ordered ? "ol" : "ul";
  const first = token.ordered && token.start !== "" ? token.start : 1;
  return (
    <Pieces
      items={token.items}
      size={listPiece}
      noun="items"
      draw={(items) => (
        <Tag {...(first === 1 ? {} : { start: first })}>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an item is what stands at its place
            <ListItem key={index} item={item} loose={token.loose} />
          ))}
        </Tag>
      )}
    />
  );
}

/** A growing list is parsed again each time; only the items that differ are drawn. */
const ListItem = memo(
  function ListItem({ item }: { readonly item: Tokens.ListItem; readonly loose: boolean }) {
    return (
      <li dir="auto">
        <Blocks tokens={item.tokens} />
      </li>
    );
  },
  (before, after) => before.item.raw === after.item.raw && before.loose === after.loose,
);

function NestedCode({ token }: { readonly token: Tokens.Code }) {
  const growing = useContext(GrowingContext);
  const language = /^\s*([^\s{,]*)/.exec(token.lang ?? "")?.[1] ?? "";
  return (
    <CodeFence
      code={token.text}
      language={token.codeBlockStyle === "indented" ? "" : language}
      growing={growing}
    />
  );
}

/**
 * A fold. One that was written while the reader watched stays open, so that its text does not disappear while it is
 * read.
 */
function Details({ token }: { readonly token: DetailsToken }) {
  const growing = useContext(GrowingContext);
  const [isOpen] = useState(token.isOpen || growing);
  return (
    <details className="md-details" open={isOpen} dir="auto">
      <summary>
        <Inline tokens={token.summary} />
      </summary>
      <Blocks tokens={token.tokens} />
    </details>
  );
}

/** HTML in a text: formatted if it only has tags that are allowed in text, otherwise shown as source. */
function HtmlText({ text }: { readonly text: string }) {
  const { links } = useContext(BlockContext).references;
  if (/^\s*<\/?(?:br|sub|sup|kbd)\s*\/?>/i.test(text))
    return <Paragraph tokens={readInline(text.trim(), links)} />;
  return <PlainLines text={text} />;
}

function PlainLines({ text }: { readonly text: string }) {
  return (
    <p dir="auto" className="md-plain">
      {text.trimEnd()}
    </p>
  );
}
