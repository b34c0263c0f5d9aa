import type { Token, Tokens } from "marked";
import { Fragment, type ReactNode } from "react";
import { FootnoteMark } from "./footnotes.js";
import { MarkdownImage } from "./image.js";
import { Formula } from "./math/formula.js";
import { safeHref } from "./safe-link.js";
import { decodeEntities } from "./syntax/entities.js";
import type { FootnoteMarkToken, MathToken } from "./syntax/lexer.js";
import { textOf } from "./text-of.js";

/*
 * Untrusted text. Every element is made here from a token: no HTML of the text is ever parsed. Of its tags, those of
 * the list below become elements, without attributes; all others are shown as text.
 */

/** Tags that enclose text and may be written as HTML. */
const pairedTags = new Set(["sub", "sup", "kbd"]);
const bareTag = /^<(\/?)([a-z]+)\s*(\/?)>$/i;

/** Draws the text of a block. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return drawAll(tokens);
}

function drawAll(tokens: readonly Token[]): ReactNode {
  const drawn: ReactNode[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) continue;
    const tag = token.type === "html" ? bareTag.exec(token.raw) : null;
    const name = tag?.[2]?.toLowerCase() ?? "";
    if (name === "br" && tag?.[1] === "") {
      drawn.push(<br key={index} />);
      continue;
    }
    const end = pairedTags.has(name) && tag?.[1] === "" ? findEnd(tokens, index, name) : undefined;
    if (end === undefined) {
      drawn.push(<Fragment key={index}>{drawOne(token)}</Fragment>);
      continue;
    }
    const Tag = name as "sub" | "sup" | "kbd";
    drawn.push(<Tag key={index}>{drawAll(tokens.slice(index + 1, end))}</Tag>);
    index = end;
  }
  return drawn;
}

/** Finds the tag that closes the one at `from`, past nested tags of the same name. */
function findEnd(tokens: readonly Token[], from: number, name: string): number | undefined {
  let depth = 0;
  for (let index = from; index < tokens.length; index += 1) {
    const token = tokens[index];
    const tag = token?.type === "html" ? bareTag.exec(token.raw) : null;
    if (tag?.[2]?.toLowerCase() !== name) continue;
    depth += tag[1] === "/" ? -1 : 1;
    if (depth === 0) return index;
  }
  return undefined;
}

function drawOne(token: Token): ReactNode {
  switch (token.type) {
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? decodeEntities(text) : drawAll(tokens);
    }
    case "escape":
      return (token as Tokens.Escape).text;
    case "strong":
      return <strong>{drawAll(token.tokens ?? [])}</strong>;
    case "em":
      return <em>{drawAll(token.tokens ?? [])}</em>;
    case "del":
      return <del>{drawAll(token.tokens ?? [])}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return <Tick checked={(token as Tokens.Checkbox).checked} />;
    case "link":
      return <MarkdownLink token={token as Tokens.Link} />;
    case "image": {
      const { href, text } = token as Tokens.Image;
      return <MarkdownImage address={decodeEntities(href)} name={decodeEntities(text)} />;
    }
    case "math": {
      const { tex, display, open, raw } = token as MathToken;
      return <Formula tex={tex} display={display} open={open} source={raw} />;
    }
    case "footnoteMark":
      return <FootnoteMark label={(token as FootnoteMarkToken).label} source={token.raw} />;
    default:
      return token.raw;
  }
}

function MarkdownLink({ token }: { readonly token: Tokens.Link }) {
  const words = drawAll(token.tokens);
  const href = safeHref(token.autolink === true ? token.href : decodeEntities(token.href));
  if (href === undefined) return <span className="md-nolink">{words}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" dir="auto">
      {textOf(token.tokens).trim() === "" ? href : words}
    </a>
  );
}

/** A task list's box: it cannot be ticked, so it is not a form field. */
function Tick({ checked }: { readonly checked: boolean }) {
  return (
    <span role="img" aria-label={checked ? "done" : "open"} className="md-tick">
      {checked ? "☑" : "☐"}
    </span>
  );
}
