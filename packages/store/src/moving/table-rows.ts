import { ParleyError } from "@parley/core/errors";
import type { ResultRow, Statement } from "../database.js";

/** A database that whole tables are read from or written to. */
export interface TableSpace {
  query(statement: Statement): Promise<ResultRow[]>;
}

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
}

/**
 * Rows of a batch: of the first one, of the first one with pieces of files, and at most; and characters of a batch at
 * most.
 */
const batch = { first: 100, firstPieces: 4, most: 2_000, characters: 8_000_000 };

/** Tables that each database writes for itself. */
const ownTables: readonly string[] = ["schema_migration"];

/** Returns the rows of the next batch, so that it has about as many characters as a batch may have. */
export function nextSize(size: number, read: readonly ResultRow[]): number {
  const characters = read.reduce((sum, row) => sum + lengthOf(row), 0);
  const fitting = Math.floor((batch.characters * read.length) / Math.max(1, characters));
  return Math.max(1, Math.min(batch.most, size * 4, fitting));
}

/** Returns the rows of the first batch of a table. */
export function firstSize({ columns }: Table): number {
  return columns.some(({ type }) => type === "bytea") ? batch.firstPieces : batch.first;
}

/** Returns the columns of a select whose rows `insertion` takes. */
export function selectedColumns({ columns }: Table): string {
  return columns.map((column, index) => `${textOf(column)} AS c${index}`).join(", ");
}

/** Returns the key of the last of these rows. */
export function lastKey(table: Table, read: readonly ResultRow[]): (string | null)[] {
  return table.key.map((column) => textAt(read.at(-1), table.columns.indexOf(column)));
}

/** Inserts rows that were read with `readRows`. With `free`, foreign keys are not checked, which needs a superuser. */
export function insertion(
  table: Table,
  place: string,
  rows: readonly ResultRow[],
  options: { readonly free?: boolean; readonly replacing?: boolean } = {},
): Statement {
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const given = table.columns.map((_, index) => `c${index}`);
  const values = table.columns.map(({ type }, index) => `c${index}::${type}`).join(", ");
  const arrays = given.map((_, index) => `$${index + 1}::text[]`).join(", ");
  const from = `unnest(${arrays}) AS given(${given.join(", ")})`;
  return {
    // One statement is one transaction. Foreign keys hold when all tables are copied.
    text: options.free
      ? `WITH free AS MATERIALIZED (SELECT set_config('session_replication_role', 'replica', true))
      INSERT INTO ${place} (${names}) SELECT ${values} FROM free, ${from}`
      : `INSERT INTO ${place} (${names}) SELECT ${values} FROM ${from} ${options.replacing ? replacement(table) : ""}`,
    values: table.columns.map((_, index) => rows.map((row) => textAt(row, index))),
  };
}

function replacement(table: Table): string {
  const others = table.columns.filter((column) => !table.key.includes(column));
  const key = table.key.map(({ name }) => `"${name}"`).join(", ");
  const changes = others.map(({ name }) => `"${name}" = excluded."${name}"`).join(", ");
  return `ON CONFLICT (${key}) DO ${changes === "" ? "NOTHING" : `UPDATE SET ${changes}`}`;
}

/** Reads the tables of a schema with their columns and keys, as the database has them. */
export async function readTables(space: TableSpace, schema: string): Promise<Table[]> {
  const rows = await space.query({
    text: `SELECT c.relname::text AS "table", a.attname::text AS name,
        format_type(a.atttypid, a.atttypmod) AS type, coalesce(array_position(k.indkey::int2[], a.attnum), -1) AS place
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      LEFT JOIN pg_catalog.pg_index k ON k.indrelid = c.oid AND k.indisprimary
      WHERE n.nspname = $1 AND c.relkind = 'r'
      ORDER BY c.relname, a.attname`,
    values: [schema],
  });
  const names = [...new Set(rows.map(({ table }) => String(table)))].filter(
    (name) => !ownTables.includes(name),
  );
  return names.map((name) => {
    const own = rows.filter(({ table }) => table === name);
    const columnOf = (row: ResultRow): Column => ({ name: String(row.name), type: String(row.type) });
    const columns = own.map(columnOf);
    const inKey = own
      .filter(({ place }) => Number(place) >= 0)
      .sort((a, b) => Number(a.place) - Number(b.place));
    const key = inKey.flatMap((row) => columns.find((column) => column.name === row.name) ?? []);
    if (key.length === 0) {
      throw new ParleyError("internal", `The table ${name} has no primary key`, { retryable: false });
    }
    return { name, columns, key };
  });
}

/** Returns a column as a text from which every PostgreSQL reads the same value, with any settings of its session. */
export function textOf({ name, type }: Column): string {
  if (type === "timestamp with time zone") {
    return `to_char(t."${name}" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'`;
  }
  if (type === "bytea") return `'\\x' || encode(t."${name}", 'hex')`;
  return `t."${name}"::text`;
}

/** Returns the key as a list of columns of `t`. */
export function keyList({ key }: Table): string {
  return key.map(({ name }) => `t."${name}"`).join(", ");
}

export function textAt(row: ResultRow | undefined, index: number): string | null {
  const value = row?.[`c${index}`];
  return typeof value === "string" ? value : null;
}

function lengthOf(row: ResultRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    0,
  );
}
