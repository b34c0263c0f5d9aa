import { ParleyError } from "@parley/core/errors";
import type { Connection, ResultRow, StatementValue } from "../database.js";
import { type CarriedTable, carriedTables } from "./carried-tables.js";
import { type MigrationProgress, migrationFolders, readMigrations } from "./migrations.js";

/** Rows that one transaction copies. */
const rowsAtOnce = 2_000;

/** Returns the schema in which the tables of an older version wait until all of their rows are copied. */
function olderSchema(schema: string): string {
  return `${schema}_older`;
}

/** The first migration of the versions that used no separate schema. */
export const firstOlderMigration = "0000_functions";

/**
 * Finds the schema with the tables of a version that used no separate schema: they are where a search path led it, in
 * `public` unless it was configured otherwise, perhaps in the very schema that is configured now. Returns undefined if
 * there are none, also if another program has a table of that name.
 */
async function findOlderTables(connection: Connection, schema: string): Promise<string | undefined> {
  const candidates = await connection.query({
    text: `SELECT n.nspname::text AS schema
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = 'schema_migration' AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')
        AND has_table_privilege(c.oid, 'SELECT') AND (n.nspname = ANY(current_schemas(false)) OR n.nspname = $1)
      ORDER BY array_position(current_schemas(false), n.nspname)`,
    values: [schema],
  });
  for (const candidate of candidates) {
    const name = String(candidate.schema);
    // Read as JSON: a table of another program may have any columns.
    const [first] = await connection.query({
      text: `SELECT 1 AS ours FROM "${name}".schema_migration m
        WHERE to_jsonb(m)->>'place' = '0' AND to_jsonb(m)->>'name' = $1 LIMIT 1`,
      values: [firstOlderMigration],
    });
    if (first !== undefined) return name;
  }
  return undefined;
}

/**
 * Migrates the tables of an older version to the last change that it knew, and moves them away, all in the transaction
 * that creates the new ones: from then on no older version can write to them.
 */
export async function prepareCarryOver(connection: Connection, schema: string): Promise<void> {
  const from = await findOlderTables(connection, schema);
  if (from === undefined) return;
  await finishOlderHistory(connection, from);
  const older = olderSchema(schema);
  await connection.query({ text: `CREATE SCHEMA ${older}` });
  for (const name of ["schema_migration", ...carriedTables.map((table) => table.name)]) {
    await connection.query({ text: `ALTER TABLE "${from}".${name} SET SCHEMA ${older}` });
  }
  await connection.query({ text: `ALTER SEQUENCE "${from}".conversation_change SET SCHEMA ${older}` });
  for (const name of ["conversation_changed", "id_key"]) {
    await connection.query({ text: `DROP FUNCTION "${from}".${name}(text)` });
  }
  await connection.query({
    text: `CREATE TABLE ${older}.carried (name text PRIMARY KEY, place text, copied bigint NOT NULL, done boolean NOT NULL)`,
  });
}

async function finishOlderHistory(connection: Connection, from: string): Promise<void> {
  const all = await readMigrations(migrationFolders.older);
  const rows = await connection.query({ text: `SELECT name FROM "${from}".schema_migration ORDER BY place` });
  const unknown = rows.find(({ name }, place) => all[place]?.name !== name);
  if (unknown !== undefined) {
    throw new ParleyError(
      "schema_newer",
      `The database has the migration ${String(unknown.name)}, which this version lacks`,
      { details: { migration: String(unknown.name) } },
    );
  }
  const missing = all.slice(rows.length);
  if (missing.length === 0) return;
  // These name no schema. A schema with the name of the role, which Parley's own may be, would come first.
  const path = { text: "SELECT set_config('search_path', $1, true)" };
  const [before] = await connection.query({ text: "SELECT current_setting('search_path') AS path" });
  await connection.query({ ...path, values: [`"${from}"`] });
  for (const { statements } of missing) for (const text of statements) await connection.query({ text });
  await connection.query({ ...path, values: [String(before?.path)] });
}

/**
 * Copies the next rows of an older version, in the order of the keys that they had there. No other process uses the
 * tables that this writes to yet. Returns the progress; undefined when nothing is left, and then the old tables are
 * gone.
 */
export async function carryOver(
  connection: Connection,
  schema: string,
  limit = rowsAtOnce,
): Promise<MigrationProgress | undefined> {
  const older = olderSchema(schema);
  const [known] = await connection.query({
    text: "SELECT to_regclass($1) IS NOT NULL AS known",
    values: [`${older}.carried`],
  });
  if (known?.known !== true) return undefined;
  const marks = await connection.query({
    text: `SELECT name, place, copied::float8 AS copied, done FROM ${older}.carried`,
  });
  const byName = new Map(marks.map((mark) => [String(mark.name), mark]));
  const next = carriedTables.find(({ name }) => byName.get(name)?.done !== true);
  if (next !== undefined) return copyBatch(connection, older, next, byName.get(next.name), limit);
  await finish(connection, older);
  return undefined;
}

async function copyBatch(
  connection: Connection,
  older: string,
  table: CarriedTable,
  mark: ResultRow | undefined,
  limit: number,
): Promise<MigrationProgress> {
  const { name, key } = table;
  const columns = key.map((column) => `o.${column.name}`).join(", ");
  const from = typeof mark?.place === "string" ? (JSON.parse(mark.place) as StatementValue[]) : undefined;
  const place = (first: number) =>
    `(${key.map(({ type }, index) => `$${first + index}::${type}`).join(", ")})`;
  const after = from === undefined ? "" : `WHERE (${columns}) > ${place(1)}`;
  const [last] = await connection.query({
    text: `SELECT ${key.map((column) => `o.${column.name}::text AS ${column.name}`).join(", ")}
      FROM ${older}.${name} o ${after} ORDER BY ${columns} OFFSET ${limit - 1} LIMIT 1`,
    values: from ?? [],
  });
  const to = last === undefined ? undefined : key.map((column) => String(last[column.name]));
  const before =
    to === undefined
      ? after
      : `${after === "" ? "WHERE" : `${after} AND`} (${columns}) <= ${place((from?.length ?? 0) + 1)}`;
  const [written] = await connection.query({
    text: `WITH copied AS (
  INSERT INTO parley.${name} (${table.columns.map((column) => column.name).join(", ")})
  SELECT ${table.columns.map((column) => column.from(older)).join(", ")}
  FROM ${older}.${name} o ${table.join?.(older) ?? ""} ${before} ORDER BY ${columns} RETURNING 1
) SELECT count(*)::int4 AS copied FROM copied`,
    values: [...(from ?? []), ...(to ?? [])],
  });
  const copied = Number(mark?.copied ?? 0) + Number(written?.copied);
  await connection.query({
    text: `INSERT INTO ${older}.carried (name, place, copied, done) VALUES ($1, $2, $3, $4)
      ON CONFLICT (name) DO UPDATE SET place = excluded.place, copied = excluded.copied, done = excluded.done`,
    values: [name, to === undefined ? null : JSON.stringify(to), copied, to === undefined],
  });
  const [estimate] = await connection.query({
    text: "SELECT greatest(reltuples, 0)::float8 AS rows FROM pg_catalog.pg_class WHERE oid = to_regclass($1)",
    values: [`${older}.${name}`],
  });
  return { table: name, copied, of: Math.max(copied, Number(estimate?.rows ?? 0)) };
}

/** Sets the counters to where they were. Drops tables one by one, without CASCADE: nothing else must depend on them. */
async function finish(connection: Connection, older: string): Promise<void> {
  const statements = [
    "SELECT setval('parley.log_number', greatest((SELECT max(log) FROM parley.conversation), 1))",
    "SELECT setval('parley.search_owner_number', greatest((SELECT max(number) FROM parley.search_owner), 1))",
    `SELECT setval('parley.conversation_change', (SELECT last_value FROM ${older}.conversation_change))`,
    ...["carried", "schema_migration", ...carriedTables.toReversed().map(({ name }) => name)].map(
      (name) => `DROP TABLE ${older}.${name}`,
    ),
    `DROP SEQUENCE ${older}.conversation_change`,
    `DROP SCHEMA ${older}`,
  ];
  for (const text of statements) await connection.query({ text });
}
