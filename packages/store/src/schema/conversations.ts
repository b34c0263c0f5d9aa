import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { key, logNumber, moment, parley } from "./columns.js";

/** Numbers logs; see `conversation.log`. Unused numbers leave gaps, which have no meaning. */
export const logNumbers = parley.sequence("log_number");

/** Numbers the changes that watchers are notified of; see `operations/change-number.ts`. */
export const changeNumbers = parley.sequence("conversation_change");

/**
 * One row per log. An id belongs to its owner: the same one under another owner is another conversation. `removed` is a
 * log that lost its name: it is kept as long as a fork shares its rows, and its id can be used again.
 */
export const conversation = parley.table(
  "conversation",
  {
    /**
     * Key of the log's rows: eight bytes in each of them and in the indexes over them, where owner and id take fifty.
     * Assigned by `log_number`. Never changes, is never used again, and never leaves the store and its nodes.
     */
    log: logNumber().primaryKey(),
    owner: key("owner").notNull(),
    id: key("id").notNull(),
    title: text("title").notNull(),
    status: text("status", { enum: ["open", "closed", "removed"] }).notNull(),
    model: text("model"),
    effort: text("effort"),
    instructions: text("instructions"),
    compactThreshold: doublePrecision("compact_threshold"),
    queuePaused: boolean("queue_paused").notNull().default(false),
    metadata: jsonb("metadata"),
    /** True or null, like a setting that is not set. */
    pinned: boolean("pinned"),
    /** Set on a conversation that is deleted when it is no longer used, and on its archives. */
    temporary: boolean("temporary"),
    /** The log that this one continues, and the last seq they have in common. */
    parent: logNumber("parent"),
    parentSeq: integer("parent_seq"),
    /** Ancestor to skip to, past those that have no rows in a page; see `jumpOf` in `operations/reading/lineage.ts`. */
    jump: logNumber("jump"),
    jumpSeq: integer("jump_seq"),
    depth: integer("depth"),
    /**
     * Of an imported fork: the id of its parent and the last shared seq, as they were exported. It has all of its rows
     * itself.
     */
    importedParent: key("imported_parent"),
    importedParentSeq: integer("imported_parent_seq"),
    /** Set on an archive: the log that was compacted. */
    archiveOf: logNumber("archive_of"),
    /** The archive of the compaction in force; 0, which no log has, if that has none. */
    compactedFrom: logNumber("compacted_from"),
    /** Context size of the newest sealed turn that has one, inherited ones included. */
    contextSize: doublePrecision("context_size"),
    /** Model of the newest turn that names one, inherited ones included: the next turn uses it if none is chosen. */
    lastModel: text("last_model"),
    createdAt: moment("created_at").notNull(),
    lastActivityAt: moment("last_activity_at").notNull(),
    updatedAt: moment("updated_at").notNull(),
    /** Number of its last change, assigned by `conversation_change`. */
    changedAt: bigint("changed_at", { mode: "number" }).notNull(),
  },
  (table) => [
    // Both are written twice in every turn, so they hold only what is necessary. Equal times are ordered by id when
    // they are read.
    index("conversation_activity").on(table.owner, table.lastActivityAt),
    // A handful of rows of each owner, so that the others' turns do not write to it.
    index("conversation_pinned").on(table.owner, table.lastActivityAt).where(sql`${table.pinned}`),
    uniqueIndex("conversation_changes").on(table.owner, table.changedAt),
    index("conversation_children").on(table.parent).where(sql`${table.parent} is not null`),
    index("conversation_imported_children")
      .on(table.owner, table.importedParent)
      .where(sql`${table.importedParent} is not null`),
    uniqueIndex("conversation_name").on(table.owner, table.id).where(sql`${table.status} <> 'removed'`),
    // A handful of rows: read by the search for conversations that are no longer used.
    index("conversation_temporary").on(table.log).where(sql`${table.temporary} is not null`),
    // A handful of rows: forks of a removed conversation are listed by it.
    index("conversation_removed").on(table.owner, table.id).where(sql`${table.status} = 'removed'`),
  ],
);

/**
 * Row that every write of a conversation locks. It is narrow, and none of the columns that a turn changes is indexed,
 * so that its updates stay within the page. A log without a name has no head.
 */
export const conversationHead = parley.table(
  "conversation_head",
  {
    log: logNumber().primaryKey(),
    owner: key("owner").notNull(),
    nextSeq: integer("next_seq").notNull(),
    sealedSeq: integer("sealed_seq").notNull(),
    /** Number of the log's own turns. While one is open it is the last of them, so this is its ordinal. */
    turnCount: integer("turn_count").notNull().default(0),
    /** The open turn. */
    turnId: key("turn_id"),
    /** Lease of a manual compaction. Never set together with `turn_id`. */
    compactionId: key("compaction_id"),
    /** Node that holds the turn or the compaction; empty while none does. */
    node: key("node").notNull().default(""),
    /** Fence of the newest lease. Never decreases. */
    fence: integer("fence").notNull().default(0),
    stopRequestedAt: moment("stop_requested_at"),
    /** Time at which the open turn or the compaction began. */
    startedAt: moment("started_at"),
    /** Time of the last written row; later than the conversation's own mark while a turn runs. */
    activeAt: moment("active_at").notNull(),
    /** Time since which the open turn waits for input; no node holds it then. */
    waitingSince: moment("waiting_since"),
  },
  (table) => [
    // Both hold a handful of rows, for a heartbeat and a claim, which must not read all heads.
    index("conversation_head_stopping").on(table.log).where(sql`${table.stopRequestedAt} is not null`),
    index("conversation_head_compacting").on(table.log).where(sql`${table.compactionId} is not null`),
  ],
);

/** The conversation that a chat id represents, if that is not the conversation of this id: the newest of its forks. */
export const branchPointer = parley.table(
  "branch_pointer",
  {
    log: logNumber().notNull(),
    owner: key("owner").notNull(),
    chatId: key("chat_id").notNull(),
  },
  (table) => [
    primaryKey({ name: "branch_pointer_chat", columns: [table.owner, table.chatId] }),
    index("branch_pointer_log").on(table.log),
  ],
);

/**
 * Events of conversations that cannot be seen in their rows: removals and compactions. Nodes that poll for changes read
 * it beside those; heartbeats remove the rows after some minutes, so it holds a handful of rows.
 */
export const conversationNotice = parley.table(
  "conversation_notice",
  {
    owner: key("owner").notNull(),
    /** A number among the owner's changes. */
    changedAt: bigint("changed_at", { mode: "number" }).notNull(),
    kind: text("kind", { enum: ["removed", "compacted"] }).notNull(),
    data: json("data").notNull(),
    notedAt: moment("noted_at").notNull(),
  },
  (table) => [primaryKey({ name: "conversation_notice_change", columns: [table.owner, table.changedAt] })],
);
