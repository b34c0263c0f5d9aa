export type { Connection, Database, ResultRow, Statement, StatementValue } from "../database.js";
export type { MigrationProgress } from "../migration/migrations.js";
export type { LogStoreOptions } from "../open-log-store.js";
export { PostgresMemoryStore, type PostgresMemoryStoreOptions } from "../postgres-memory-store.js";
export { type CitusNode, moveSchema } from "../shards/citus.js";
export { openShard } from "../shards/listed-shards.js";
export {
  checkShards,
  findRemovableShards,
  type ShardProblem,
  type ShardSummary,
  summarizeShards,
} from "../shards/moving/check-shards.js";
export {
  type MovedOwner,
  type MoveOwnerOptions,
  type MoveOwnerProgress,
  moveOwner,
} from "../shards/moving/move-owner.js";
export {
  type MovedOwners,
  type MoveOwnersOptions,
  type MoveOwnersProgress,
  moveOwners,
} from "../shards/moving/move-owners.js";
export { type NumberedShardsOptions, numberedShards } from "../shards/numbered-shards.js";
export { type OpenedShards, type OpenShardsOptions, openShards } from "../shards/open-shards.js";
export type { Shard, ShardOptions, ShardServer } from "../shards/shard.js";
export type { ShardMap } from "../shards/shard-map.js";
export { type ShardSet, shardNamed } from "../shards/sharded-store.js";
export { type OpenedPostgres, type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
export type { PostgresDatabaseOptions } from "./postgres-database.js";
export type { PostgresTimeouts } from "./timeouts.js";
