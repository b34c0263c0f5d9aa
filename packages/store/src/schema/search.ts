import { bigint, index, integer, primaryKey, uniqueIndex } from "drizzle-orm/pg-core";
import { key, logNumber, parley, tsvector } from "./columns.js";

/** Numbers the owners in the search index; see `searchOwner.number`. */
export const searchOwnerNumbers = parley.sequence("search_owner_number");

/**
 * Progress of each owner's conversations in the search index; see `operations/searching/index-search.ts`. A transaction
 * that adds to the index, or removes from it, holds the row of the owner.
 */
export const searchOwner = parley.table(
  "search_owner",
  {
    /** Prefix of the owner's terms. */
    number: integer("number").primaryKey(),
    owner: key("owner").notNull(),
    /** Conversations whose last change is no later are in the index, in their state at that time. */
    through: bigint("through", { mode: "number" }).notNull().default(0),
    /** Logs among them with an open turn, to which rows are added without a change. */
    open: logNumber("open").array().notNull().default([]),
  },
  (table) => [uniqueIndex("search_owner_name").on(table.owner)],
);

/**
 * The search index: a row for each message that has text, and one with the seq 0 for the title of a conversation. The
 * last message that was read of a log always has a row: it shows how far the log is indexed.
 *
 * Each term begins with the number of its owner. In the index over them every owner has separate lists, and no search
 * reads, or takes time for, another's. Alternatives: rows of (owner, term, message) take a row and an index entry for
 * each term; lists of messages by term have to be merged as they grow; hashes of terms are smaller and know no
 * prefixes; a column of the owner in the index of terms needs an extension.
 */
export const searchEntry = parley.table(
  "search_entry",
  {
    createdMs: bigint("created_ms", { mode: "number" }).notNull(),
    owner: integer("owner").notNull(),
    log: logNumber().notNull(),
    firstSeq: integer("first_seq").notNull(),
    words: tsvector("words").notNull(),
  },
  (table) => [
    primaryKey({ name: "search_entry_place", columns: [table.log, table.firstSeq] }),
    index("search_entry_newest").on(table.owner, table.createdMs, table.firstSeq, table.log),
    index("search_entry_words").using("gin", table.words),
  ],
);
