import { stripVTControlCharacters } from "node:util";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Splits a text into the characters that a reader sees. */
export function* graphemesOf(text: string): Iterable<string> {
  // Most text has one code unit per character, and asking the segmenter costs a hundred times as much.
  if (/^[\x20-\x7e]*$/.test(text)) yield* text;
  else for (const { segment } of graphemes.segment(text)) yield segment;
}

/** Returns the number of terminal columns that a text takes. Colours take none. */
export function textWidth(text: string): number {
  const plain = text.includes("\u001B") ? stripVTControlCharacters(text) : text;
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const grapheme of graphemesOf(plain)) width += graphemeWidth(grapheme);
  return width;
}

/** Returns the number of columns of one character: none, one or two. */
export function graphemeWidth(grapheme: string): 0 | 1 | 2 {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f) return 1;
  if (/^[\p{Control}\p{Format}\p{Mark}\p{Surrogate}]+$/u.test(grapheme)) return 0;
  if (grapheme.includes("\uFE0F") || /^\p{Emoji_Presentation}|^\p{Regional_Indicator}{2}/u.test(grapheme))
    return 2;
  return isWide(code) ? 2 : 1;
}

/** The blocks that terminals draw two columns wide, after Unicode's East Asian Width. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return code >= 0x1100 && wideRanges.some(([first, last]) => code >= first && code <= last);
}

/** The beginning of a text, with an ellipsis where something was left out. The text has no colours. */
export function clip(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let clipped = "";
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    const more = graphemeWidth(grapheme);
    if (width + more > columns - 1) break;
    clipped += grapheme;
    width += more;
  }
  return columns <= 0 ? "" : `${clipped}…`;
}
