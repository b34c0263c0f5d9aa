import { readFile } from "node:fs/promises";
import { ParleyError } from "@parley/core/errors";
import { type Connection, type Database, withBudget } from "./database.js";

/** One step of the schema's history, in the order in which they were made. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Any number that no other use of advisory locks in the same database is likely to have. */
const lockKey = 7_275_539_421;

/**
 * A statement that rewrites a table takes as long as the table is large, and whoever waits for the lock waits for all of
 * them: the limits of ordinary work do not hold here. A process that froze in the middle still gives way, only later.
 */
const unlimited = `SELECT set_config(name, CASE name WHEN 'idle_in_transaction_session_timeout' THEN '60s' ELSE '0' END, true)
FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`;

/** Reads the SQL files that come with the package. */
export async function readMigrations(
  folder = new URL("../migrations/", import.meta.url),
): Promise<Migration[]> {
  const journal = JSON.parse(await readFile(new URL("meta/_journal.json", folder), "utf8")) as {
    entries: { tag: string }[];
  };
  return Promise.all(
    journal.entries.map(async ({ tag }) => {
      const sql = await readFile(new URL(`${tag}.sql`, folder), "utf8");
      return { name: tag, statements: sql.split("--> statement-breakpoint") };
    }),
  );
}

/**
 * Brings the schema up in one transaction, so that a crash leaves the old one. Whoever comes meanwhile waits for the
 * lock and finds nothing left to do. A database that knows migrations which are not among ours belongs to a newer
 * version: it is left alone, and the caller learns it by `schema_newer`.
 */
export async function migrate(database: Database, migrations?: readonly Migration[]): Promise<void> {
  const all = migrations ?? (await readMigrations());
  if (await isCurrent(database, all)) return;
  await withBudget(database, "migration").transaction(async (connection) => {
    await connection.query({ text: unlimited });
    await connection.query({ text: `SELECT 1 FROM (SELECT pg_advisory_xact_lock(${lockKey})) AS locked` });
    await connection.query({
      text: `CREATE TABLE IF NOT EXISTS schema_migration (
        place integer PRIMARY KEY, name text NOT NULL, applied_at timestamp with time zone NOT NULL DEFAULT now())`,
    });
    const applied = await appliedNames(connection, all);
    for (const [place, { name, statements }] of all.entries()) {
      if (place < applied.length) continue;
      for (const text of statements) await connection.query({ text });
      await connection.query({
        text: "INSERT INTO schema_migration (place, name) VALUES ($1, $2)",
        values: [place, name],
      });
    }
  });
}

/** Asked without the lock: a start in the ordinary case changes nothing and waits for nobody. */
export async function isCurrent(database: Database, all: readonly Migration[]): Promise<boolean> {
  const [row] = await database.query({
    text: "SELECT to_regclass('schema_migration') IS NOT NULL AS known",
  });
  if (row?.known !== true) return false;
  return (await appliedNames(database, all)).length === all.length;
}

async function appliedNames(connection: Connection, all: readonly Migration[]): Promise<string[]> {
  const rows = await connection.query({ text: "SELECT name FROM schema_migration ORDER BY place" });
  const names = rows.map(({ name }) => String(name));
  const unknown = names.find((name, place) => all[place]?.name !== name);
  if (unknown !== undefined) {
    throw new ParleyError(
      "schema_newer",
      `The database has the migration ${unknown}, which this version lacks`,
      {
        details: { migration: unknown },
      },
    );
  }
  return names;
}
