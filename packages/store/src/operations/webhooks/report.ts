import type { WebhookEventType } from "@parley/wire";
import { changeNumber } from "../numbers.js";
import { nowMs } from "../turns/head.js";

/** A row of the statement that reports an event. All fields are expressions, except the tables of `from`. */
interface ReportedEvent {
  /** The owner of the conversation. */
  readonly owner: string;
  readonly log: string;
  /** Place among the events that the same statement reports. Default 0. */
  readonly place?: string;
  /** Members of the event's data; null ones are left out. */
  readonly data: Readonly<Record<string, string>>;
  /** Tables, as behind FROM. */
  readonly from: string;
  readonly where?: string;
}

/**
 * Returns the clauses of a WITH list that write an event for each subscribed endpoint of the owner, if there is any:
 * `event` and `reported`. They are in the transaction of what they report, after `takeChangeNumber` and the lock of the
 * conversation, so events of a conversation are numbered in the order of their commits. The tables are read in a
 * clause of their own because an engine that distributes the schema refuses an INSERT that reads them and calls a
 * function of the time or of the settings.
 *
 * Alternatives: one row per event and a mark per endpoint need a second table for what failed; a trigger would report
 * what a migration or the doctor writes, too.
 */
export function reportClauses(type: WebhookEventType, event: ReportedEvent): string {
  const { owner, log, place = "0", data, from, where = "true" } = event;
  const members = Object.entries(data).map(([name, value]) => `'${name}', ${value}`);
  return `event AS MATERIALIZED (
  SELECT w.owner, w.id AS webhook, ${place} AS place, ${log} AS log,
    json_strip_nulls(json_build_object(${members.join(", ")})) AS data
  FROM ${from}, parley.webhook w
  WHERE w.owner = ${owner} AND w.enabled AND w.events @> ARRAY['${type}'] AND ${where}
), reported AS (
  INSERT INTO parley.outbox (owner, webhook, number, place, log, id, type, data, state, created_at, due_at)
  SELECT event.owner, event.webhook, ${changeNumber}, event.place, event.log, ${eventId}, '${type}', event.data,
    'pending', ${nowMs}, ${nowMs}
  FROM event RETURNING 1 AS reported
)`;
}

/**
 * The id of an event, the same for every endpoint. The time distinguishes it from what a database had reported before it
 * was restored.
 */
const eventId = `'evt_' || left(encode(sha256(convert_to(
    concat_ws('.', event.log, ${changeNumber}, event.place, date_part('epoch', ${nowMs})), 'UTF8')), 'hex'), 32)`;

/** Returns a time as ISO 8601. */
export function isoTime(moment: string): string {
  return `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
