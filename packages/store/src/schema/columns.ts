import { bigint, customType, pgSchema, timestamp } from "drizzle-orm/pg-core";

/**
 * Identifiers are compared byte by byte: the same order on every server, independent of its locale, and cheaper than
 * any other collation.
 */
export const key = customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE "C"' });

export const bytea = customType<{ data: Uint8Array; driverData: string }>({ dataType: () => "bytea" });

export const tsvector = customType<{ data: string; driverData: string }>({ dataType: () => "tsvector" });

export const moment = (name: string) => timestamp(name, { withTimezone: true });

/** The number of a log, see `conversation`. */
export const logNumber = (name = "log") => bigint(name, { mode: "number" });

/**
 * The schema of all tables. It is never `public` nor a schema that a search path leads to: statements name it. If
 * another one is configured, `inSchema` replaces this name by that one.
 */
export const parley = pgSchema("parley");
