import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  customType,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  numeric,
  pgSchema,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";

/**
 * Identifiers are compared byte by byte: the same order on every server, independent of its locale, and cheaper than
 * any other collation.
 */
const key = customType<{ data: string; driverData: string }>({ dataType: () => 'text COLLATE "C"' });

const bytea = customType<{ data: Uint8Array; driverData: string }>({ dataType: () => "bytea" });

const tsvector = customType<{ data: string; driverData: string }>({ dataType: () => "tsvector" });

const moment = (name: string) => timestamp(name, { withTimezone: true });

/** The number of a log, see `conversation`. */
const logNumber = (name = "log") => bigint(name, { mode: "number" });

/**
 * The schema of all tables. It is never `public` nor a schema that a search path leads to: statements name it. If
 * another one is configured, `inSchema` replaces this name by that one.
 */
export const parley = pgSchema("parley");

/** Numbers logs; see `conversation.log`. Unused numbers leave gaps, which have no meaning. */
export const logNumbers = parley.sequence("log_number");

/** Numbers the changes that watchers are notified of; see `operations/change-number.ts`. */
export const changeNumbers = parley.sequence("conversation_change");

/** Numbers the bytes of files; see `blob.number`. */
export const blobNumbers = parley.sequence("blob_number");

/** Numbers the owners in the search index; see `searchOwner.number`. */
export const searchOwnerNumbers = parley.sequence("search_owner_number");

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

/** Waiting entries. They have the same columns as a message, so that a delivery copies the row. */
export const queuedMessage = parley.table(
  "queued_message",
  {
    log: logNumber().notNull(),
    id: key("id").notNull(),
    rank: integer("rank").notNull(),
    mode: text("mode", { enum: ["steer", "queue"] }).notNull(),
    model: text("model"),
    effort: text("effort"),
    instructions: text("instructions"),
    role: text("role").notNull(),
    type: text("type").notNull(),
    content: jsonb("content").notNull(),
    createdAt: moment("created_at").notNull(),
    resourceId: text("resource_id"),
    partCount: integer("part_count").notNull(),
    queuedAt: moment("queued_at").notNull(),
    /** The tools of the caller. */
    tools: json("tools"),
    /** Choices of the turn that the store does not read: the data to return, the sender's metadata. */
    otherChoices: json("other_choices"),
  },
  (table) => [primaryKey({ name: "queued_message_id", columns: [table.log, table.id] })],
);

/**
 * Requests for input: the authoritative record of what a turn waits for, and how it was decided. The log has an entry
 * for each request and each response; `logged` is true if the response has one.
 */
export const inputRequest = parley.table(
  "input_request",
  {
    createdAt: moment("created_at").notNull(),
    /** Time at which it is denied if it is unanswered. */
    expiresAt: moment("expires_at"),
    decidedAt: moment("decided_at"),
    log: logNumber().notNull(),
    /** The ordinal of its turn, and its place among the requests of that turn. */
    turn: integer("turn").notNull(),
    place: integer("place").notNull(),
    logged: boolean("logged").notNull().default(false),
    /** Set if an approval applies to later calls in the conversation. */
    remember: boolean("remember").notNull().default(false),
    owner: key("owner").notNull(),
    requestId: key("request_id").notNull(),
    step: key("step").notNull(),
    kind: text("kind").notNull(),
    toolCallId: text("tool_call_id").notNull(),
    toolName: text("tool_name").notNull(),
    toolHash: text("tool_hash").notNull(),
    argumentsHash: text("arguments_hash").notNull(),
    argumentsText: text("arguments_text").notNull(),
    reason: text("reason"),
    /** JSON Schema of the answer. */
    schema: json("schema"),
    response: json("response"),
  },
  (table) => [
    primaryKey({ name: "input_request_id", columns: [table.log, table.requestId] }),
    index("input_request_turn").on(table.log, table.turn),
    // Both hold only open requests.
    index("input_request_pending").on(table.owner, table.createdAt).where(sql`${table.response} is null`),
    index("input_request_expiry")
      .on(table.expiresAt)
      .where(sql`${table.response} is null and ${table.expiresAt} is not null`),
  ],
);

/** Standing approvals. Those of a conversation are removed with it. */
export const inputGrant = parley.table(
  "input_grant",
  {
    createdAt: moment("created_at").notNull(),
    /** Set if it applies to one conversation only. */
    log: logNumber(),
    owner: key("owner").notNull(),
    id: key("id").notNull(),
    toolName: text("tool_name").notNull(),
    toolHash: text("tool_hash").notNull(),
    requestId: key("request_id").notNull(),
    /** A `GrantScope` and an `InputActor`. */
    scope: json("scope").notNull(),
    actor: json("actor"),
  },
  (table) => [
    primaryKey({ name: "input_grant_id", columns: [table.owner, table.id] }),
    index("input_grant_log").on(table.log).where(sql`${table.log} is not null`),
  ],
);

/** Endpoints that events are delivered to. */
export const webhook = parley.table(
  "webhook",
  {
    createdAt: moment("created_at").notNull(),
    disabledAt: moment("disabled_at"),
    /** Attempts in a row that failed. */
    failures: integer("failures").notNull().default(0),
    enabled: boolean("enabled").notNull().default(true),
    owner: key("owner").notNull(),
    id: key("id").notNull(),
    url: text("url").notNull(),
    label: text("label").notNull(),
    events: text("events").array().notNull(),
    /** Deliveries are signed with it, so it has to be stored as it is. */
    secret: text("secret").notNull(),
    disabledReason: text("disabled_reason"),
  },
  (table) => [primaryKey({ name: "webhook_id", columns: [table.owner, table.id] })],
);

/**
 * Deliveries: a row for each event and each subscribed endpoint, written in the transaction of what it reports. See
 * `operations/webhooks/report.ts` and `operations/webhooks/outbox.ts`.
 */
export const outbox = parley.table(
  "outbox",
  {
    createdAt: moment("created_at").notNull(),
    /**
     * Time of the next action: the next attempt, the end of a claim, or the end of the time that a settled row is kept.
     */
    dueAt: moment("due_at").notNull(),
    attemptedAt: moment("attempted_at"),
    /** The number of the change that is reported, and the place among the events of that change: the order of rows. */
    number: bigint("number", { mode: "number" }).notNull(),
    log: logNumber().notNull(),
    place: integer("place").notNull(),
    attempts: integer("attempts").notNull().default(0),
    /** Grows with every claim. */
    fence: integer("fence").notNull().default(0),
    /** Status of the last answer. */
    status: integer("status"),
    owner: key("owner").notNull(),
    webhook: key("webhook").notNull(),
    id: key("id").notNull(),
    type: text("type").notNull(),
    state: text("state", { enum: ["pending", "delivered", "dead"] }).notNull(),
    error: text("error"),
    data: json("data").notNull(),
  },
  (table) => [
    primaryKey({ name: "outbox_place", columns: [table.owner, table.webhook, table.number, table.place] }),
    // Each endpoint with something pending is found by a lookup in this index, and so is what is due for it.
    index("outbox_due").on(table.owner, table.webhook, table.dueAt).where(sql`${table.state} = 'pending'`),
    // For the first row of a conversation, and for all rows of one.
    index("outbox_log").on(table.log, table.webhook, table.state, table.number, table.place),
    index("outbox_settled").on(table.dueAt).where(sql`${table.state} <> 'pending'`),
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
 * Answers to client messages that had to wait. One that started its turn at once has its receipt on its own row. See
 * `operations/receipts.ts`.
 */
export const receipt = parley.table(
  "receipt",
  {
    log: logNumber().notNull(),
    messageId: key("message_id").notNull(),
    bodyHash: text("body_hash").notNull(),
    outcome: text("outcome", { enum: ["started", "queued"] }).notNull(),
    turnId: key("turn_id"),
  },
  (table) => [primaryKey({ name: "receipt_message", columns: [table.log, table.messageId] })],
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

/** Time until which each node lives, by the database's clock, and the session in which its process holds a lock. */
export const node = parley.table("node", {
  id: key("id").primaryKey(),
  until: moment("until").notNull(),
  /** Token from `presenceToken`. Null if others cannot see whether the process runs. */
  presence: text("presence"),
});

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
 * Total size of an owner's files. A transaction that adds bytes, finishes an upload or removes bytes locks the row of
 * the owner first, so the sum is exact, and two uploads of the same bytes find each other.
 */
export const fileOwner = parley.table("file_owner", {
  owner: key("owner").primaryKey(),
  bytes: bigint("bytes", { mode: "number" }).notNull().default(0),
  /** Signs addresses of the owner's files. Created with the first one. */
  secret: text("secret"),
});

/**
 * The bytes of a file, once per owner and hash. An upload streams before its hash is known, so its pieces are found by
 * a number; the number is never used again, and a deletion by it cannot hit a later upload of the same bytes.
 */
export const blob = parley.table(
  "blob",
  {
    number: bigint("number", { mode: "number" }).primaryKey(),
    size: bigint("size", { mode: "number" }).notNull().default(0),
    /**
     * Time to check whether anything still refers to it: when its upload expires, or at once if a reference was
     * removed. Null while a message refers to it and nothing has changed.
     */
    checkAt: moment("check_at"),
    owner: key("owner").notNull(),
    /** Null while it is being uploaded. */
    hash: key("hash"),
  },
  (table) => [
    uniqueIndex("blob_hash").on(table.owner, table.hash).where(sql`${table.hash} is not null`),
    index("blob_due").on(table.checkAt).where(sql`${table.checkAt} is not null`),
  ],
);

/** The bytes themselves, `pieceBytes` in each row but the last. Stored outside of the row, and not compressed. */
export const blobPiece = parley.table(
  "blob_piece",
  {
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    n: integer("n").notNull(),
    data: bytea("data").notNull(),
  },
  (table) => [primaryKey({ name: "blob_piece_place", columns: [table.blob, table.n] })],
);

/** Forms of files that were derived from their bytes, as long as these exist. Empty if there is no such form. */
export const derivedFile = parley.table(
  "derived_file",
  {
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    variant: text("variant", { enum: ["thumbnail", "text"] }).notNull(),
    data: bytea("data").notNull(),
  },
  (table) => [primaryKey({ name: "derived_file_place", columns: [table.blob, table.variant] })],
);

/**
 * References of messages to bytes. `queued` is empty for a message of the log; for one that waits it is its id, and
 * `seq` is the place of the part in the message. `part` distinguishes several files of one part.
 */
export const blobRef = parley.table(
  "blob_ref",
  {
    log: logNumber().notNull(),
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    seq: integer("seq").notNull(),
    part: smallint("part").notNull().default(0),
    queued: key("queued").notNull().default(""),
  },
  (table) => [
    primaryKey({ name: "blob_ref_place", columns: [table.log, table.queued, table.seq, table.part] }),
    index("blob_ref_blob").on(table.blob),
  ],
);

/** Uploads: a file is read by its upload until a message refers to it. */
export const upload = parley.table(
  "upload",
  {
    /** Time from which it is unknown. An unfinished one expires when it makes no progress. */
    expiresAt: moment("expires_at").notNull(),
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    isFinished: boolean("is_finished").notNull().default(false),
    owner: key("owner").notNull(),
    id: key("id").notNull(),
    name: text("name").notNull().default(""),
    mediaType: text("media_type").notNull().default(""),
  },
  (table) => [
    primaryKey({ name: "upload_id", columns: [table.owner, table.id] }),
    index("upload_blob").on(table.blob),
  ],
);

/**
 * Bytes that were stored elsewhere and are to be removed there: nothing refers to them. Written by the transaction that
 * removes the blob, and removed once the bytes are.
 */
export const removedBlob = parley.table("removed_blob", {
  number: bigint("number", { mode: "number" }).primaryKey(),
  pieces: integer("pieces").notNull(),
});

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
