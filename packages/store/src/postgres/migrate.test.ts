import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { migrate } from "../migration/migrate.js";
import { readMigrations } from "../migration/migrations.js";
import { PostgresDatabase, type PostgresDatabaseOptions } from "./postgres-database.js";

describeOnPostgres("migrations", (postgres) => {
  async function freshDatabase(
    options: Partial<PostgresDatabaseOptions> = {},
  ): Promise<PostgresDatabase & { url: string }> {
    const made = await postgres.createDatabase();
    const database = new PostgresDatabase({ ...options, url: made.url });
    onTestFinished(async () => {
      await database.close();
      await made.drop();
    });
    return Object.assign(database, { url: made.url });
  }

  const applied = async (database: PostgresDatabase) =>
    (await database.query({ text: "SELECT name FROM parley.schema_migration ORDER BY place, name" })).map(
      ({ name }) => name,
    );

  it("are applied once, however often and by however many at once", async () => {
    const database = await freshDatabase();
    await Promise.all(Array.from({ length: 5 }, () => migrate(database)));
    await migrate(database);
    expect(await applied(database)).toEqual([
      "carried_over",
      ...(await readMigrations()).map(({ name }) => name),
    ]);
  });

  it("go on from where an older version left the schema", async () => {
    const database = await freshDatabase();
    const all = await readMigrations();
    await migrate(database, { migrations: all });
    const later = { name: "9999_later", statements: ["CREATE TABLE parley.later (id int)"] };
    await migrate(database, { migrations: [...all, later] });
    expect(await applied(database)).toEqual(["carried_over", ...all.map(({ name }) => name), "9999_later"]);
  });

  it("leave a newer schema alone and say so, also when it becomes newer meanwhile", async () => {
    const database = await freshDatabase();
    const all = await readMigrations();
    const later = { name: "9999_later", statements: ["CREATE TABLE parley.later (id int)"] };
    await migrate(database, { migrations: [...all, later] });
    await expect(migrate(database, { migrations: all })).rejects.toMatchObject({
      code: "schema_newer",
      retryable: false,
      details: { migration: "9999_later" },
    });
    expect(await applied(database)).toHaveLength(all.length + 2);
  });

  it("leave nothing behind when one of them fails", async () => {
    const database = await freshDatabase();
    const all = await readMigrations();
    const broken = [
      ...all,
      { name: "9999_broken", statements: ["CREATE TABLE parley.half (id int)", "SELECT nonsense"] },
    ];
    await expect(migrate(database, { migrations: broken })).rejects.toMatchObject({ code: "internal" });
    const [row] = await database.query({ text: "SELECT to_regclass('parley.half') IS NULL AS clean" });
    expect(row).toEqual({ clean: true });
    await migrate(database, { migrations: all });
  });

  it.each([
    { through: "its own connections", transactionPooler: false },
    { through: "a pooler", transactionPooler: true },
  ])(
    "outlast the limits of ordinary statements, those who wait for them too, through $through",
    async (given) => {
      const statementTimeoutMs = 300;
      const { transactionPooler } = given;
      const database = await freshDatabase({ statementTimeoutMs, transactionPooler });
      const all = await readMigrations();
      await migrate(database, { migrations: all });
      const slow = {
        name: "9999_slow",
        statements: ["SELECT 1 FROM (SELECT pg_advisory_xact_lock(1)) AS locked"],
      };
      const holder = new pg.Client({ connectionString: database.url });
      await holder.connect();
      try {
        await holder.query("SELECT pg_advisory_lock(1)");
        const both = Promise.all([
          migrate(database, { migrations: [...all, slow] }),
          migrate(database, { migrations: [...all, slow] }),
        ]);
        const ended = both.then(
          () => "too early",
          (error: unknown) => error,
        );
        // One of them runs its statement, the other one waits for the lock, both for longer than the limit.
        const waiting = `SELECT count(*)::int4 AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'advisory'
          AND clock_timestamp() - query_start > interval '${statementTimeoutMs * 2} milliseconds'`;
        const look = vi.waitUntil(async () => (await holder.query(waiting)).rows[0].waiting === 2, 20_000);
        expect(await Promise.race([look, ended])).toBe(true);
        await holder.query("SELECT pg_advisory_unlock(1)");
        await both;
      } finally {
        await holder.end();
      }
      expect(await applied(database)).toContain("9999_slow");
      // The limit applies again.
      const long = database.transaction((connection) =>
        connection.query({ text: "SELECT 1 FROM (SELECT pg_sleep(60)) AS slept" }),
      );
      await expect(long).rejects.toMatchObject({ code: "store_unavailable" });
    },
  );
});

describe("the shipped migrations", () => {
  it("bring up the schema that the tables are declared with: generating finds nothing to add", () => {
    const folder = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
    const copy = mkdtempSync(join(tmpdir(), "migrations-"));
    cpSync(join(folder, "migrations"), join(copy, "migrations"), { recursive: true });
    const before = readdirSync(join(copy, "migrations"));
    execFileSync(
      join(folder, "..", "..", "node_modules", ".bin", "drizzle-kit"),
      [
        "generate",
        "--dialect=postgresql",
        `--schema=${join(folder, "src", "schema", "index.ts")}`,
        "--out=migrations",
      ],
      {
        cwd: copy,
        env: { ...process.env, NODE_PATH: join(folder, "..", "..", "node_modules") },
        stdio: "pipe",
      },
    );
    expect(readdirSync(join(copy, "migrations"))).toEqual(before);
  });
});
