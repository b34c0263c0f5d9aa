import type { Token, Tokens } from "marked";
import { type FootnoteToken, type Links, type MathToken, readBlocks } from "./lexer.js";

/** A part of a text that is drawn by itself. */
export type Block =
  | {
      readonly kind: "markdown";
      /** Where it begins in the text: it stays the same while the text grows. */
      readonly start: number;
      readonly raw: string;
    }
  | {
      readonly kind: "code";
      readonly start: number;
      /** As the fence names it; may be empty. */
      readonly language: string;
      readonly code: string;
      /** The fence has no end yet. */
      readonly open: boolean;
    }
  | {
      /** Words without any structure, too many for one paragraph: a piece of them. */
      readonly kind: "piece";
      readonly start: number;
      readonly raw: string;
    };

/** Notes of a text that concern more than one block. They keep their identity while nothing is added. */
export interface References {
  /** The addresses that link references stand for. */
  readonly links: Links;
  /** Footnotes by label: their text. */
  readonly footnotes: ReadonlyMap<string, string>;
  /** Labels of footnotes in the order in which the text first mentions them. */
  readonly mentioned: ReadonlySet<string>;
}

/** A text as far as it has been read. */
export interface MarkdownDocument {
  readonly text: string;
  /** All blocks, in groups. A group that cannot change any more keeps its identity. */
  readonly groups: readonly (readonly Block[])[];
  readonly references: References;
  /** The blocks that further text cannot change, and where they end. */
  readonly settled: readonly (readonly Block[])[];
  readonly settledEnd: number;
  readonly fence?: OpenFence | undefined;
  /** It was read as a whole: nothing was expected to follow. */
  readonly whole: boolean;
}

/** A fence at the end of the text that has not been closed. */
interface OpenFence {
  readonly marker: string;
  readonly language: string;
  /** Where the text's fence begins, and where its code does. */
  readonly start: number;
  readonly codeStart: number;
  /** Everything before is code: the last line that may still turn out to be the end begins here. */
  readonly lineStart: number;
}

/** A paragraph that is longer is read in pieces: it is no prose, and marks in it would be searched for too long. */
const longestParagraph = 12_000;
/** A group takes no more blocks once it has so many, or so many characters. */
const fullGroup = { blocks: 40, chars: 20_000 };

/** A text of which nothing has been read. */
export const emptyDocument: MarkdownDocument = {
  text: "",
  groups: [],
  references: { links: {}, footnotes: new Map(), mentioned: new Set() },
  settled: [],
  settledEnd: 0,
  whole: false,
};

/**
 * Reads what came since. Where the text only grew, what is settled is not read again, and a fence that grows is not
 * parsed at all. `growing`: more may come.
 */
export function readDocument(before: MarkdownDocument, given: string, growing: boolean): MarkdownDocument {
  const text = given.includes("\r") ? given.replaceAll(/\r\n?/g, "\n") : given;
  if (text === before.text && (growing || before.whole)) return before;
  const known = !before.whole && text.startsWith(before.text) ? before : emptyDocument;
  const fence = known.fence === undefined ? undefined : continueFence(known.fence, text);
  if (fence === undefined || !growing) return readTail(known, text, growing);
  return { ...known, text, groups: addToGroups(known.settled, [blockOfFence(fence, text)]), fence };
}

/** Looks for the end of a fence in the lines that came since. Undefined when it is there. */
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

/** The block of a fence that has no end yet. A line that looks like the beginning of the end waits for its rest. */
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

/** Counts the blocks from the beginning that no further text can change: behind them stands a whole line of another. */
function countSettled(tokens: readonly Token[]): number {
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined || token.type === "space") continue;
    // A formula without an end may still turn out to be words of the paragraph before.
    const isOpen = token.type === "math" && (token as MathToken).open;
    if (!isOpen && (token.raw.includes("\n") || index < tokens.length - 1)) return index;
    // The line is not whole: what stands before it may still reach into it, as a list into its next mark.
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
      // An address that is still being written leads elsewhere.
      if (index >= settledCount || Object.hasOwn(links, tag)) continue;
      links[tag] = { href, title };
      isNew = true;
    } else if (token.type === "footnote") {
      const { label, raw } = token as FootnoteToken;
      // The first of a name counts; the last of a text may still grow.
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

/** Pictures that stand in the text itself may be as long as they are. */
function isTooLong(raw: string): boolean {
  if (raw.length <= longestParagraph) return false;
  return raw.replaceAll(/\(data:image\/[a-z]+;base64,[\w+/=]*(?:\)|$)/g, "").length > longestParagraph;
}

/** Pieces at fixed places, so that a paragraph that grows changes its last one alone. */
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

/** The language that the line of a fence names first. */
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

/** The characters of blocks. */
export function sizeOfBlocks(blocks: readonly Block[]): number {
  return blocks.reduce(
    (sum, block) => sum + (block.kind === "code" ? block.code.length : block.raw.length),
    0,
  );
}
