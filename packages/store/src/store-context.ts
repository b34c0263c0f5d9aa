import { createUuidV7Factory, type IdFactory } from "@parley/core/messages";
import type { Database } from "./database.js";
import { defaultSearchBounds, type SearchBounds } from "./search/search-bounds.js";
import { SearchGate } from "./search/search-gate.js";

/** What a store holds to, on a database of either kind. */
export interface LogStoreOptions {
  /** The largest content of a message, and of any other JSON that is stored whole, in bytes. Default 32 MB. */
  readonly maxBytes?: number;
  readonly ids?: IdFactory;
  /** Bounds of searches and of their index. */
  readonly search?: Partial<SearchBounds>;
}

/** What every operation of a store has at hand. */
export interface StoreContext {
  readonly database: Database;
  readonly ids: IdFactory;
  /** The largest content of a message, and of any other JSON, in bytes. */
  readonly maxBytes: number;
  readonly search: SearchBounds;
  readonly searchGate: SearchGate;
}

/** Chooses what was not chosen. */
export function createStoreContext(database: Database, options: LogStoreOptions): StoreContext {
  const search = { ...defaultSearchBounds, ...options.search };
  return {
    database,
    ids: options.ids ?? createUuidV7Factory(),
    maxBytes: options.maxBytes ?? 32 * 2 ** 20,
    search,
    searchGate: new SearchGate(search),
  };
}
