import { invalidField } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { LogStoreRoot, MemoryStore, Wake } from "@parley/core/ports";
import pg from "pg";
import type { Database } from "../database.js";
import { checkSchemaName, defaultSchema } from "../in-schema.js";
import { type LogStoreOptions, openLogStore } from "../open-log-store.js";
import { createLocalWake } from "../pglite/local-wake.js";
import { PostgresMemoryStore } from "../postgres-memory-store.js";
import { defaultSearchBounds, type SearchBounds } from "../search/search-bounds.js";
import { defaultConnections, PostgresDatabase, type PostgresDatabaseOptions } from "./postgres-database.js";
import { refuseUnannouncedPooler } from "./recognise-pooler.js";
import { timeoutsOf } from "./timeouts.js";
import { PostgresWake } from "./wake.js";

/** Options of the connection to the database, of the store, and of the nodes' listening. */
export interface OpenPostgresOptions extends PostgresDatabaseOptions, LogStoreOptions {
  /**
   * Address to listen at for other nodes' news: a direct connection, if `url` leads to a pooler that hands out
   * connections per transaction. `false`: none; nodes then find news by polling. Default: `url`, or none with
   * `transactionPooler`.
   */
  readonly listenUrl?: string | false;
}

/** A store on PostgreSQL and its parts. */
export interface OpenedPostgres {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** Connections of the store, for a `PostgresMemoryStore` beside it. Closed with the store. */
  readonly database: Database;
  /** Creates an owner's store of canonical messages, over the same log. Closed with the store. */
  readonly memoryStore: (owner: string) => MemoryStore;
}

/**
 * Opens the store on PostgreSQL 15 or newer, and the wake-up between its nodes. Connects when first needed: call
 * `store.migrate()` to migrate the schema. Both have to be closed.
 */
export function openPostgres(options: OpenPostgresOptions): OpenedPostgres {
  const { url, listenUrl } = options;
  checkAddress("url", url);
  if (typeof listenUrl === "string") checkAddress("listenUrl", listenUrl);
  checkSchemaName(options.schema ?? defaultSchema);
  const database = new PostgresDatabase(options);
  const store = openLogStore(database, {
    ...options,
    search: { ...searchesWithin(options), ...options.search },
  });
  return {
    database,
    store: {
      ...store,
      async migrate() {
        await refuseUnannouncedPooler(database, options);
        await store.migrate();
      },
    },
    memoryStore: (owner) =>
      new PostgresMemoryStore(database, {
        owner,
        ...omitUndefined({ maxBytes: options.maxBytes, schema: options.schema }),
      }),
    wake: wakeOf(options),
  };
}

/** Creates the wake-up between nodes, through the address at which they listen. */
export function wakeOf(options: OpenPostgresOptions): Wake {
  const { url, driver, transactionPooler = false, schema } = options;
  const listenUrl = options.listenUrl ?? (transactionPooler ? false : url);
  if (listenUrl === false) return createLocalWake();
  return new PostgresWake({ ...timeoutsOf(options), url: listenUrl, ...omitUndefined({ driver, schema }) });
}

/** Limits searches to half of the connections at most, however few there are. */
export function searchesWithin({
  maxConnections = defaultConnections,
}: PostgresDatabaseOptions): Partial<SearchBounds> {
  const { atOnce, perOwner } = defaultSearchBounds;
  const most = Math.max(1, Math.min(atOnce, Math.floor(maxConnections / 2)));
  return { atOnce: most, perOwner: Math.min(perOwner, most) };
}

/** Refuses an invalid address before anything is opened. The driver's own error may reveal its contents. */
export function checkAddress(field: string, url: string): void {
  try {
    new pg.Client({ connectionString: url });
  } catch {
    throw invalidField(
      field,
      "not the address of a PostgreSQL server, such as postgres://user@host:5432/database (one host)",
    );
  }
}
