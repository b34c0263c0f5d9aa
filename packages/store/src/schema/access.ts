import { index, jsonb, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { key, moment, parley } from "./columns.js";

export const apiKey = parley.table(
  "api_key",
  {
    id: key("id").primaryKey(),
    owner: key("owner").notNull(),
    hash: text("hash").notNull(),
    prefix: text("prefix").notNull(),
    scopes: text("scopes").array().notNull(),
    createdAt: moment("created_at").notNull(),
    lastUsedAt: moment("last_used_at"),
  },
  (table) => [uniqueIndex("api_key_hash").on(table.hash)],
);

export const login = parley.table(
  "login",
  {
    id: key("id").primaryKey(),
    keyId: key("key_id")
      .notNull()
      .references(() => apiKey.id, { onDelete: "cascade" }),
    owner: key("owner").notNull(),
    hash: text("hash").notNull(),
    createdAt: moment("created_at").notNull(),
    lastUsedAt: moment("last_used_at").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("login_hash").on(table.hash),
    index("login_key").on(table.keyId),
    index("login_expiry").on(table.expiresAt),
  ],
);

/**
 * Encrypted values. The key that opens them is never in the database. The owner is empty if a secret belongs to the
 * installation.
 */
export const secret = parley.table(
  "secret",
  {
    createdAt: moment("created_at").notNull(),
    changedAt: moment("changed_at").notNull(),
    owner: key("owner").notNull(),
    kind: key("kind").notNull(),
    name: key("name").notNull(),
    version: text("version").notNull(),
    /** Plain data that may be shown. */
    facts: jsonb("facts").notNull(),
    sealed: text("sealed").notNull(),
  },
  (table) => [primaryKey({ name: "secret_name", columns: [table.owner, table.kind, table.name] })],
);

/** Current holder of a secret's exclusive work, by the database's clock. */
export const secretHold = parley.table(
  "secret_hold",
  {
    until: moment("until").notNull(),
    owner: key("owner").notNull(),
    kind: key("kind").notNull(),
    name: key("name").notNull(),
    holder: text("holder").notNull(),
  },
  (table) => [primaryKey({ name: "secret_hold_name", columns: [table.owner, table.kind, table.name] })],
);
