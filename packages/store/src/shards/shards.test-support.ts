import { randomBytes } from "node:crypto";
import pg from "pg";
import type { SharedPostgres, TestDatabase } from "../../../../test/harness/postgres.js";
import { type OpenedShards, type OpenShardsOptions, openShards } from "./open-shards.js";

/** Two databases with two schemas each, as two servers would have them. */
export interface TestShards {
  readonly urls: readonly string[];
  open(options?: Partial<OpenShardsOptions>): OpenedShards;
  drop(): Promise<void>;
}

/** Address of a Citus cluster's coordinator, if the machine has one. */
export const citusUrl = process.env.PARLEY_TEST_CITUS_URL;

/** Makes four schemas that Citus places on the servers of its cluster. */
export async function createCitusShards(url: string): Promise<TestShards> {
  const prefix = `test_${randomBytes(4).toString("hex")}`;
  const schemas = ["a", "b", "c", "d"].map((name) => ({ name, url, schema: `${prefix}_${name}` }));
  const execute = async (text: (schema: string) => string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      for (const { schema } of schemas) await client.query(text(schema));
    } finally {
      await client.end();
    }
  };
  const first = openShards({ shards: schemas });
  await first.store.migrate();
  await first.wake.close?.();
  await first.store.close();
  await execute((schema) => `SELECT citus_schema_distribute('${schema}')`);
  return {
    urls: [url],
    open: (options) => openShards({ shards: schemas, ...options }),
    drop: () => execute((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`),
  };
}

/** Makes the databases of four shards. */
export async function createTestShards(postgres: SharedPostgres): Promise<TestShards> {
  const databases: TestDatabase[] = [await postgres.createDatabase(), await postgres.createDatabase()];
  const [first = "", second = ""] = databases.map(({ url }) => url);
  const shards = [
    { name: "a", url: first },
    { name: "b", url: second },
    { name: "c", url: first, schema: "parley_c" },
    { name: "d", url: second, schema: "parley_d" },
  ];
  return {
    urls: [first, second],
    open: (options) => openShards({ shards, ...options }),
    async drop() {
      await Promise.all(databases.map((database) => database.drop()));
    },
  };
}
