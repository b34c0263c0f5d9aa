export type { Connection, Database, ResultRow, Statement, StatementValue } from "../database.js";
export type { MigrationProgress } from "../migration/migrations.js";
export type { LogStoreOptions } from "../open-log-store.js";
export { PostgresMemoryStore, type PostgresMemoryStoreOptions } from "../postgres-memory-store.js";
export { type OpenedPostgres, type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
export type { PostgresDatabaseOptions } from "./postgres-database.js";
export type { PostgresTimeouts } from "./timeouts.js";
