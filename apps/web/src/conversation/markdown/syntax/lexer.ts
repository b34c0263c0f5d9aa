import {
  Lexer,
  Marked,
  type Token,
  type TokenizerAndRendererExtension,
  type Tokens,
  type TokensList,
} from "marked";
import { mathAt } from "./math.js";

/** A formula. */
export interface MathToken extends Tokens.Generic {
  readonly type: "math";
  readonly tex: string;
  readonly display: boolean;
  readonly open: boolean;
}

/** A fold: `<details>` with its `<summary>`. */
export interface DetailsToken extends Tokens.Generic {
  readonly type: "details";
  readonly summary: Token[];
  readonly isOpen: boolean;
  readonly tokens: Token[];
}

/** The text of a footnote. */
export interface FootnoteToken extends Tokens.Generic {
  readonly type: "footnote";
  readonly label: string;
  readonly tokens: Token[];
}

/** A mark that links to a footnote. */
export interface FootnoteMarkToken extends Tokens.Generic {
  readonly type: "footnoteMark";
  readonly label: string;
}

/** Deeper nesting of quotes and lists is shown as text: each level costs a pass over its content. */
const deepest = 40;
const containerMark = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/y;

/** The addresses of link references. */
export type Links = TokensList["links"];

/** Returns the character before the place where a tokenizer is. */
function lastCharacter(tokens: readonly Token[]): string {
  return tokens.at(-1)?.raw.at(-1) ?? "";
}

function untilBlankLine(text: string): string {
  const end = text.indexOf("\n\n");
  return end === -1 ? text : text.slice(0, end);
}

const tooDeep: TokenizerAndRendererExtension = {
  name: "plain",
  level: "block",
  tokenizer(src) {
    let depth = 0;
    containerMark.lastIndex = 0;
    while (depth <= deepest && containerMark.test(src)) depth += 1;
    if (depth <= deepest) return undefined;
    const end = src.indexOf("\n");
    return { type: "plain", raw: end === -1 ? src : src.slice(0, end + 1) };
  },
};

const displayMath = (growing: boolean): TokenizerAndRendererExtension => ({
  name: "math",
  level: "block",
  start(src) {
    const at = untilBlankLine(src).search(/\n {0,3}(?:\$\$|\\\[)/);
    return at === -1 ? undefined : at + 1;
  },
  tokenizer(src) {
    const indent = /^ {0,3}(?=\$\$|\\\[)/.exec(src)?.[0];
    if (indent === undefined) return undefined;
    const span = mathAt(src.slice(indent.length), { growing, before: "" });
    if (span === undefined) return undefined;
    const behind = /^[ \t]*(?:\n|$)/.exec(src.slice(indent.length + span.raw.length))?.[0];
    // Text follows in the same line: it is inside a paragraph.
    if (behind === undefined) return undefined;
    return { ...span, type: "math", raw: indent + span.raw + behind };
  },
});

/** Depth of nested folds at the current place. */
let foldDepth = 0;
const deepestFold = 10;

const details: TokenizerAndRendererExtension = {
  name: "details",
  level: "block",
  start(src) {
    const at = untilBlankLine(src).search(/\n {0,3}<details/i);
    return at === -1 ? undefined : at + 1;
  },
  tokenizer(src) {
    if (foldDepth >= deepestFold) return undefined;
    const opening = /^ {0,3}<details(?:\s+(open)(?:="[^"]*")?)?\s*>[ \t]*\n?/i.exec(src);
    if (opening === null) return undefined;
    const bodyStart = opening[0].length;
    const { bodyEnd, end } = findDetailsEnd(src, bodyStart);
    const body = src.slice(bodyStart, bodyEnd);
    const summary = /^\s*<summary>([\s\S]*?)<\/summary>[ \t]*\n?/i.exec(body);
    foldDepth += 1;
    try {
      return {
        type: "details",
        raw: src.slice(0, end),
        isOpen: opening[1] !== undefined,
        summary: this.lexer.inlineTokens(summary?.[1]?.trim() ?? "Details", []),
        tokens: this.lexer.blockTokens(summary === null ? body : body.slice(summary[0].length), []),
      };
    } finally {
      foldDepth -= 1;
    }
  },
};

/** Finds the end of a fold, past nested folds. A fold without an end extends to the end of the text. */
function findDetailsEnd(text: string, from: number): { readonly bodyEnd: number; readonly end: number } {
  const tag = /<(\/?)details(?:\s+open(?:="[^"]*")?)?\s*>[ \t]*\n?/gi;
  tag.lastIndex = from;
  let depth = 1;
  for (let found = tag.exec(text); found !== null; found = tag.exec(text)) {
    depth += found[1] === "/" ? -1 : 1;
    if (depth === 0) return { bodyEnd: found.index, end: tag.lastIndex };
  }
  return { bodyEnd: text.length, end: text.length };
}

const footnote: TokenizerAndRendererExtension = {
  name: "footnote",
  level: "block",
  start(src) {
    const at = untilBlankLine(src).search(/\n\[\^[^\]\s]+\]:/);
    return at === -1 ? undefined : at + 1;
  },
  tokenizer(src) {
    // Its text continues in indented lines.
    const found = /^\[\^([^\]\s]{1,80})\]:[ \t]*([^\n]*(?:\n(?:[ \t]*\n)*(?: {2,}|\t)[^\n]+)*)(?:\n|$)/.exec(
      src,
    );
    if (found === null) return undefined;
    const [raw, label = "", text = ""] = found;
    const tokens = this.lexer.blockTokens(text.replaceAll(/\n(?: {2,4}|\t)/g, "\n"), []);
    return { type: "footnote", raw, label: label.toLowerCase(), tokens };
  },
};

const footnoteMark: TokenizerAndRendererExtension = {
  name: "footnoteMark",
  level: "inline",
  tokenizer(src) {
    const found = /^\[\^([^\]\s]{1,80})\](?!\()/.exec(src);
    if (found === null) return undefined;
    return { type: "footnoteMark", raw: found[0], label: (found[1] ?? "").toLowerCase() };
  },
};

const inlineMath = (growing: boolean): TokenizerAndRendererExtension => ({
  name: "math",
  level: "inline",
  start(src) {
    const at = src.indexOf("$");
    return at === -1 ? undefined : at;
  },
  tokenizer(src, tokens) {
    if (src[0] !== "$" && src[0] !== "\\") return undefined;
    const span = mathAt(src, { growing, before: lastCharacter(tokens) });
    return span === undefined ? undefined : { ...span, type: "math" };
  },
});

const ownBlock = /\n(?: {0,3}(?:\$\$|\\\[|<details)|\[\^)/i;

/** Returns the options of a lexer. `growing`: the end of its input may still follow. */
function optionsOf(growing: boolean) {
  return new Marked({
    gfm: true,
    extensions: [tooDeep, displayMath(growing), details, footnote, footnoteMark, inlineMath(growing)],
    // Signs in a formula are not emphasis.
    hooks: { emStrongMask: maskMath },
    tokenizer: {
      /** An underlined heading does not extend over a formula, a fold or a footnote. */
      lheading(src) {
        const found = this.rules.block.lheading.exec(src)?.[0];
        return found !== undefined && ownBlock.test(found) ? undefined : false;
      },
    },
  }).defaults;
}

const settledOptions = optionsOf(false);
const growingOptions = optionsOf(true);

function newLexer(growing: boolean): Lexer {
  return new Lexer(growing ? growingOptions : settledOptions);
}

function maskMath(text: string): string {
  if (!text.includes("$")) return text;
  let masked = "";
  let from = 0;
  for (let at = text.indexOf("$"); at !== -1; at = text.indexOf("$", at)) {
    const span = mathAt(text.slice(at), { growing: false, before: text[at - 1] ?? "" });
    const length = span?.raw.length ?? (text[at + 1] === "$" ? 2 : 1);
    if (span !== undefined) {
      masked += `${text.slice(from, at)}[${"a".repeat(length - 2)}]`;
      from = at + length;
    }
    at += length;
  }
  return masked + text.slice(from);
}

/** Splits a text into its blocks. Their content is not parsed yet. */
export function readBlocks(text: string, growing: boolean): readonly Token[] {
  return newLexer(growing).blockTokens(text, []);
}

/** Parses one whole block. `links`: the references that the text around it defines. */
export function readBlock(raw: string, links: Links, growing: boolean): readonly Token[] {
  const lexer = newLexer(growing);
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(raw);
}

/** Parses text without blocks. */
export function readInline(text: string, links: Links): readonly Token[] {
  const lexer = newLexer(false);
  Object.assign(lexer.tokens.links, links);
  return lexer.inlineTokens(text, []);
}
