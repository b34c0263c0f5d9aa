import { randomUUID } from "node:crypto";
import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, StatementValue } from "../database.js";
import { originalText } from "../stored-text.js";
import { distributeSchema } from "./citus.js";
import { type ListedShard, listShards } from "./listed-shards.js";
import type { Shard } from "./shard.js";
import { firstNumber, mostShards } from "./shard-numbers.js";
import { dividedStore } from "./undivided.js";

/** Sequences whose numbers are unique in the whole installation. */
const sequences = ["log_number", "blob_number"] as const;

/**
 * Registers the shards with each other, and returns the number of each. The home shard lists all of them. Each one
 * holds its own name and the id of the installation, so a schema that belongs to another installation, or an address
 * under a wrong name, is refused before anything is written to it. So is a schema that has lost its rows: a shard that
 * was registered once always knows its name. Shards whose server is away are left out; `awayOf` returns the reason. They
 * must have been registered before.
 *
 * A store that had one schema becomes the home shard: its owners stay where they are. On Citus, each new schema is
 * distributed.
 */
export async function registerShards(
  home: Shard,
  shards: readonly Shard[],
  awayOf: (shard: Shard) => ParleyError | undefined = () => undefined,
): Promise<ReadonlyMap<string, number>> {
  const id = await home.store.identity(randomUUID());
  const known = await home.database.transaction(async (connection) => {
    await connection.query({ text: "LOCK TABLE parley.shard IN EXCLUSIVE MODE" });
    const listed = await listShards(connection);
    const first = listed.find(({ number }) => number === 0);
    if (listed.length > 0 && first?.name !== home.name) throw wrongHome(home, first?.name);
    if (first === undefined) await refuseRunningNodes(connection);
    const all = new Map(listed.map((shard) => [shard.name, shard]));
    for (const shard of [home, ...shards]) {
      const { name } = shard;
      const away = awayOf(shard);
      if (away !== undefined && (all.get(name)?.state ?? "joining") === "joining") throw away;
      if (all.has(name)) continue;
      const number = Math.max(-1, ...[...all.values()].map((shard) => shard.number)) + 1;
      if (number >= mostShards) throw refusal(`There can be ${mostShards} shards at most`);
      const added: ListedShard = { name, number, home: id, state: "joining" };
      all.set(name, added);
      await addShard(connection, added);
    }
    if (first === undefined) await keepOwners(connection, home.name);
    return all;
  });
  for (const shard of shards) {
    const listed = known.get(shard.name);
    if (listed !== undefined && awayOf(shard) === undefined) await join(home, shard, listed);
  }
  return new Map([...known].map(([name, { number }]) => [name, number]));
}

/** Checks the schema of a registered shard whose server was away when the shards were registered with each other. */
export async function rejoinShard(home: Shard, shard: Shard): Promise<void> {
  const listed = (await listShards(home.database)).find(({ name }) => name === shard.name);
  if (listed !== undefined) await join(home, shard, listed);
}

/** Completes the registration of a shard, if it has not been completed, and checks that its schema is the right one. */
async function join(home: Shard, shard: Shard, listed: ListedShard): Promise<void> {
  const isJoining = listed.state === "joining";
  if (isJoining) await distributeSchema(shard);
  if (shard.name !== home.name) await introduce(shard, listed);
  if (!isJoining) return;
  await home.database.query({
    text: "UPDATE parley.shard SET state = 'open' WHERE name = $1 AND state = 'joining'",
    values: [shard.name],
  });
}

async function addShard(connection: Connection, { name, number, home, state }: ListedShard): Promise<void> {
  const values: StatementValue[] = [name, number, home, state];
  await connection.query({
    text: "INSERT INTO parley.shard (name, number, home, state) VALUES ($1, $2, $3, $4)",
    values,
  });
}

/**
 * Refuses to divide a store on which nodes run: each of them began before the store had shards, and would write owners
 * where the map does not name them. The lock makes a heartbeat wait, which then finds the shards and fails.
 */
async function refuseRunningNodes(connection: Connection): Promise<void> {
  await connection.query({ text: "LOCK TABLE parley.node IN SHARE MODE" });
  const running = await connection.query({
    text: `SELECT id, ceil(date_part('epoch', until - statement_timestamp()))::int4 AS seconds
      FROM parley.node WHERE until > statement_timestamp() ORDER BY id`,
  });
  if (running.length === 0) return;
  const names = running.slice(0, 5).map(({ id }) => originalText(String(id)));
  if (running.length > names.length) names.push(`and ${running.length - names.length} more`);
  const seconds = Math.max(...running.map((node) => Number(node.seconds)));
  throw new ParleyError(
    "store_unavailable",
    `The store is not divided into shards yet, and nodes run on it: ${names.join(", ")}. Stop them all, and try again. ` +
      `Nodes that were killed count for ${seconds} more seconds`,
    { retryable: false, details: { reason: "nodes_running" } },
  );
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

/** Writes the name of a new shard into its schema, or checks the name that is there. */
async function introduce(shard: Shard, { number, home, state }: ListedShard): Promise<void> {
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
    if (state !== "joining") {
      throw refusal(
        `The schema ${shard.schema} configured for the shard ${shard.name} is empty, but this shard exists since earlier. ` +
          "Correct its address or restore its database. A new shard needs a new name",
      );
    }
    const [used] = await connection.query({ text: "SELECT 1 AS used FROM parley.conversation LIMIT 1" });
    if (used !== undefined) {
      throw refusal(
        `The schema ${shard.schema} configured for the shard ${shard.name} holds conversations of a store of its own. ` +
          "Choose an empty schema, or list that store first in store.shards",
      );
    }
    await addShard(connection, { name: shard.name, number, home, state: "open" });
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
  if (listed !== undefined) throw dividedStore();
}
