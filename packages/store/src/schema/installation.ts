import { boolean, integer, numeric, primaryKey, text } from "drizzle-orm/pg-core";
import { key, logNumber, moment, parley } from "./columns.js";

/** Time until which each node lives, by the database's clock, and the session in which its process holds a lock. */
export const node = parley.table("node", {
  id: key("id").primaryKey(),
  until: moment("until").notNull(),
  /** Token from `presenceToken`. Null if others cannot see whether the process runs. */
  presence: text("presence"),
});

/**
 * Tokens and cost of calls that no turn holds: of titles, manual compactions and turns that were not kept, and of turns
 * that were deleted. One row holds counts, under an empty currency, and one for each currency holds money. `log` is 0
 * for calls of no conversation; it may name one that is gone.
 */
export const usageSum = parley.table(
  "usage_sum",
  {
    log: logNumber().notNull(),
    /** Days since 1970, in UTC. */
    day: integer("day").notNull(),
    owner: key("owner").notNull(),
    model: key("model").notNull(),
    currency: key("currency").notNull(),
    calls: numeric("calls").notNull(),
    unknownCalls: numeric("unknown_calls").notNull(),
    inputTokens: numeric("input_tokens").notNull(),
    outputTokens: numeric("output_tokens").notNull(),
    cacheReadTokens: numeric("cache_read_tokens").notNull(),
    cacheWriteTokens: numeric("cache_write_tokens").notNull(),
    reasoningTokens: numeric("reasoning_tokens").notNull(),
    billed: numeric("billed").notNull(),
    estimated: numeric("estimated").notNull(),
  },
  (table) => [
    primaryKey({
      name: "usage_sum_place",
      columns: [table.owner, table.day, table.log, table.model, table.currency],
    }),
  ],
);

/** The one row that names this store among others which keep objects in the same place. */
export const storeIdentity = parley.table("store_identity", {
  single: boolean("single").primaryKey().default(true),
  id: text("id").notNull(),
});

/**
 * The shards of an installation. The home shard, which has the number 0, lists all of them; any other one lists itself.
 * A row is never removed, so that neither its name nor its number is used again. A store that is not sharded has no row.
 */
export const shard = parley.table("shard", {
  name: key("name").primaryKey(),
  /** Start of its numbers of logs and files; see `shards/shard-numbers.ts`. */
  number: integer("number").notNull().unique(),
  /** Identifies the installation: `store_identity` of the home shard. */
  home: text("home").notNull(),
  /**
   * Used only in the home shard. `joining`: the schema of the shard does not name it yet. `closed`: no new owner is
   * placed in it.
   */
  state: text("state", { enum: ["joining", "open", "closed"] })
    .notNull()
    .default("open"),
});

/** Used only in the home shard: the shard that an owner is in. */
export const ownerShard = parley.table("owner_shard", {
  owner: key("owner").primaryKey(),
  shard: key("shard").notNull(),
});

/**
 * The owners that a shard has, or had. Every transaction for an owner checks the row, and one that writes locks it: a
 * node that does not know of a move cannot read or write in the old place. `leaving`: may be read. `arriving`: is being
 * copied to this place, and cannot be used yet.
 */
export const shardOwner = parley.table("shard_owner", {
  owner: key("owner").primaryKey(),
  state: text("state", { enum: ["here", "leaving", "gone", "arriving"] }).notNull(),
  /** The shard on the other side of the last move. */
  peer: text("peer"),
});
