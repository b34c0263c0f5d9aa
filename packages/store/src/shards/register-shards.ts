import { randomUUID } from "node:crypto";
import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, StatementValue } from "../database.js";
import type { Shard } from "./shard.js";
import { firstNumber, mostShards } from "./shard-numbers.js";

/** Sequences whose numbers are unique in the whole installation. */
const sequences = ["log_number", "blob_number"] as const;

/**
 * Registers the shards with each other, and returns the number of each. The home shard lists all of them. Each one
 * holds its own name and the id of the installation, so a schema that belongs to another installation, or an address
 * under a wrong name, is refused before anything is written to it.
 *
 * A store that had one schema becomes the home shard: its owners stay where they are.
 */
export async function registerShards(
  home: Shard,
  shards: readonly Shard[],
): Promise<ReadonlyMap<string, number>> {
  const id = await home.store.identity(randomUUID());
  const numbers = await home.database.transaction(async (connection) => {
    await connection.query({ text: "LOCK TABLE parley.shard IN EXCLUSIVE MODE" });
    const listed = await listShards(connection);
    const first = listed.find(({ number }) => number === 0);
    if (listed.length > 0 && first?.name !== home.name) throw wrongHome(home, first?.name);
    const known = new Map(listed.map(({ name, number }) => [name, number]));
    for (const { name } of [home, ...shards]) {
      if (known.has(name)) continue;
      const number = known.size;
      if (number >= mostShards) throw refusal(`There can be ${mostShards} shards at most`);
      known.set(name, number);
      await addShard(connection, { name, number, home: id });
    }
    if (first === undefined) await keepOwners(connection, home.name);
    return known;
  });
  for (const shard of shards) {
    if (shard.name !== home.name) await introduce(shard, { number: numbers.get(shard.name) ?? 0, home: id });
  }
  return numbers;
}

/** Lists the shards that a schema knows. */
async function listShards(
  database: Pick<Database, "query">,
): Promise<{ name: string; number: number; home: string }[]> {
  const rows = await database.query({ text: "SELECT name, number, home FROM parley.shard ORDER BY number" });
  return rows.map(({ name, number, home }) => ({
    name: String(name),
    number: Number(number),
    home: String(home),
  }));
}

async function addShard(
  connection: Connection,
  { name, number, home }: { readonly name: string; readonly number: number; readonly home: string },
): Promise<void> {
  const values: StatementValue[] = [name, number, home];
  await connection.query({
    text: "INSERT INTO parley.shard (name, number, home) VALUES ($1, $2, $3)",
    values,
  });
}

/** Assigns the owners that a store had before it became the home shard. */
async function keepOwners(connection: Connection, name: string): Promise<void> {
  const tables = await connection.query({
    text: `SELECT c.relname::text AS name FROM pg_catalog.pg_attribute a
      JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
      JOIN pg_catalog.pg_attribute s ON s.attname = 'owner' AND s.attrelid = 'parley.conversation'::regclass
      WHERE a.attname = 'owner' AND a.atttypid = s.atttypid
        AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = 'parley.conversation'::regclass)
        AND c.relname NOT IN ('api_key', 'login', 'secret', 'secret_hold', 'owner_shard', 'shard_owner')
      ORDER BY c.relname`,
  });
  const owners = tables.map((table) => `SELECT owner FROM parley.${String(table.name)}`).join(" UNION ");
  await connection.query({
    text: `INSERT INTO parley.owner_shard (owner, shard) SELECT owner, $1 FROM (${owners}) AS found
      ON CONFLICT (owner) DO NOTHING`,
    values: [name],
  });
  await connection.query({
    text: `INSERT INTO parley.shard_owner (owner, state) SELECT owner, 'here' FROM parley.owner_shard
      ON CONFLICT (owner) DO NOTHING`,
  });
}

async function introduce(
  shard: Shard,
  { number, home }: { readonly number: number; readonly home: string },
): Promise<void> {
  await shard.database.transaction(async (connection) => {
    await connection.query({ text: "LOCK TABLE parley.shard IN EXCLUSIVE MODE" });
    const [self, other] = await listShards(connection);
    if (self !== undefined) {
      if (other === undefined && self.name === shard.name && self.home === home) return;
      throw refusal(
        self.home === home
          ? `The schema ${shard.schema} configured for the shard ${shard.name} is the shard ${self.name}. Correct store.shards`
          : `The schema ${shard.schema} configured for the shard ${shard.name} belongs to another installation. Choose another schema`,
      );
    }
    const [used] = await connection.query({ text: "SELECT 1 AS used FROM parley.conversation LIMIT 1" });
    if (used !== undefined) {
      throw refusal(
        `The schema ${shard.schema} configured for the shard ${shard.name} holds conversations of a store of its own. ` +
          "Choose an empty schema, or list that store first in store.shards",
      );
    }
    await addShard(connection, { name: shard.name, number, home });
    for (const sequence of sequences) {
      await connection.query({
        text: `SELECT setval('parley.${sequence}', $1::int8)::float8 AS moved`,
        values: [firstNumber(number)],
      });
    }
  });
}

function wrongHome({ name }: Shard, before: string | undefined): ParleyError {
  return refusal(
    `The first shard in the configuration is ${name}, but this installation began with ${before ?? "another one"}, which ` +
      "holds the keys and the map of owners. List that one first in store.shards",
  );
}

function refusal(message: string): ParleyError {
  return new ParleyError("store_unavailable", message, {
    retryable: false,
    details: { reason: "wrong_shards" },
  });
}

/** Refuses a shard that is opened as if it were the whole store. */
export async function refuseShard(database: Database): Promise<void> {
  const [listed] = await listShards(database);
  if (listed === undefined) return;
  throw refusal("The store is divided into shards. Name all of them in store.shards, as the other nodes do");
}
