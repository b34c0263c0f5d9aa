import type { Tokens } from "marked";
import { textOf } from "../text-of.js";

type Table = Pick<Tokens.Table, "header" | "rows">;

/**
 * Returns the table as comma separated values (RFC 4180). A cell that a spreadsheet would read as a formula gets an
 * apostrophe in front, because model output is pasted unchecked.
 */
export function tableToCsv({ header, rows }: Table): string {
  return [header, ...rows]
    .map((cells) => cells.map((cell) => csvField(textOf(cell.tokens))).join(","))
    .join("\r\n");
}

function csvField(text: string): string {
  const isFormula =
    /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && !/^[+-]?[\d.,\s%]+$/.test(text) && text.length > 1);
  const field = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
