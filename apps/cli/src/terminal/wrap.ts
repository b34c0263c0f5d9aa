import { graphemesOf, graphemeWidth } from "./text-width.js";

/** Options for wrapping lines. */
export interface WrapOptions {
  readonly columns: number;
  /** Before the first line, and before all others; both count. They may have colours. */
  readonly first?: string;
  readonly rest?: string;
  /** The widths of the two. Default: their lengths. */
  readonly indent?: number;
}

/** A sequence that sets or ends a look. Built from a text: linters take the escape character in a pattern for a slip. */
const look = (flags: string) => new RegExp("\u001B\\[([\\d;]*)m", flags);
const lookHere = look("y");
const looks = look("g");

/**
 * Breaks a text that may have colours into lines of at most `columns`, between words where it can. Each line is whole
 * in itself: a colour that goes over a break is ended before it and begun again behind it.
 */
export function wrap(text: string, options: WrapOptions): string[] {
  const { first = "", rest = "", indent = Math.max(first.length, rest.length) } = options;
  const lineWidth = Math.max(8, options.columns - indent);
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    lines.push(...wrapLine(paragraph, lineWidth));
  }
  // What stands before a line has looks of its own: their end must not end those of the text.
  return reopenColours(lines).map((line, index) => `${index === 0 ? first : rest}${line}`);
}

interface Piece {
  readonly text: string;
  readonly width: number;
}

/** One line without line breaks. Spaces at a break are dropped, those at the beginning are kept. */
function wrapLine(line: string, lineWidth: number): string[] {
  const lines: string[] = [];
  let current = "";
  let width = 0;
  let space: Piece = { text: "", width: 0 };
  const breakLine = () => {
    lines.push(current);
    current = "";
    width = 0;
  };
  for (const word of words(line)) {
    if (word.isSpace) {
      space = { text: space.text + word.text, width: space.width + word.width };
      continue;
    }
    const fits = width + space.width + word.width <= lineWidth;
    if (!fits && width > 0) {
      breakLine();
      current += (space.text.match(looks) ?? []).join("");
    } else {
      current += space.text;
      width += space.width;
    }
    space = { text: "", width: 0 };
    for (const piece of word.width <= lineWidth ? [word] : split(word.text, lineWidth)) {
      if (width + piece.width > lineWidth && width > 0) breakLine();
      current += piece.text;
      width += piece.width;
    }
  }
  // The spaces that are left go, but not the end of a colour among them.
  lines.push(current + (space.text.match(looks) ?? []).join(""));
  return lines;
}

function* words(line: string): Iterable<Piece & { readonly isSpace: boolean }> {
  let text = "";
  let width = 0;
  let isSpace = false;
  for (const piece of pieces(line)) {
    const blank = piece.width > 0 && /^\s$/.test(piece.text);
    if (piece.width > 0 && text !== "" && width > 0 && blank !== isSpace) {
      yield { text, width, isSpace };
      text = "";
      width = 0;
    }
    if (piece.width > 0) isSpace = blank;
    text += piece.text;
    width += piece.width;
  }
  if (text !== "") yield { text, width, isSpace };
}

/** Colours and characters, one by one. Tabs become spaces: their width depends on where they stand. */
function* pieces(line: string): Iterable<Piece> {
  let at = 0;
  while (at < line.length) {
    lookHere.lastIndex = at;
    const colour = lookHere.exec(line)?.[0];
    if (colour !== undefined) {
      yield { text: colour, width: 0 };
      at += colour.length;
      continue;
    }
    const next = line.indexOf("\u001B", at + 1);
    const plain = line.slice(at, next < 0 ? line.length : next);
    for (const grapheme of graphemesOf(plain)) {
      if (grapheme === "\t") for (let count = 0; count < 4; count += 1) yield { text: " ", width: 1 };
      else yield { text: grapheme, width: graphemeWidth(grapheme) };
    }
    at += plain.length;
  }
}

function split(word: string, lineWidth: number): Piece[] {
  const parts: Piece[] = [];
  let text = "";
  let width = 0;
  for (const piece of pieces(word)) {
    if (width + piece.width > lineWidth) {
      parts.push({ text, width });
      text = "";
      width = 0;
    }
    text += piece.text;
    width += piece.width;
  }
  parts.push({ text, width });
  return parts;
}

/** Which kind of look a code sets, and the code that ends it. */
function kindOf(code: number): { readonly kind: string; readonly ends: boolean } | undefined {
  if (code === 1 || code === 2) return { kind: `intensity${code}`, ends: false };
  if (code === 22) return { kind: "intensity", ends: true };
  if (code === 3 || code === 23) return { kind: "italic", ends: code === 23 };
  if (code === 4 || code === 24) return { kind: "underline", ends: code === 24 };
  if (code === 7 || code === 27) return { kind: "inverse", ends: code === 27 };
  if (code === 9 || code === 29) return { kind: "strike", ends: code === 29 };
  if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) return { kind: "colour", ends: false };
  if (code === 39) return { kind: "colour", ends: true };
  if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) return { kind: "background", ends: false };
  if (code === 49) return { kind: "background", ends: true };
  return undefined;
}

function reopenColours(lines: readonly string[]): string[] {
  const open = new Map<string, string>();
  return lines.map((line) => {
    const before = [...open.values()].join("");
    for (const [sequence, codes = ""] of line.matchAll(looks)) {
      const code = Number(codes.split(";")[0] ?? "0");
      if (code === 0) open.clear();
      const found = kindOf(code);
      if (found === undefined) continue;
      if (!found.ends) open.set(found.kind, sequence);
      else for (const kind of [...open.keys()]) if (kind.startsWith(found.kind)) open.delete(kind);
    }
    return `${before}${line}${open.size > 0 ? "\u001B[0m" : ""}`;
  });
}
