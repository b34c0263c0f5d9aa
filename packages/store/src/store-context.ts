import { createUuidV7Factory, type IdFactory } from "@parley/core/messages";
import type { Database } from "./database.js";
import { defaultSchema, inSchema } from "./in-schema.js";
import type { MigrationProgress } from "./migration/migrations.js";
import { defaultSearchBounds, type SearchBounds } from "./search/search-bounds.js";
import { SearchGate } from "./search/search-gate.js";
import { guardOwners } from "./shards/guard-owners.js";

/** Options of a store, on a database of either kind. */
export interface LogStoreOptions {
  /**
   * The schema of the database that holds the tables, for Parley alone; created by `migrate` if it does not exist.
   * Default `parley`.
   */
  readonly schema?: string;
  /** The largest content of a message, and of any other JSON that is stored whole, in bytes. Default 32 MB. */
  readonly maxBytes?: number;
  readonly ids?: IdFactory;
  /** Called by `migrate` while it copies the rows of an older version: for logs. */
  readonly onMigration?: (progress: MigrationProgress) => void;
  /** Bounds of searches and of their index. */
  readonly search?: Partial<SearchBounds>;
  /** True if the schema is one shard of several: calls are refused for owners that are not in it. Default false. */
  readonly isShard?: boolean;
}

/** Options of a store that shares the connections of its server with other stores of the same process. */
export interface StoreContextOptions extends LogStoreOptions {
  /** Lets the searches of all these stores through. Default: one for this store alone. */
  readonly searchGate?: SearchGate;
}

/** Values that every operation of a store uses. */
export interface StoreContext {
  /** Database whose statements are written for the schema `parley`, even if the schema has another name. */
  readonly database: Database;
  readonly schema: string;
  readonly ids: IdFactory;
  /** The largest content of a message, and of any other JSON, in bytes. */
  readonly maxBytes: number;
  readonly search: SearchBounds;
  readonly searchGate: SearchGate;
  readonly isShard: boolean;
}

/**
 * Returns the same store for calls that concern these owners, named as they are stored: in a shard, only if they are
 * here.
 */
export function forOwners<Context extends Pick<StoreContext, "database" | "isShard">>(
  store: Context,
  owners: readonly string[],
): Context {
  return store.isShard ? { ...store, database: guardOwners(store.database, owners) } : store;
}

/** Creates the context, with defaults for options that are absent. */
export function createStoreContext(database: Database, options: StoreContextOptions): StoreContext {
  const search = { ...defaultSearchBounds, ...options.search };
  const { schema = defaultSchema } = options;
  return {
    database: inSchema(database, schema),
    schema,
    ids: options.ids ?? createUuidV7Factory(),
    maxBytes: options.maxBytes ?? 32 * 2 ** 20,
    search,
    searchGate: options.searchGate ?? new SearchGate(search),
    isShard: options.isShard ?? false,
  };
}
