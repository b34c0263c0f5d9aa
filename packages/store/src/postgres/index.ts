export type { LogStoreOptions } from "../open-log-store.js";
export { type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
export type { PostgresDatabaseOptions } from "./postgres-database.js";
