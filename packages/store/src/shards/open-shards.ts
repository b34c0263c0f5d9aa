import { invalidField, isParleyError, ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { LogStoreRoot, Wake } from "@parley/core/ports";
import type { Database } from "../database.js";
import { checkSchemaName, defaultSchema, inSchema } from "../in-schema.js";
import { openLogStore } from "../open-log-store.js";
import { checkAddress, type OpenPostgresOptions, searchesWithin, wakeOf } from "../postgres/open-postgres.js";
import { PostgresDatabase } from "../postgres/postgres-database.js";
import { refuseUnannouncedPooler } from "../postgres/recognise-pooler.js";
import { timeoutsOf } from "../postgres/timeouts.js";
import { PostgresWake } from "../postgres/wake.js";
import { defaultSearchBounds } from "../search/search-bounds.js";
import { SearchGate } from "../search/search-gate.js";
import { hasCitus } from "./citus.js";
import { LateDatabase } from "./late-database.js";
import { registerShards, rejoinShard } from "./register-shards.js";
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
  /**
   * Lets `migrate` resolve while servers of shards that were registered earlier do not answer, and is called for each of
   * them. Their schemas are migrated and checked when they answer again. Absent: all servers must answer.
   */
  readonly onAway?: (names: readonly string[], error: ParleyError) => void;
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
    const away = await prepareAll(servers, options.onAway !== undefined);
    const serverOf = (shard: Shard) => servers.find((server) => server.shards.includes(shard));
    numbers = await registerShards(home, shards, (shard) => {
      const server = serverOf(shard);
      return server === undefined ? undefined : away.get(server);
    });
    for (const [server, error] of away) {
      server.prepareLate(home);
      options.onAway?.(
        server.shards.map(({ name }) => name),
        error,
      );
    }
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
  /** Lets the next call migrate the schemas and check that they are the right ones. */
  prepareLate(home: Shard): void;
  isConnected(): boolean;
}

/** Prepares all servers. Returns those that do not answer, where that is allowed, and their errors. */
async function prepareAll(
  servers: readonly OpenedServer[],
  mayBeAway: boolean,
): Promise<ReadonlyMap<OpenedServer, ParleyError>> {
  const away = new Map<OpenedServer, ParleyError>();
  await Promise.all(
    servers.map(async (server, index) => {
      try {
        await server.prepare();
      } catch (error) {
        if (!isParleyError(error)) throw error;
        const failure = withShardNames(error, server.shards);
        const isAway = error.code === "store_unavailable" && error.retryable;
        // Nothing works without the first server, which has the map of owners.
        if (index === 0 || !isAway || !mayBeAway) throw failure;
        away.set(server, failure);
      }
    }),
  );
  return away;
}

/** Returns the error with the names of the shards whose server it is about. */
function withShardNames(error: ParleyError, shards: readonly Shard[]): ParleyError {
  const names = shards.map(({ name }) => name).join(", ");
  const { code, retryable, details, cause } = error;
  return new ParleyError(code, `${shards.length === 1 ? "Shard" : "Shards"} ${names}: ${error.message}`, {
    retryable,
    cause,
    ...omitUndefined({ details }),
  });
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
  const direct = new PostgresDatabase(connection);
  const database = new LateDatabase(direct, timeoutsOf(connection).connectTimeoutMs);
  const search = { ...searchesWithin(connection), ...options.search };
  // One for all shards of the server: they share its connections.
  const searchGate = new SearchGate({ ...defaultSearchBounds, ...search });
  const shardsOn = (server: Database) =>
    configured.map(({ name, schema = defaultSchema }): Shard => {
      const store = openLogStore(server, { ...shared, schema, search, searchGate, isShard: true });
      return { name, schema, store, database: inSchema(server, schema), server };
    });
  const shards = shardsOn(database);
  const wake = wakeOf(connection);
  const migrate = async (those: readonly Shard[]) => {
    await refuseUnannouncedPooler(direct, connection);
    if (await hasCitus(direct)) direct.assumeForwarding();
    for (const { store } of those) await store.migrate();
  };
  return {
    database,
    shards,
    wake,
    isConnected: () => !(wake instanceof PostgresWake) || wake.isConnected,
    prepare: () => migrate(shards),
    prepareLate(home) {
      database.prepareWith(async () => {
        const late = shardsOn(direct);
        await migrate(late);
        for (const shard of late) await rejoinShard(home, shard);
      });
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
