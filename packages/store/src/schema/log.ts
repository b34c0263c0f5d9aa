import { sql } from "drizzle-orm";
import {
  bigint,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  primaryKey,
  smallint,
  text,
} from "drizzle-orm/pg-core";
import { key, logNumber, moment, parley } from "./columns.js";

/**
 * The log: one row per message, with one seq per part from `first_seq` on. Rows are never changed.
 *
 * Columns of a fixed size come first, so that nothing is lost to alignment, and ids of 36 characters are in no index:
 * these bytes are paid for every message.
 */
export const conversationMessage = parley.table(
  "conversation_message",
  {
    createdAt: moment("created_at").notNull(),
    /** Key computed by `idKey`. */
    idKey: bigint("id_key", { mode: "bigint" }).notNull(),
    log: logNumber().notNull(),
    firstSeq: integer("first_seq").notNull(),
    partCount: integer("part_count").notNull(),
    /** The ordinal of its turn in the same log. */
    turn: integer("turn"),
    /** Set on a compaction's summary: the seqs that it covers. */
    coversFrom: integer("covers_from"),
    coversTo: integer("covers_to"),
    id: key("id").notNull(),
    role: text("role").notNull(),
    type: text("type").notNull(),
    /** Step as `stepMark` writes it: what follows the turn's id, if it begins with it. */
    step: key("step"),
    /** Set only if the message names its own; the owner is on the conversation. */
    resourceId: text("resource_id"),
    /** Set if its admission started the turn: the row is the receipt. See `operations/receipts.ts`. */
    bodyHash: text("body_hash"),
    content: jsonb("content").notNull(),
    /**
     * Its estimated tokens, and the rule by which they were counted: readers count again what another rule counted.
     * Absent in rows of an earlier version, and if the row represents several messages.
     */
    tokens: integer("tokens"),
    tokenRule: smallint("token_rule"),
  },
  (table) => [
    primaryKey({ name: "conversation_message_place", columns: [table.log, table.firstSeq] }),
    // By the id alone: an append checks whether one is used in any conversation of its owner. It is not unique; a
    // writer has searched for the id under the lock of the head.
    index("conversation_message_id").on(table.idKey),
  ],
);

/** Turns, found by their place in the order, which the head and the messages know, or by their id. */
export const conversationTurn = parley.table(
  "conversation_turn",
  {
    startedAt: moment("started_at").notNull(),
    sealedAt: moment("sealed_at"),
    log: logNumber().notNull(),
    ordinal: integer("ordinal").notNull(),
    firstSeq: integer("first_seq").notNull(),
    lastSeq: integer("last_seq").notNull(),
    /** Fence it was sealed with, and the turn that the same transaction opened: the answer to a repeated seal. */
    sealedFence: integer("sealed_fence"),
    id: key("id").notNull(),
    status: text("status", { enum: ["running", "waiting", "sealed"] }).notNull(),
    reason: text("reason"),
    model: text("model"),
    effort: text("effort"),
    instructions: text("instructions"),
    nextTurnId: key("next_turn_id"),
    // These are written and read as a whole: `json` keeps them as they are, in fewer bytes than `jsonb`.
    /** Set while it runs; afterwards they are in the metrics. */
    steps: json("steps"),
    /** Metrics as `packedMetrics` writes them. */
    metrics: json("metrics"),
    providerCalls: json("provider_calls"),
    /** Of a turn that an engine provided as a whole: its own messages, and its metadata. */
    appended: json("appended"),
    /** The tools of the caller. */
    tools: json("tools"),
    /** Choices of the turn that the store does not read: the data to return, the sender's metadata. */
    otherChoices: json("other_choices"),
    /** Time that it has waited for input, up to the last time that it continued. */
    waitedMs: doublePrecision("waited_ms").notNull().default(0),
  },
  (table) => [
    primaryKey({ name: "conversation_turn_order", columns: [table.log, table.ordinal] }),
    // See `idIs`.
    index("conversation_turn_id").on(sql`hashtextextended(${table.id}, 0)`),
    // Only open turns: a claim walks them, oldest first.
    index("conversation_turn_running").on(table.startedAt).where(sql`${table.status} = 'running'`),
  ],
);

/** The running step's events, one row per batch. Empty once the step's rows are written. */
export const turnJournal = parley.table(
  "turn_journal",
  {
    log: logNumber().notNull(),
    /** The ordinal of its turn. */
    turn: integer("turn").notNull(),
    firstN: integer("first_n").notNull(),
    eventCount: integer("event_count").notNull(),
    /** The fence under which it was written. */
    epoch: integer("epoch").notNull(),
    data: text("data").notNull(),
  },
  (table) => [primaryKey({ name: "turn_journal_place", columns: [table.log, table.turn, table.firstN] })],
);

/** Compactions and their undoing, by the seq of the summary. A fork undoes only for itself what it inherited. */
export const compaction = parley.table(
  "compaction",
  {
    log: logNumber().notNull(),
    seq: integer("seq").notNull(),
    kind: text("kind", { enum: ["made", "undone"] }).notNull(),
    fromSeq: integer("from_seq"),
    toSeq: integer("to_seq"),
    /** Log of its archive. Empty if it was imported: its archive was not. */
    archive: logNumber("archive"),
  },
  (table) => [primaryKey({ name: "compaction_entry", columns: [table.log, table.seq, table.kind] })],
);
