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
 * Returns the part of a statement that writes an event for each subscribed endpoint of the owner, if there is any. It
 * is in the transaction of what it reports, after `takeChangeNumber` and the lock of the conversation, so events of a
 * conversation are numbered in the order of their commits.
 *
 * Alternatives: one row per event and a mark per endpoint need a second table for what failed; a trigger would report
 * what a migration or the doctor writes, too.
 */
export function reportText(type: WebhookEventType, event: ReportedEvent): string {
  const { owner, log, place = "0", data, from, where = "true" } = event;
  const members = Object.entries(data).map(([name, value]) => `'${name}', ${value}`);
  return `INSERT INTO parley.outbox (owner, webhook, number, place, log, id, type, data, state, created_at, due_at)
  SELECT w.owner, w.id, ${changeNumber}, ${place}, ${log}, ${eventId(log, place)}, '${type}',
    json_strip_nulls(json_build_object(${members.join(", ")})), 'pending', ${nowMs}, ${nowMs}
  FROM ${from}, parley.webhook w
  WHERE w.owner = ${owner} AND w.enabled AND w.events @> ARRAY['${type}'] AND ${where}`;
}

/**
 * Returns the id of an event, the same for every endpoint. The time distinguishes it from what a database had reported
 * before it was restored.
 */
function eventId(log: string, place: string): string {
  const parts = `concat_ws('.', ${log}, ${changeNumber}, ${place}, date_part('epoch', ${nowMs}))`;
  return `'evt_' || left(encode(sha256(convert_to(${parts}, 'UTF8')), 'hex'), 32)`;
}

/** Returns a time as ISO 8601. */
export function isoTime(moment: string): string {
  return `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
