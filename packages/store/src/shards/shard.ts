import type { LogStoreRoot, Wake } from "@parley/core/ports";
import type { Database } from "../database.js";

/** A shard as it is configured. */
export interface ShardOptions {
  /** Name for people, and in the map of owners. It stays the same when the address changes. */
  readonly name: string;
  readonly url: string;
  /** The schema that holds its tables. Default `parley`. */
  readonly schema?: string;
  /** See `OpenPostgresOptions`. The shards of one address share the value of the first of them. */
  readonly listenUrl?: string | false;
  readonly transactionPooler?: boolean;
}

/** A database server: one pool of connections for all its shards. */
export interface ShardServer {
  readonly database: Database;
  readonly wake: Wake;
  readonly shards: readonly Shard[];
}

/** A schema that holds all of some owners. */
export interface Shard {
  readonly name: string;
  readonly schema: string;
  /** Store in this schema. It refuses calls for owners that are not here. */
  readonly store: LogStoreRoot;
  /** Connection for statements that are written for the schema `parley`. */
  readonly database: Database;
  /** Connection for statements that name the schema themselves. */
  readonly server: Database;
}
