import { sql } from "drizzle-orm";
import { boolean, index, integer, json, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import { key, logNumber, moment, parley } from "./columns.js";

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
