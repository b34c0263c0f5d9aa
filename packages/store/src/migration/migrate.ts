import { ParleyError } from "@parley/core/errors";
import { type Connection, type Database, type Statement, withBudget } from "../database.js";
import { checkSchemaName, defaultSchema, inSchema, schemaText } from "../in-schema.js";
import { carryOver, firstOlderMigration, prepareCarryOver } from "./carry-over.js";
import { type Migration, type MigrationProgress, readMigrations } from "./migrations.js";
import { missingRight, requireRights } from "./schema-rights.js";

/** Options of a migration. */
export interface MigrateOptions {
  /** Migrations to apply. Default: those that come with the package. */
  readonly migrations?: readonly Migration[];
  readonly schema?: string;
  /** Called after each batch of rows that was copied. */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Rows of an older version that one transaction copies. Default 2,000. */
  readonly rowsAtOnce?: number;
}

/** Number that no other use of advisory locks in the same database is likely to have. */
const lockKey = 7_275_539_421;

/** The migration after which nothing of an older version is left. */
const carriedOver = "carried_over";

/**
 * Lifts the limits of ordinary work in a transaction. A statement that rewrites a table takes longer the larger the
 * table is, and a process that waits for the lock waits for all of them. A process that froze in the middle still gives
 * way, only later.
 */
export const unlimited: readonly Statement[] = [
  {
    text: `SELECT set_config(name, CASE name WHEN 'idle_in_transaction_session_timeout' THEN '60s' ELSE '0' END, true)
FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`,
  },
  // Only SET LOCAL reaches the servers of a Citus cluster.
  { text: "SET LOCAL lock_timeout = 0" },
];

/**
 * Lets a Citus cluster that distributes each new schema leave this one as it is until its tables are complete: some
 * changes of tables are refused in a distributed schema. Has no effect on other servers.
 */
const undistributed: Statement = {
  text: "SELECT set_config('citus.enable_schema_based_sharding', 'off', true)",
};

/**
 * Migrates the schema. A process that comes meanwhile waits for the lock and finds nothing left to do. A database that
 * knows migrations which are not among ours belongs to a newer version: it is left unchanged, and the caller gets
 * `schema_newer`.
 *
 * Changes of tables are one transaction, so that a crash leaves the old ones. Rows of a version that had its tables in
 * `public` are copied after it, in batches of a transaction each: a crash leaves what was copied, and the next call
 * continues from there. The store cannot be used until everything is copied.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<void> {
  const schema = checkSchemaName(options.schema ?? defaultSchema);
  const all = [...(options.migrations ?? (await readMigrations()))];
  if (await isCurrent(database, schema, all)) return;
  await requireRights(database, schema);
  const patient = withBudget(database, "migration");
  await locked(patient, schema, async (connection) => {
    if ((await appliedNames(connection, schema, all)).length === 0)
      await prepareCarryOver(connection, schema);
    // Not IF NOT EXISTS: that needs the right to create one even if it exists.
    if (!(await hasSchema(connection, schema))) {
      await connection.query(undistributed);
      await connection.query({ text: `CREATE SCHEMA ${schema}` });
    }
    await connection.query({
      text: schemaText(
        `CREATE TABLE IF NOT EXISTS parley.schema_migration (
          name text PRIMARY KEY, place integer NOT NULL, applied_at timestamp with time zone NOT NULL DEFAULT now())`,
        schema,
      ),
    });
    const applied = await appliedNames(connection, schema, all);
    for (const [place, { name, statements }] of all.entries()) {
      if (applied.includes(name)) continue;
      for (const text of statements) await connection.query({ text: schemaText(text, schema) });
      await note(connection, schema, name, place);
    }
  });
  const inPlace = inSchema(patient, schema);
  for (let isDone = false; !isDone; ) {
    isDone = await locked(inPlace, schema, async (connection) => {
      if ((await appliedNames(connection, schema, all)).includes(carriedOver)) return true;
      const progress = await carryOver(connection, schema, options.rowsAtOnce);
      if (progress === undefined) {
        await note(connection, schema, carriedOver, -1);
        return true;
      }
      options.onProgress?.(progress);
      return false;
    });
  }
}

/** Runs work in a transaction that excludes all other migrations. */
function locked<T>(
  database: Database,
  schema: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return database
    .transaction(async (connection) => {
      await connection.batch(unlimited);
      await connection.query({ text: `SELECT 1 FROM (SELECT pg_advisory_xact_lock(${lockKey})) AS locked` });
      return work(connection);
    })
    .catch((error: unknown) => {
      throw missingRight(error, schema);
    });
}

async function note(connection: Connection, schema: string, name: string, place: number): Promise<void> {
  await connection.query({
    text: schemaText("INSERT INTO parley.schema_migration (name, place) VALUES ($1, $2)", schema),
    values: [name, place],
  });
}

/** Checks without the lock: an ordinary start changes nothing and does not wait. */
export async function isCurrent(
  database: Connection,
  schema: string,
  all: readonly Migration[],
): Promise<boolean> {
  return (await appliedNames(database, schema, all)).length === all.length + 1;
}

async function hasSchema(connection: Connection, schema: string): Promise<boolean> {
  const [row] = await connection.query({
    text: "SELECT 1 AS there FROM pg_catalog.pg_namespace WHERE nspname = $1",
    values: [schema],
  });
  return row !== undefined;
}

/** Returns the migrations that a schema has; none if it does not exist, or holds the tables of an older version. */
async function appliedNames(
  connection: Connection,
  schema: string,
  all: readonly Migration[],
): Promise<string[]> {
  // Not by `to_regclass`: that fails if the role may not use the schema.
  const [known] = await connection.query({
    text: `SELECT 1 AS known FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'schema_migration'`,
    values: [schema],
  });
  if (known === undefined) return [];
  const rows = await connection.query({
    text: schemaText("SELECT name FROM parley.schema_migration ORDER BY place, name", schema),
  });
  const names = rows.map(({ name }) => String(name));
  if (names.includes(firstOlderMigration)) return [];
  const ours = new Set([...all.map(({ name }) => name), carriedOver]);
  const unknown = names.find((name) => !ours.has(name));
  if (unknown === undefined) return names;
  throw new ParleyError(
    "schema_newer",
    `The database has the migration ${unknown}, which this version lacks`,
    { details: { migration: unknown } },
  );
}
