import { ParleyError } from "@parley/core/errors";
import type { LogStore, NewWebhook, WebhookChange, WebhookRecord } from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { invalid } from "../refusals.js";
import { nowMs } from "../turns/head.js";
import { webhookColumns, webhookOf } from "./webhook-row.js";

/**
 * Adds an endpoint. Two calls that add the last allowed one at the same time may both succeed: the bound is against
 * growth.
 */
export function addWebhook(
  store: StoreContext,
  owner: string,
  webhook: NewWebhook,
): ReturnType<LogStore["addWebhook"]> {
  return store.database.transaction(async (connection) => {
    const known = await find(connection, owner, webhook.id);
    if (known !== undefined) {
      if (known.webhook.url === webhook.url) return { webhook: known.webhook, created: false };
      throw invalid("The id of this webhook is used by another one", { id: webhook.id });
    }
    const [counted] = await connection.query({
      text: "SELECT count(*)::int4 AS webhooks FROM parley.webhook WHERE owner = $1",
      values: [owner],
    });
    if (Number(counted?.webhooks) >= webhook.limit) {
      const { limit } = webhook;
      throw new ParleyError("limit_exceeded", `There are ${limit} webhooks already; remove one first`, {
        details: { limit },
        retryable: false,
      });
    }
    await connection.query({
      text: `INSERT INTO parley.webhook (created_at, owner, id, url, label, events, secret)
        VALUES (${nowMs}, $1, $2, $3, $4, $5::text[], $6)`,
      values: [
        owner,
        storedText(webhook.id),
        storedText(webhook.url),
        storedText(webhook.label),
        webhook.events.map(storedText),
        storedText(webhook.secret),
      ],
    });
    const made = await find(connection, owner, webhook.id);
    if (made === undefined) throw new TypeError("a row that was just written is there");
    return { webhook: made.webhook, created: true };
  });
}

async function find(
  connection: Connection,
  owner: string,
  id: string,
): Promise<{ webhook: WebhookRecord; secret: string } | undefined> {
  const [row] = await connection.query({
    name: "find_webhook",
    text: `SELECT ${webhookColumns}, w.secret FROM parley.webhook w WHERE w.owner = $1 AND w.id = $2`,
    values: [owner, storedText(id)],
  });
  return row === undefined
    ? undefined
    : { webhook: webhookOf(row), secret: originalText(String(row.secret)) };
}

export async function webhooks(store: StoreContext, owner: string): Promise<WebhookRecord[]> {
  const rows = await store.database.query({
    name: "list_webhooks",
    text: `SELECT ${webhookColumns} FROM parley.webhook w WHERE w.owner = $1 ORDER BY w.created_at, w.id`,
    values: [owner],
  });
  return rows.map(webhookOf);
}

export async function findWebhook(
  store: StoreContext,
  owner: string,
  id: string,
): ReturnType<LogStore["findWebhook"]> {
  return (await find(store.database, owner, id)) ?? null;
}

export function changeWebhook(
  store: StoreContext,
  owner: string,
  id: string,
  change: WebhookChange,
): Promise<WebhookRecord | null> {
  const { url, label, events, enabled, keepMs } = change;
  const text = (value: string | undefined) => (value === undefined ? null : storedText(value));
  return store.database.transaction(async (connection) => {
    const [changed] = await connection.query({
      name: "change_webhook",
      text: changeText,
      values: [
        owner,
        storedText(id),
        text(url),
        text(label),
        events === undefined ? null : events.map(storedText),
        enabled ?? null,
      ],
    });
    if (changed === undefined) return null;
    if (enabled === false) {
      await connection.batch([
        disabledStatement(owner, storedText(id), "user"),
        giveUpStatement(owner, storedText(id), keepMs),
      ]);
    }
    return (await find(connection, owner, id))?.webhook ?? null;
  });
}

// Enabling clears earlier failures. `disabledStatement` follows where it disables.
const changeText = `
UPDATE parley.webhook w SET url = coalesce($3, w.url), label = coalesce($4, w.label),
  events = coalesce($5::text[], w.events), enabled = coalesce($6::bool, w.enabled),
  failures = CASE WHEN $6::bool OR $3 IS NOT NULL THEN 0 ELSE w.failures END,
  disabled_at = CASE WHEN $6::bool THEN NULL ELSE w.disabled_at END,
  disabled_reason = CASE WHEN $6::bool THEN NULL ELSE w.disabled_reason END
WHERE w.owner = $1 AND w.id = $2 RETURNING 1 AS changed`;

/**
 * Notes when and why an endpoint was disabled, behind the statement that disabled it in the same transaction. One that
 * was disabled before has a time, and keeps it.
 */
export function disabledStatement(owner: string, id: string, reason: "user" | "gone"): Statement {
  return {
    name: "note_disabled",
    text: `UPDATE parley.webhook SET disabled_at = ${nowMs}, disabled_reason = $3
      WHERE owner = $1 AND id = $2 AND NOT enabled AND disabled_at IS NULL`,
    values: [owner, id, reason],
  };
}

/**
 * Gives up the pending deliveries of a disabled endpoint. One that is enabled keeps them: a late answer may have meant to
 * disable it.
 */
export function giveUpStatement(owner: string, id: string, keepMs: number): Statement {
  return {
    name: "give_up_deliveries",
    text: `UPDATE parley.outbox SET state = 'dead', error = coalesce(error, 'the webhook was disabled'),
        due_at = statement_timestamp() + $3::float8 * interval '1 millisecond'
      WHERE owner = $1 AND webhook = $2 AND state = 'pending'
        AND NOT EXISTS (SELECT FROM parley.webhook w WHERE w.owner = $1 AND w.id = $2 AND w.enabled)`,
    values: [owner, id, keepMs],
  };
}

export async function removeWebhook(store: StoreContext, owner: string, id: string): Promise<boolean> {
  const values = [owner, storedText(id)];
  const [removed = []] = await store.database.batch([
    { text: "DELETE FROM parley.webhook WHERE owner = $1 AND id = $2 RETURNING 1 AS removed", values },
    { text: "DELETE FROM parley.outbox WHERE owner = $1 AND webhook = $2", values },
  ]);
  return removed.length > 0;
}
