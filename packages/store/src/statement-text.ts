import type { ResultRow, StatementValue } from "./database.js";

type ReadValue = (text: string) => unknown;

/** A column of a result, and the conversion of its text to a value. */
export interface ResultColumn {
  readonly name: string;
  readonly read: ReadValue;
}

const keep: ReadValue = (text) => text;
/**
 * Readers of int4, int2, int8 (if a statement could not cast it), float8, float4 and bool. Other types are read as
 * text.
 */
const readers = new Map<number, ReadValue>([
  [23, Number],
  [21, Number],
  [20, Number],
  [701, Number],
  [700, Number],
  [16, (text) => text === "t"],
]);

/** Returns the columns of a result, as the server describes them. */
export function columnsOf(
  fields: readonly { readonly name: string; readonly dataTypeID: number }[],
): ResultColumn[] {
  return fields.map(({ name, dataTypeID }) => ({ name, read: readers.get(dataTypeID) ?? keep }));
}

/** Reads a row of a result from the texts that the server sent. */
export function rowOf(columns: readonly ResultColumn[], fields: readonly (string | null)[]): ResultRow {
  const row: ResultRow = {};
  for (let place = 0; place < columns.length; place++) {
    const column = columns[place];
    const value = fields[place];
    if (column !== undefined) {
      row[column.name] = value === null || value === undefined ? null : column.read(value);
    }
  }
  return row;
}

/** Converts a value to the text that the server reads. */
export function literal(value: StatementValue): string | null {
  if (value === null) return null;
  if (typeof value !== "object") return String(value);
  const elements = value.map((element) => {
    if (element === null) return "NULL";
    if (typeof element !== "string") return String(element);
    return `"${/["\\]/.test(element) ? element.replace(/["\\]/g, "\\$&") : element}"`;
  });
  return `{${elements.join(",")}}`;
}
