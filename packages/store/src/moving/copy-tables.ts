import { ParleyError } from "@parley/core/errors";
import type { ResultRow, Statement, StatementValue } from "../database.js";

/** A database that whole tables are read from or written to. */
export interface TableSpace {
  query(statement: Statement): Promise<ResultRow[]>;
}

/** How far the rows of a store are copied or compared. */
export interface MoveProgress {
  readonly phase: "copying" | "checking";
  readonly table: string;
  /** Rows so far, and in all. */
  readonly rows: number;
  readonly of: number;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
}

/**
 * Rows of one batch: at first, at first where they hold pieces of files, and at most; and the characters that a batch may
 * come to.
 */
const batch = { first: 100, firstPieces: 4, most: 2_000, characters: 8_000_000 };

/** Written by each database for itself. */
const ownTables: readonly string[] = ["schema_migration"];

/**
 * Copies all tables of a schema, which both sides have with the same columns, and compares them: rows are counted, and
 * their contents hashed by each side. Rows that an earlier attempt copied are kept as far as they are the same, so an
 * attempt that was interrupted goes on. Rejects when the two sides differ at the end.
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
  const holdsPieces = table.columns.some(({ type }) => type === "bytea");
  for (let size = holdsPieces ? batch.firstPieces : batch.first; ; ) {
    const read = await source.query({
      text: `SELECT ${table.columns.map((column, index) => `${textOf(column)} AS c${index}`).join(", ")}
        FROM ${place} AS t ${last === undefined ? "" : `WHERE ${behind(table, ">")}`}
        ORDER BY ${keyList(table)} LIMIT ${size}`,
      values: last ?? [],
    });
    if (read.length > 0) {
      await target.query(insertion(table, place, read));
      last = table.key.map((column) => textAt(read.at(-1), table.columns.indexOf(column)));
      rows += read.length;
    }
    onProgress({ phase: "copying", table: table.name, rows, of });
    if (read.length < size) return rows;
    const characters = read.reduce((sum, row) => sum + lengthOf(row), 0);
    const fitting = Math.floor((batch.characters * read.length) / Math.max(1, characters));
    size = Math.max(1, Math.min(batch.most, size * 4, fitting));
  }
}

/** The key of the last row that an earlier attempt copied. What differs from the source is removed. */
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

function insertion(table: Table, place: string, rows: readonly ResultRow[]): Statement {
  const names = table.columns.map(({ name }) => `"${name}"`).join(", ");
  const given = table.columns.map((_, index) => `c${index}`);
  const values = table.columns.map(({ type }, index) => `c${index}::${type}`).join(", ");
  const arrays = given.map((_, index) => `$${index + 1}::text[]`).join(", ");
  return {
    // One statement is one transaction. Rules between tables hold when all of them are copied.
    text: `WITH free AS MATERIALIZED (SELECT set_config('session_replication_role', 'replica', true))
      INSERT INTO ${place} (${names}) SELECT ${values} FROM free, unnest(${arrays}) AS given(${given.join(", ")})`,
    values: table.columns.map((_, index) => rows.map((row) => textAt(row, index))),
  };
}

interface Digest {
  readonly rows: number;
  readonly sums: readonly unknown[];
}

/** The number of a table's rows up to a key, and two sums of hashes of their contents. */
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

async function readTables(space: TableSpace, schema: string): Promise<Table[]> {
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

async function countRows(space: TableSpace, place: string): Promise<number> {
  const [row] = await space.query({ text: `SELECT count(*)::text AS rows FROM ${place}` });
  return Number(row?.rows);
}

/** A column as a text from which every PostgreSQL reads the same value, whatever its session's settings are. */
function textOf({ name, type }: Column): string {
  if (type === "timestamp with time zone") {
    return `to_char(t."${name}" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'`;
  }
  if (type === "bytea") return `'\\x' || encode(t."${name}", 'hex')`;
  return `t."${name}"::text`;
}

function keyList({ key }: Table): string {
  return key.map(({ name }) => `t."${name}"`).join(", ");
}

function behind(table: Table, operator: ">" | "<="): string {
  const values = table.key.map(({ type }, index) => `$${index + 1}::text::${type}`).join(", ");
  return `(${keyList(table)}) ${operator} (${values})`;
}

function textAt(row: ResultRow | undefined, index: number): string | null {
  const value = row?.[`c${index}`];
  return typeof value === "string" ? value : null;
}

function lengthOf(row: ResultRow): number {
  return Object.values(row).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    0,
  );
}

function different({ name }: Table, before: number, after: number): ParleyError {
  return new ParleyError(
    "internal",
    `The copy of the table ${name} differs from the original (${before} and ${after} rows). The original is still in ` +
      "place and in use. Run the command again while nothing else has the store open.",
    { retryable: false, details: { reason: "copy_differs", table: name } },
  );
}
