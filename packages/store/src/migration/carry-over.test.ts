import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import type { Connection, Database, Statement } from "../database.js";
import { openLogStore } from "../open-log-store.js";
import { PgliteDatabase } from "../pglite/pglite-database.js";
import { PostgresDatabase } from "../postgres/postgres-database.js";
import { readStore } from "./carried-store.test-support.js";
import { migrate } from "./migrate.js";
import type { MigrationProgress } from "./migrations.js";

const fixtures = new URL("../../test-fixtures/", import.meta.url);
/**
 * A database as left by the last version that had its tables in `public`, and everything that this version read from
 * it.
 */
const dump = readFileSync(new URL("public-schema.sql", fixtures), "utf8");
const reads: unknown = JSON.parse(
  gunzipSync(readFileSync(new URL("public-schema-reads.json.gz", fixtures))).toString(),
  // A batch of the journal named its conversation.
  (key, value: unknown) => (key === "journal" && Array.isArray(value) ? value.map(withoutId) : value),
);

function withoutId({ conversationId: _, ...batch }: Record<string, unknown>): unknown {
  return batch;
}

/** Reads a whole store, without what that version did not have: how the newest turn of a conversation ended. */
async function readAsBefore(root: Parameters<typeof readStore>[0]): Promise<unknown> {
  return JSON.parse(JSON.stringify(await readStore(root)), (key, value: unknown) =>
    key === "lastReason" ? undefined : value,
  );
}

/** Returns a database that stops in the middle of its work, as with a killed process. */
function dyingAt(database: Database, statements: number): Database {
  let left = statements;
  const counted = (connection: Connection): Connection => {
    const check = (given: readonly Statement[]) => {
      left -= given.length;
      if (left < 0) throw new Error("killed");
    };
    return {
      async query(statement) {
        check([statement]);
        return connection.query(statement);
      },
      async batch(given) {
        check(given);
        return connection.batch(given);
      },
    };
  };
  return {
    ...counted(database),
    transaction: (work) => database.transaction((connection) => work(counted(connection))),
    close: () => database.close(),
  };
}

interface Opened {
  readonly database: Database;
  execute(sql: string): Promise<unknown>;
}

function carriesOver(open: () => Promise<Opened>): void {
  it("is read as the version that left it read it, and nothing of it stays where it was", async () => {
    const { database, execute } = await open();
    await execute(dump);
    const progress: MigrationProgress[] = [];
    await migrate(database, { rowsAtOnce: 7, onProgress: (each) => progress.push(each) });
    const root = openLogStore(database);
    expect(await readAsBefore(root)).toEqual(reads);
    const messages = progress.filter(({ table }) => table === "conversation_message");
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.every(({ copied, of }, place) => copied <= of && copied > 7 * place - 7)).toBe(true);
    const left = await database.query({
      text: `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname NOT IN ('parley', 'pg_catalog', 'pg_toast', 'information_schema') AND n.nspname NOT LIKE 'pg_temp%'`,
    });
    expect(left).toEqual([]);
    const [row] = await database.query({ text: "SELECT to_regnamespace('parley_older') IS NULL AS gone" });
    expect(row).toEqual({ gone: true });
    expect(await root.check()).toEqual({ schema: "current" });
    const findings = await root.examine({ fix: false });
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
    expect(findings.filter(({ area }) => area === "journal")).toMatchObject([{ level: "ok" }]);
    // The counters continue after what was carried over.
    const ada = root.forOwner("ada");
    const before = Math.max(...(await ada.list({ limit: 100 })).conversations.map(({ log }) => log));
    const { last } = await ada.changed({ limit: 1 });
    const { conversation } = await ada.create({ id: "new", settings: {} });
    expect(conversation.log).toBeGreaterThan(before);
    expect(conversation.changedAt).toBeGreaterThan(last);
  });

  it("goes on where a process was killed, however often, and loses and doubles nothing", async () => {
    const { database, execute } = await open();
    await execute(dump);
    let kills = 0;
    for (let statements = 3; ; statements += 4) {
      try {
        await migrate(dyingAt(database, statements), { rowsAtOnce: 10 });
        break;
      } catch (error) {
        if (!(error instanceof Error) || !`${error.message} ${error.cause}`.includes("killed")) throw error;
        kills += 1;
        if (kills === 4) {
          expect(await openLogStore(database).check()).toEqual({ schema: "older" });
        }
      }
    }
    expect(kills).toBeGreaterThan(8);
    expect(await readAsBefore(openLogStore(database))).toEqual(reads);
  }, 120_000);

  it("is carried over to another schema, beside tables of the same names that belong to others", async () => {
    const { database, execute } = await open();
    await execute(dump);
    await migrate(database, { schema: "second_name" });
    await execute("CREATE TABLE public.conversation (mine int); CREATE TABLE public.node (mine int)");
    const root = openLogStore(database, { schema: "second_name" });
    expect(await readAsBefore(root)).toEqual(reads);
    const other = openLogStore(database);
    await other.migrate();
    expect((await other.forOwner("ada").list({ limit: 5 })).conversations).toEqual([]);
    await other.forOwner("ada").create({ id: "ada-long", settings: { title: "Another one" } });
    expect(await readAsBefore(root)).toEqual(reads);
  });
}

describeOnPostgres(
  "a database of the version before the schema of its own",
  (postgres) => {
    carriesOver(async () => {
      const made = await postgres.createDatabase();
      const database = new PostgresDatabase({ url: made.url });
      const client = new pg.Client({ connectionString: made.url });
      await client.connect();
      onTestFinished(async () => {
        await client.end();
        await database.close();
        await made.drop();
      });
      return { database, execute: (sql) => client.query(sql) };
    });
  },
  "preferred",
);

describe("a folder of PGlite of the version before the schema of its own", () => {
  carriesOver(async () => {
    const pglite = await PGlite.create();
    onTestFinished(() => pglite.close());
    return { database: new PgliteDatabase(pglite), execute: (sql) => pglite.exec(sql) };
  });
});

describeOnPostgres(
  "a database that belongs to others, too",
  (postgres) => {
    async function opened(): Promise<{ url: string; admin: pg.Client }> {
      const made = await postgres.createDatabase();
      const admin = new pg.Client({ connectionString: made.url });
      await admin.connect();
      onTestFinished(async () => {
        await admin.end();
        await made.drop();
      });
      return { url: made.url, admin };
    }

    it("keeps its own tables of the same names, also one that counts migrations", async () => {
      const { url, admin } = await opened();
      await admin.query(`CREATE TABLE public.conversation (mine int); CREATE TABLE public.node (mine int);
      CREATE TABLE public.schema_migration (version text);
      INSERT INTO public.schema_migration VALUES ('0000_functions'); INSERT INTO public.conversation VALUES (1)`);
      const database = new PostgresDatabase({ url });
      onTestFinished(() => database.close());
      const root = openLogStore(database);
      await root.migrate();
      await root.forOwner("ada").create({ id: "c", settings: {} });
      const { rows } = await admin.query("SELECT mine FROM public.conversation");
      expect(rows).toEqual([{ mine: 1 }]);
      const { rows: path } = await admin.query("SHOW search_path");
      expect(path).toEqual([{ search_path: '"$user", public' }]);
    });

    it("refuses with the right that is missing, and what grants it", async () => {
      const { url, admin } = await opened();
      const role = `role_${crypto.randomUUID().slice(0, 8)}`;
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      onTestFinished(async () => {
        await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      });
      const limited = new URL(url);
      limited.username = role;
      limited.password = "secret";
      const database = new PostgresDatabase({ url: limited.href });
      onTestFinished(() => database.close());
      const name = limited.pathname.slice(1);
      const refused = { code: "store_unavailable", retryable: false, details: { reason: "missing_right" } };
      await expect(migrate(database)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining(`GRANT CREATE ON DATABASE ${name} TO ${role}`),
      });
      await admin.query("CREATE SCHEMA parley");
      await expect(migrate(database)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining(`GRANT USAGE, CREATE ON SCHEMA parley TO ${role}`),
      });
      await admin.query(`GRANT USAGE, CREATE ON SCHEMA parley TO ${role}`);
      await migrate(database);
      await openLogStore(database).forOwner("ada").create({ id: "c", settings: {} });
    });
  },
  "preferred",
);

describe("the name of the schema", () => {
  it.each([
    "public",
    "pg_catalog",
    "information_schema",
    "Upper",
    "with space",
    "1st",
    "",
    'a"b',
    "x".repeat(60),
  ])("%j is refused", (schema) => {
    expect(() => openLogStore({} as Database, { schema })).toThrow("schema");
  });
});
