import type { DeliveryRecord, LogStore } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { deliveryColumns, deliveryOf, readPosition } from "./webhook-row.js";

export async function deliveries(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["deliveries"]>[0],
): Promise<DeliveryRecord[]> {
  const { webhookId, state, before } = query;
  const [number, place] = before === undefined ? [null, null] : readPosition(before);
  const rows = await store.database.query({
    name: "list_deliveries",
    text: `SELECT ${deliveryColumns} FROM parley.outbox o
      WHERE o.owner = $1 AND o.webhook = $2 AND ($3::text IS NULL OR o.state = $3)
        AND ($4::int8 IS NULL OR (o.number, o.place) < ($4::int8, $5::int4))
      ORDER BY o.number DESC, o.place DESC LIMIT $6::int4`,
    values: [
      owner,
      storedText(webhookId),
      state ?? null,
      number,
      place,
      Math.min(Math.max(0, Math.floor(query.limit)), 1_000_000),
    ],
  });
  return rows.map(deliveryOf);
}

/**
 * Makes deliveries pending again. The order of rows is in their numbers, so they are delivered in the order in which
 * they happened.
 */
export async function replayDeliveries(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["replayDeliveries"]>[0],
): Promise<number> {
  const { webhookId, since, from, state } = query;
  const rows = await store.database.query({
    name: "replay_deliveries",
    text: `
WITH start AS (
  SELECT s.number, s.place FROM parley.outbox s WHERE s.owner = $1 AND s.webhook = $2 AND s.id = $4
)
UPDATE parley.outbox o SET state = 'pending', attempts = 0, status = NULL, error = NULL, due_at = statement_timestamp()
WHERE o.owner = $1 AND o.webhook = $2 AND o.state <> 'pending' AND ($5::text IS NULL OR o.state = $5)
  AND ($3::timestamptz IS NULL OR o.created_at >= $3::timestamptz)
  AND ($4::text IS NULL OR (o.number, o.place) >= (SELECT number, place FROM start))
RETURNING 1 AS replayed`,
    values: [
      owner,
      storedText(webhookId),
      since === undefined ? null : new Date(since).toISOString(),
      from === undefined ? null : storedText(from),
      state ?? null,
    ],
  });
  return rows.length;
}
