import type { Token, Tokens } from "marked";
import { type FootnoteToken, type Links, type MathToken, readBlocks } from "./lexer.js";

/** A part of a text that is drawn by itself. */
export type Block =
  | {
      readonly kind: "markdown";
      /** Start in the text: it stays the same while the text grows. */
      readonly start: number;
      readonly raw: string;
    }
  | {
      readonly kind: "code";
      readonly start: number;
      /** Name of the language in the fence; may be empty. */
      readonly language: string;
      readonly code: string;
      /** The fence has no end yet. */
      readonly open: boolean;
    }
  | {
      /** A piece of unstructured text that is too long for one paragraph. */
      readonly kind: "piece";
      readonly start: number;
      readonly raw: string;
    };

/** Definitions in a text that concern more than one block. They keep their identity while nothing is added. */
export interface References {
  /** The addresses of link references. */
  readonly links: Links;
  /** Footnotes by label: their text. */
  readonly footnotes: ReadonlyMap<string, string>;
  /** Labels of footnotes in the order in which the text first mentions them. */
  readonly mentioned: ReadonlySet<string>;
}

/** A text as far as it has been parsed. */
export interface MarkdownDocument {
  readonly text: string;
  /** All blocks, in groups. A group that cannot change any more keeps its identity. */
  readonly groups: readonly (readonly Block[])[];
  readonly references: References;
  /** The blocks that further text cannot change, and where they end. */
  readonly settled: readonly (readonly Block[])[];
  readonly settledEnd: number;
  readonly fence?: OpenFence | undefined;
  /** It was parsed as a whole: nothing was expected to follow. */
  readonly whole: boolean;
}

/** A fence at the end of the text that has not been closed. */
interface OpenFence {
  readonly marker: string;
  readonly language: string;
  /** Start of the fence in the text, and start of its code. */
  readonly start: number;
  readonly codeStart: number;
  /** Everything before is code: the last line, which may still become the closing fence, starts here. */
  readonly lineStart: number;
}

/** A longer paragraph is read in pieces: it is not prose, and searching for marks in it would take too long. */
const longestParagraph = 12_000;
/** A group takes no more blocks once it has this many blocks or characters. */
const fullGroup = { blocks: 40, chars: 20_000 };

/** A text of which nothing has been parsed. */
export const emptyDocument: MarkdownDocument = {
  text: "",
  groups: [],
  references: { links: {}, footnotes: new Map(), mentioned: new Set() },
  settled: [],
  settledEnd: 0,
  whole: false,
};

/**
 * Parses what was added. If the text only grew, settled blocks are not parsed again, and a growing fence is not parsed
 * at all. `growing`: more may follow.
 */
export function readDocument(before: MarkdownDocument, given: string, growing: boolean): MarkdownDocument {
  const text = given.includes("\r") ? given.replaceAll(/\r\n?/g, "\n") : given;
  if (text === before.text && (growing || before.whole)) return before;
  const known = !before.whole && text.startsWith(before.text) ? before : emptyDocument;
  const fence = known.fence === undefined ? undefined : continueFence(known.fence, text);
  if (fence === undefined || !growing) return readTail(known, text, growing);
  return { ...known, text, groups: addToGroups(known.settled, [blockOfFence(fence, text)]), fence };
}

/** Searches the added lines for the end of a fence. Undefined if it is found. */
function continueFence(fence: OpenFence, text: string): OpenFence | undefined {
  let { lineStart } = fence;
  for (;;) {
    const newline = text.indexOf("\n", lineStart);
    if (closesFence(text.slice(lineStart, newline === -1 ? lineStart + 200 : newline), fence.marker))
      return undefined;
    if (newline === -1) return lineStart === fence.lineStart ? fence : { ...fence, lineStart };
    lineStart = newline + 1;
  }
}

function closesFence(line: string, marker: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return found !== undefined && found[0] === marker[0] && found.length >= marker.length;
}

/**
 * Returns the block of a fence that has no end yet. A line that looks like the start of the closing fence is held back
 * until it is complete.
 */
function blockOfFence(fence: OpenFence, text: string): Block {
  const { language, start, codeStart, lineStart, marker } = fence;
  const line = text.slice(lineStart, lineStart + 8).trim();
  const mayClose = (line === marker[0] || line === marker.slice(0, 2)) && text.length - lineStart < 8;
  return {
    kind: "code",
    start,
    language,
    code: text.slice(codeStart, mayClose ? lineStart : text.length),
    open: true,
  };
}

function readTail(known: MarkdownDocument, text: string, growing: boolean): MarkdownDocument {
  const tokens = readBlocks(text.slice(known.settledEnd), growing);
  const settledCount = growing ? countSettled(tokens) : tokens.length;
  const settled: Block[] = [];
  const tail: Block[] = [];
  let at = known.settledEnd;
  let { settledEnd } = known;
  let fence: OpenFence | undefined;
  tokens.forEach((token, index) => {
    const start = at;
    at += token.raw.length;
    if (index < settledCount) {
      settledEnd = at;
      settled.push(...blocksOf(token, start));
      return;
    }
    fence = openFenceOf(token, start, text);
    tail.push(...(fence === undefined ? blocksOf(token, start) : [blockOfFence(fence, text)]));
  });
  const all = addToGroups(known.settled, settled);
  return {
    text,
    groups: addToGroups(all, tail),
    references: noteReferences(known.references, tokens, settledCount),
    settled: all,
    settledEnd,
    fence,
    whole: !growing,
  };
}

/**
 * Counts the blocks from the start that no further text can change: those followed by a complete line of another block.
 */
function countSettled(tokens: readonly Token[]): number {
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined || token.type === "space") continue;
    // A formula without an end may still become text of the paragraph before.
    const isOpen = token.type === "math" && (token as MathToken).open;
    if (!isOpen && (token.raw.includes("\n") || index < tokens.length - 1)) return index;
    // The line is not complete: the block before it may still extend into it, as a list into its next item.
    return Math.max(
      0,
      tokens.slice(0, index).findLastIndex(({ type }) => type !== "space"),
    );
  }
  return 0;
}

const mention = /\[\^([^\]\s]{1,80})\](?![:(])/g;

function noteReferences(before: References, tokens: readonly Token[], settledCount: number): References {
  const links: Links = { ...before.links };
  const footnotes = new Map(before.footnotes);
  const mentioned = new Set(before.mentioned);
  let isNew = false;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "def") {
      const { tag, href, title } = token as Tokens.Def;
      // An incomplete address would lead elsewhere.
      if (index >= settledCount || Object.hasOwn(links, tag)) continue;
      links[tag] = { href, title };
      isNew = true;
    } else if (token.type === "footnote") {
      const { label, raw } = token as FootnoteToken;
      // The first definition of a label counts; the last one of a text may still grow.
      if ((footnotes.get(label)?.length ?? 0) >= raw.length) continue;
      footnotes.set(label, raw);
      isNew = true;
    }
    if (token.type === "code" || !token.raw.includes("[^")) continue;
    for (const [, label = ""] of token.raw.matchAll(mention)) {
      isNew ||= !mentioned.has(label.toLowerCase());
      mentioned.add(label.toLowerCase());
    }
  }
  return isNew ? { links, footnotes, mentioned } : before;
}

function blocksOf(token: Token, start: number): readonly Block[] {
  switch (token.type) {
    case "space":
    case "def":
    case "footnote":
      return [];
    case "code": {
      const { lang, text, codeBlockStyle } = token as Tokens.Code;
      const language = codeBlockStyle === "indented" ? "" : languageOf(lang ?? "");
      return [{ kind: "code", start, language, code: text, open: false }];
    }
    case "paragraph":
      return isTooLong(token.raw)
        ? piecesOf(token.raw, start)
        : [{ kind: "markdown", start, raw: token.raw }];
    default:
      return [{ kind: "markdown", start, raw: token.raw }];
  }
}

/**
 * Returns true for a paragraph that is too long to be parsed as one. Pictures in the text itself may have any length.
 */
function isTooLong(raw: string): boolean {
  if (raw.length <= longestParagraph) return false;
  return raw.replaceAll(/\(data:image\/[a-z]+;base64,[\w+/=]*(?:\)|$)/g, "").length > longestParagraph;
}

/** Splits a paragraph at fixed places, so that growth changes only the last piece. */
function piecesOf(raw: string, start: number): readonly Block[] {
  const pieces: Block[] = [];
  for (let from = 0; from < raw.length; ) {
    let end = from + longestParagraph;
    const code = raw.charCodeAt(end - 1);
    if (code >= 0xd800 && code <= 0xdbff) end -= 1;
    pieces.push({ kind: "piece", start: start + from, raw: raw.slice(from, end) });
    from = end;
  }
  return pieces;
}

/** Returns the language named by the first word of a fence's info line. */
function languageOf(info: string): string {
  return /^\s*([^\s{,]*)/.exec(info)?.[1] ?? "";
}

function openFenceOf(token: Token, start: number, text: string): OpenFence | undefined {
  if (token.type !== "code") return undefined;
  const opening = /^(`{3,}|~{3,})([^\n]*)\n/.exec(token.raw);
  if (opening === null) return undefined;
  const [head, marker = "", info = ""] = opening;
  const codeStart = start + head.length;
  const fence = { marker, language: languageOf(info), start, codeStart, lineStart: codeStart };
  return continueFence(fence, text);
}

function addToGroups(
  groups: readonly (readonly Block[])[],
  added: readonly Block[],
): readonly (readonly Block[])[] {
  if (added.length === 0) return groups;
  const grown = [...groups];
  let last = [...(grown.pop() ?? [])];
  for (const block of added) {
    if (isFull(last)) {
      grown.push(last);
      last = [];
    }
    last.push(block);
  }
  return [...grown, last];
}

function isFull(group: readonly Block[]): boolean {
  return group.length >= fullGroup.blocks || sizeOfBlocks(group) >= fullGroup.chars;
}

/** Returns the number of characters in blocks. */
export function sizeOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce(
    (sum, block) => sum + (block.kind === "code" ? block.code.length : block.raw.length),
    0,
  );
}
