import { graphemeWidth } from "./text-width.js";

/** Characters that a reader cannot see, or would take for another: controls, formats, fillers, spaces of other kinds. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|[^\P{Zs} ]/gu;

/** More than fits on any line. */
const longestStart = 1_000;

/** Writes every character that cannot be seen as an escape, as JSON does: the reader sees what is there. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (found) =>
    [...found]
      .flatMap((character) => character.split(""))
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Returns data as lines: JSON laid out, and any other text as it is; both without invisible characters. */
export function dataLines(text: string): string[] {
  return layOut(text).split("\n").map(escapeInvisible);
}

/** Returns data on one line, without invisible characters. JSON loses the white space around its values. */
export function dataLine(text: string): string {
  return escapeInvisible(compact(text));
}

/** Returns the beginning of data on one line, for a place where all of it does not fit. */
export function dataStart(text: string): string {
  const start = escapeInvisible(text.slice(0, longestStart).replace(/[ \n\r\t]+/g, " ")).trim();
  return text.length > longestStart ? `${start}…` : start;
}

function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Lines that fit a width, and how many characters were left out. */
export interface FoldedData {
  readonly lines: readonly string[];
  readonly hidden: number;
}

/**
 * Breaks lines of data where the width is full, not between words: nothing of them is dropped. Ends after `rows`
 * lines; without it, all of them are given.
 */
export function foldData(
  lines: readonly string[],
  options: { readonly columns: number; readonly rows?: number },
): FoldedData {
  const { columns, rows = Number.POSITIVE_INFINITY } = options;
  const shown: string[] = [];
  let hidden = 0;
  for (const line of lines) {
    let rest = line;
    do {
      if (shown.length >= rows) {
        hidden += rest.length;
        break;
      }
      const head = fitting(rest, columns);
      shown.push(head);
      rest = rest.slice(head.length);
    } while (rest !== "");
  }
  return { lines: shown, hidden };
}

/** The beginning of a line that fits: at least one character. */
function fitting(line: string, columns: number): string {
  const most = line.slice(0, Math.max(1, columns));
  if (/^[\x20-\x7e]*$/.test(most)) return most;
  let length = 0;
  let width = 0;
  for (const character of most) {
    width += graphemeWidth(character);
    if (width > columns && length > 0) break;
    length += character.length;
  }
  // A pair that the bound has cut is taken whole.
  const code = line.codePointAt(length - 1) ?? 0;
  return line.slice(0, code > 0xffff ? length + 1 : length);
}
