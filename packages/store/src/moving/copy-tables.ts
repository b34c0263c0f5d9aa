import { ParleyError } from "@parley/core/errors";
import type { StatementValue } from "../database.js";
import {
  firstSize,
  insertion,
  keyList,
  lastKey,
  nextSize,
  readTables,
  selectedColumns,
  type Table,
  type TableSpace,
  textAt,
  textOf,
} from "./table-rows.js";

export type { TableSpace } from "./table-rows.js";

/** Progress of copying or comparing the rows of a store. */
export interface MoveProgress {
  readonly phase: "copying" | "checking";
  readonly table: string;
  /** Rows so far, and in total. */
  readonly rows: number;
  readonly of: number;
}

/**
 * Copies all tables of a schema, which both sides have with the same columns, and compares them: rows are counted, and
 * their contents hashed by each side. Rows that an earlier attempt copied are kept as far as they are the same, so an
 * interrupted attempt can continue. Rejects when the two sides differ at the end.
 */
export async function copyTables(
  source: TableSpace,
  target: TableSpace,
  schema: string,
  onProgress: (progress: MoveProgress) => void = () => undefined,
): Promise<{ readonly tables: number; readonly rows: number }> {
  const tables = await readTables(source, schema);
  const there = await readTables(target, schema);
  if (JSON.stringify(tables) !== JSON.stringify(there)) {
    throw new ParleyError("internal", "The tables of the two databases differ", { retryable: false });
  }
  let rows = 0;
  for (const table of tables) rows += await copyTable({ source, target, schema, table, onProgress });
  await copySequences(source, target, schema);
  for (const table of tables) {
    const [before, after] = [await digest(source, schema, table), await digest(target, schema, table)];
    onProgress({ phase: "checking", table: table.name, rows: after.rows, of: before.rows });
    if (!isSame(before, after)) throw different(table, before.rows, after.rows);
  }
  return { tables: tables.length, rows };
}

interface Copying {
  readonly source: TableSpace;
  readonly target: TableSpace;
  readonly schema: string;
  readonly table: Table;
  readonly onProgress: (progress: MoveProgress) => void;
}

async function copyTable({ source, target, schema, table, onProgress }: Copying): Promise<number> {
  const place = `"${schema}"."${table.name}"`;
  const of = await countRows(source, place);
  let last = await keptUntil({ source, target, schema, table });
  let rows = last === undefined ? 0 : await countRows(target, place);
  for (let size = firstSize(table); ; ) {
    const read = await source.query({
      text: `SELECT ${selectedColumns(table)}
        FROM ${place} AS t ${last === undefined ? "" : `WHERE ${behind(table, ">")}`}
        ORDER BY ${keyList(table)} LIMIT ${size}`,
      values: last ?? [],
    });
    if (read.length > 0) {
      await target.query(insertion(table, place, read, { free: true }));
      last = lastKey(table, read);
      rows += read.length;
    }
    onProgress({ phase: "copying", table: table.name, rows, of });
    if (read.length < size) return rows;
    size = nextSize(size, read);
  }
}

/** Returns the key of the last row that an earlier attempt copied. Removes what differs from the source. */
async function keptUntil({ source, target, schema, table }: Omit<Copying, "onProgress">) {
  const place = `"${schema}"."${table.name}"`;
  const [row] = await target.query({
    text: `SELECT ${table.key.map((column, index) => `${textOf(column)} AS c${index}`).join(", ")} FROM ${place} AS t
      ORDER BY ${table.key.map(({ name }) => `t."${name}" DESC`).join(", ")} LIMIT 1`,
  });
  if (row === undefined) return undefined;
  const last = table.key.map((_, index) => textAt(row, index));
  const [before, after] = [
    await digest(source, schema, table, last),
    await digest(target, schema, table, last),
  ];
  if (isSame(before, after)) return last;
  await target.query({ text: `DELETE FROM ${place}` });
  return undefined;
}

interface Digest {
  readonly rows: number;
  readonly sums: readonly unknown[];
}

/** Computes the number of a table's rows up to a key, and two sums of hashes of their contents. */
async function digest(
  space: TableSpace,
  schema: string,
  table: Table,
  until?: readonly StatementValue[],
): Promise<Digest> {
  const row = `md5(ROW(${table.columns.map(textOf).join(", ")})::text)`;
  const [found] = await space.query({
    text: `SELECT count(*)::text AS rows,
        sum(('x' || substr(hash, 1, 15))::bit(60)::bigint)::text AS low,
        sum(('x' || substr(hash, 16, 15))::bit(60)::bigint)::text AS high
      FROM (SELECT ${row} AS hash FROM "${schema}"."${table.name}" AS t
        ${until === undefined ? "" : `WHERE ${behind(table, "<=")}`}) AS hashed`,
    values: [...(until ?? [])],
  });
  return { rows: Number(found?.rows), sums: [found?.low, found?.high] };
}

function isSame(one: Digest, other: Digest): boolean {
  return one.rows === other.rows && one.sums.every((sum, index) => sum === other.sums[index]);
}

async function copySequences(source: TableSpace, target: TableSpace, schema: string): Promise<void> {
  const sequences = await source.query({
    text: `SELECT sequencename::text AS name, last_value::text AS last FROM pg_catalog.pg_sequences
      WHERE schemaname = $1 AND last_value IS NOT NULL`,
    values: [schema],
  });
  for (const { name, last } of sequences) {
    await target.query({
      text: `SELECT setval(format('%I.%I', $1::text, $2::text)::regclass, $3::bigint)`,
      values: [schema, String(name), String(last)],
    });
  }
}

async function countRows(space: TableSpace, place: string): Promise<number> {
  const [row] = await space.query({ text: `SELECT count(*)::text AS rows FROM ${place}` });
  return Number(row?.rows);
}

function behind(table: Table, operator: ">" | "<="): string {
  const values = table.key.map(({ type }, index) => `$${index + 1}::text::${type}`).join(", ");
  return `(${keyList(table)}) ${operator} (${values})`;
}

function different({ name }: Table, before: number, after: number): ParleyError {
  return new ParleyError(
    "internal",
    `The copy of the table ${name} differs from the original (${before} and ${after} rows). The original is still in ` +
      "place and in use. Run the command again while nothing else has the store open.",
    { retryable: false, details: { reason: "copy_differs", table: name } },
  );
}
