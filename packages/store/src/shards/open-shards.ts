import { invalidField } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { LogStoreRoot, Wake } from "@parley/core/ports";
import { checkSchemaName, defaultSchema, inSchema } from "../in-schema.js";
import { openLogStore } from "../open-log-store.js";
import { checkAddress, type OpenPostgresOptions, searchesWithin, wakeOf } from "../postgres/open-postgres.js";
import { PostgresDatabase } from "../postgres/postgres-database.js";
import { refuseUnannouncedPooler } from "../postgres/recognise-pooler.js";
import { PostgresWake } from "../postgres/wake.js";
import { defaultSearchBounds } from "../search/search-bounds.js";
import { SearchGate } from "../search/search-gate.js";
import { registerShards } from "./register-shards.js";
import type { Shard, ShardOptions, ShardServer } from "./shard.js";
import { ShardMap } from "./shard-map.js";
import { shardOfNumber } from "./shard-numbers.js";
import { openShardedStore, type ShardSet } from "./sharded-store.js";
import { createShardedWake } from "./sharded-wake.js";

/** Options of the shards and of the store on each of them. Limits of connections are those of one server. */
export interface OpenShardsOptions
  extends Omit<OpenPostgresOptions, "url" | "schema" | "listenUrl" | "transactionPooler" | "isShard"> {
  /** The first one is the home shard, which has the keys and the map of owners: it stays the first. */
  readonly shards: readonly ShardOptions[];
}

/** A store on several shards. */
export interface OpenedShards {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** Shards for code that moves owners. Closed with the store. */
  readonly set: ShardSet;
}

/** Form of a shard's name in a command line and in a message. */
const nameForm = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/**
 * Opens the store on the schemas of one or several PostgreSQL servers, each owner in one of them. Connects when first
 * needed: call `store.migrate()` to migrate all schemas and to register the shards with each other. Both have to be
 * closed.
 */
export function openShards(options: OpenShardsOptions): OpenedShards {
  checkShards(options.shards);
  const servers = [...groupByUrl(options.shards)].map((shards) => openServer(options, shards));
  const all = servers.flatMap(({ shards }) => shards);
  const shards = options.shards.flatMap(({ name }) => all.find((shard) => shard.name === name) ?? []);
  const [home] = shards;
  if (home === undefined) throw invalidField("shards", "at least one shard");
  let numbers: ReadonlyMap<string, number> = new Map();
  const set: ShardSet = {
    home,
    shards,
    servers,
    map: new ShardMap(home, shards),
    numberOf: ({ name }) => numbers.get(name),
  };
  const store = openShardedStore(set, async () => {
    await Promise.all(servers.map((server) => server.prepare()));
    numbers = await registerShards(home, shards);
  });
  const serverOfNumber = (number: number) =>
    servers.find((server) => server.shards.some((shard) => numbers.get(shard.name) === number));
  return {
    store,
    set,
    wake: createShardedWake(servers, (log) => serverOfNumber(shardOfNumber(log))),
  };
}

interface OpenedServer extends ShardServer {
  /** Migrates the schemas. */
  prepare(): Promise<void>;
  isConnected(): boolean;
}

function openServer(options: OpenShardsOptions, configured: readonly ShardOptions[]): OpenedServer {
  const [first] = configured;
  if (first === undefined) throw invalidField("shards", "at least one shard");
  const { shards: _, ...shared } = options;
  const { url, transactionPooler, listenUrl } = first;
  const connection: OpenPostgresOptions = {
    ...shared,
    url,
    ...omitUndefined({ transactionPooler, listenUrl, schema: first.schema }),
  };
  const database = new PostgresDatabase(connection);
  const search = { ...searchesWithin(connection), ...options.search };
  // One for all shards of the server: they share its connections.
  const searchGate = new SearchGate({ ...defaultSearchBounds, ...search });
  const shards = configured.map(({ name, schema = defaultSchema }): Shard => {
    const store = openLogStore(database, { ...shared, schema, search, searchGate, isShard: true });
    return { name, schema, store, database: inSchema(database, schema), server: database };
  });
  const wake = wakeOf(connection);
  return {
    database,
    shards,
    wake,
    isConnected: () => !(wake instanceof PostgresWake) || wake.isConnected,
    async prepare() {
      await refuseUnannouncedPooler(database, connection);
      for (const { store } of shards) await store.migrate();
    },
  };
}

function groupByUrl(shards: readonly ShardOptions[]): Iterable<readonly ShardOptions[]> {
  const groups = new Map<string, ShardOptions[]>();
  for (const shard of shards) {
    const group = groups.get(shard.url);
    if (group === undefined) groups.set(shard.url, [shard]);
    else group.push(shard);
  }
  return groups.values();
}

function checkShards(shards: readonly ShardOptions[]): void {
  if (shards.length === 0) throw invalidField("shards", "at least one shard");
  const names = new Set<string>();
  const places = new Set<string>();
  for (const { name, url, schema = defaultSchema, listenUrl } of shards) {
    if (!nameForm.test(name)) throw invalidField("shards.name", "1 to 63 of the characters a-z 0-9 _ -");
    checkAddress("shards.url", url);
    if (typeof listenUrl === "string") checkAddress("shards.listenUrl", listenUrl);
    checkSchemaName(schema);
    if (names.has(name)) throw invalidField("shards.name", `two shards are named ${name}`);
    const place = JSON.stringify([url, schema]);
    if (places.has(place)) throw invalidField("shards.schema", `${name} has the schema of another shard`);
    names.add(name);
    places.add(place);
  }
}
