import { graphemesOf, graphemeWidth } from "./text-width.js";

/** A typed line as rows of a terminal, and the position of the cursor in them. */
export interface LineView {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

/**
 * Lays out a line that is being typed. Rows break where the terminal is full, not between words: the cursor must stay
 * where it is while a word grows. `lead` stands before the first row and its width before all others.
 */
export function viewLine(
  text: string,
  cursor: number,
  lead: string,
  leadWidth: number,
  columns: number,
): LineView {
  const rowWidth = Math.max(4, columns - leadWidth - 1);
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let at = 0;
  let place = { row: 0, column: 0 };
  const next = () => {
    rows.push(row);
    row = "";
    width = 0;
  };
  for (const grapheme of graphemesOf(text)) {
    const holds = at <= cursor && cursor < at + grapheme.length;
    if (holds) place = { row: rows.length, column: width };
    at += grapheme.length;
    if (grapheme === "\n") {
      next();
      continue;
    }
    const shown = grapheme === "\t" ? "  " : grapheme;
    const more = grapheme === "\t" ? 2 : graphemeWidth(grapheme);
    if (width + more > rowWidth) {
      next();
      if (holds) place = { row: rows.length, column: 0 };
    }
    row += shown;
    width += more;
  }
  if (at === cursor) place = { row: rows.length, column: width };
  rows.push(row);
  return {
    rows: rows.map((each, index) => `${index === 0 ? lead : " ".repeat(leadWidth)}${each}`),
    cursorRow: place.row,
    cursorColumn: leadWidth + place.column,
  };
}
