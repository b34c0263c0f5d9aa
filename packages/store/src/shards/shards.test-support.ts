import { randomBytes } from "node:crypto";
import pg from "pg";
import type { SharedPostgres, TestDatabase } from "../../../../test/harness/postgres.js";
import { numberedShards } from "./numbered-shards.js";
import { type OpenedShards, type OpenShardsOptions, openShards } from "./open-shards.js";
import type { ShardOptions } from "./shard.js";

/** Four shards for tests. */
export interface TestShards {
  readonly urls: readonly string[];
  readonly shards: readonly ShardOptions[];
  open(options?: Partial<OpenShardsOptions>): OpenedShards;
  drop(): Promise<void>;
}

/** Address of a Citus cluster's coordinator, if the machine has one. */
export const citusUrl = process.env.PARLEY_TEST_CITUS_URL;

/** Divides a database of a Citus cluster into four schemas. Citus places them on its servers when they are opened. */
export async function createCitusShards(url: string): Promise<TestShards> {
  const schema = `test_${randomBytes(4).toString("hex")}`;
  const shards = numberedShards({ url, schema, schemas: 4 });
  return {
    urls: [url],
    shards,
    open: (options) => openShards({ shards, ...options }),
    async drop() {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        for (const { schema: each } of shards) await client.query(`DROP SCHEMA IF EXISTS ${each} CASCADE`);
      } finally {
        await client.end();
      }
    },
  };
}

/** Divides one database into four schemas. */
export async function createNumberedShards(postgres: SharedPostgres): Promise<TestShards> {
  const { url, drop } = await postgres.createDatabase();
  const shards = numberedShards({ url, schemas: 4 });
  return { urls: [url], shards, open: (options) => openShards({ shards, ...options }), drop };
}

/** Makes two databases with two schemas each, as two servers would have them. */
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
    shards,
    open: (options) => openShards({ shards, ...options }),
    async drop() {
      await Promise.all(databases.map((database) => database.drop()));
    },
  };
}
