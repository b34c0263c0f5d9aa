import { omitUndefined } from "@parley/core/messages";
import type { DeliveryRecord, WebhookRecord } from "@parley/core/ports";
import type { DeliveryState } from "@parley/wire";
import { originalJson, originalText } from "../../stored-text.js";
import { invalid } from "../refusals.js";

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

/** The columns of an endpoint, of the table `w`, without its secret. */
export const webhookColumns = `w.id, w.url, w.label, array_to_json(w.events)::text AS events, w.enabled, w.failures,
  w.disabled_reason, ${ms("w.created_at")} AS created_ms, ${ms("w.disabled_at")} AS disabled_ms,
  (SELECT count(*)::int4 FROM parley.outbox o WHERE o.owner = w.owner AND o.webhook = w.id AND o.state = 'pending')
    AS pending,
  (SELECT count(*)::int4 FROM parley.outbox o WHERE o.owner = w.owner AND o.webhook = w.id AND o.state = 'dead') AS dead`;

/** Returns the endpoint that a row of `webhookColumns` holds. */
export function webhookOf(row: Record<string, unknown>): WebhookRecord {
  const reason = typeof row.disabled_reason === "string" ? originalText(row.disabled_reason) : undefined;
  return {
    id: originalText(String(row.id)),
    url: originalText(String(row.url)),
    label: originalText(String(row.label)),
    events: (JSON.parse(String(row.events)) as string[]).map(originalText),
    enabled: row.enabled === true,
    createdAt: Math.round(Number(row.created_ms)),
    failures: Number(row.failures),
    pending: Number(row.pending),
    dead: Number(row.dead),
    ...omitUndefined({ disabledReason: reason, disabledAt: instant(row.disabled_ms) }),
  };
}

/** The columns of a delivery, of the table `o`. */
export const deliveryColumns = `o.id, o.number::float8 AS number, o.place, o.type, o.data::text AS data, o.state, o.attempts,
  o.status, o.error, ${ms("o.created_at")} AS created_ms, ${ms("o.attempted_at")} AS attempted_ms,
  ${ms("o.due_at")} AS due_ms`;

/** Returns the delivery that a row of `deliveryColumns` holds. */
export function deliveryOf(row: Record<string, unknown>): DeliveryRecord {
  const data = originalJson(String(row.data)) as { conversationId?: string };
  const state = String(row.state) as DeliveryState;
  return {
    id: String(row.id),
    position: positionOf(row),
    type: String(row.type),
    conversationId: data.conversationId ?? "",
    state,
    createdAt: Math.round(Number(row.created_ms)),
    attempts: Number(row.attempts),
    ...omitUndefined({
      attemptedAt: instant(row.attempted_ms),
      nextAttemptAt: state === "pending" ? instant(row.due_ms) : undefined,
      status: typeof row.status === "number" ? row.status : undefined,
      error: typeof row.error === "string" ? originalText(row.error) : undefined,
    }),
  };
}

/** Returns the place of a delivery in the order of its endpoint. */
export function positionOf(row: Record<string, unknown>): string {
  return `${String(row.number)}.${String(row.place)}`;
}

/** Reads the number and the place that `positionOf` wrote. */
export function readPosition(position: string): [number: number, place: number] {
  const [, number = "", place = ""] = /^(\d{1,15})\.(\d{1,9})$/.exec(position) ?? [];
  if (number === "") throw invalid("before: not a position of a delivery");
  return [Number(number), Number(place)];
}

function instant(ms: unknown): number | undefined {
  return ms === null || ms === undefined ? undefined : Math.round(Number(ms));
}
