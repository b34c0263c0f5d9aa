import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, json, primaryKey, text } from "drizzle-orm/pg-core";
import { key, logNumber, moment, parley } from "./columns.js";

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
