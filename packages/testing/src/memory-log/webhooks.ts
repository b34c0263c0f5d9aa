import { ParleyError } from "@parley/core/errors";
import type { DeliveryRecord, LogStore, NewWebhook, WebhookChange, WebhookRecord } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { invalid, type MemoryDatabase, ownerOf } from "./database.js";
import type { Delivery, Endpoint } from "./delivery.js";

/** Returns an endpoint as readers see it. */
function recordOf(db: MemoryDatabase, owner: string, endpoint: Endpoint): WebhookRecord {
  const { secret: _, ...record } = endpoint;
  const count = (state: string) => deliveriesOf(db, owner, record.id).filter((each) => each.state === state);
  return { ...record, pending: count("pending").length, dead: count("dead").length };
}

function deliveriesOf(db: MemoryDatabase, owner: string, webhookId: string): Delivery[] {
  return db.outbox.filter((each) => each.owner === owner && each.webhookId === webhookId);
}

export function addWebhook(
  db: MemoryDatabase,
  owner: string,
  webhook: NewWebhook,
): Awaited<ReturnType<LogStore["addWebhook"]>> {
  const { webhooks: known } = ownerOf(db, owner);
  const { limit, ...given } = webhook;
  const before = known.get(given.id);
  if (before !== undefined) {
    if (before.url === given.url) return { webhook: recordOf(db, owner, before), created: false };
    throw invalid("The id of this webhook is used by another one", { id: given.id });
  }
  if (known.size >= limit) {
    throw new ParleyError("limit_exceeded", `There are ${limit} webhooks already; remove one first`, {
      details: { limit },
      retryable: false,
    });
  }
  const endpoint: Endpoint = { ...given, enabled: true, createdAt: db.clock.now(), failures: 0 };
  known.set(given.id, endpoint);
  return { webhook: recordOf(db, owner, endpoint), created: true };
}

export function webhooks(db: MemoryDatabase, owner: string): WebhookRecord[] {
  return [...ownerOf(db, owner).webhooks.values()].map((each) => recordOf(db, owner, each));
}

export function findWebhook(
  db: MemoryDatabase,
  owner: string,
  id: string,
): Awaited<ReturnType<LogStore["findWebhook"]>> {
  const found = ownerOf(db, owner).webhooks.get(id);
  return found === undefined ? null : { webhook: recordOf(db, owner, found), secret: found.secret };
}

export function changeWebhook(
  db: MemoryDatabase,
  owner: string,
  id: string,
  change: WebhookChange,
): WebhookRecord | null {
  const found = ownerOf(db, owner).webhooks.get(id);
  if (found === undefined) return null;
  const { keepMs, enabled, ...given } = change;
  Object.assign(found, omitUndefined(given));
  if (enabled === true || given.url !== undefined) found.failures = 0;
  if (enabled === true) {
    found.enabled = true;
    delete found.disabledAt;
    delete found.disabledReason;
  }
  if (enabled === false) disable(db, owner, found, "user", keepMs);
  return recordOf(db, owner, found);
}

/** Disables an endpoint, and gives up its pending deliveries. */
export function disable(
  db: MemoryDatabase,
  owner: string,
  endpoint: Endpoint,
  reason: string,
  keepMs: number,
): void {
  if (endpoint.enabled) {
    Object.assign(endpoint, { enabled: false, disabledAt: db.clock.now(), disabledReason: reason });
  }
  for (const each of deliveriesOf(db, owner, endpoint.id)) {
    if (each.state !== "pending") continue;
    each.state = "dead";
    each.error ??= "the webhook was disabled";
    each.dueAt = db.clock.now() + keepMs;
  }
}

export function removeWebhook(db: MemoryDatabase, owner: string, id: string): boolean {
  db.outbox = db.outbox.filter((each) => each.owner !== owner || each.webhookId !== id);
  return ownerOf(db, owner).webhooks.delete(id);
}

/** Returns the place of a delivery in the order of its endpoint. */
export function positionOf({ number, place }: Delivery): string {
  return `${number}.${place}`;
}

export function deliveries(
  db: MemoryDatabase,
  owner: string,
  { webhookId, state, limit, before }: Parameters<LogStore["deliveries"]>[0],
): DeliveryRecord[] {
  if (before !== undefined && !/^\d+\.\d+$/.test(before))
    throw invalid("before: not a position of a delivery");
  const end = before === undefined ? Number.POSITIVE_INFINITY : Number.parseInt(before, 10);
  return deliveriesOf(db, owner, webhookId)
    .filter((each) => (state === undefined || each.state === state) && each.number < end)
    .reverse()
    .slice(0, Math.max(0, limit))
    .map(deliveryRecord);
}

function deliveryRecord(delivery: Delivery): DeliveryRecord {
  const { id, type, data, state, createdAt, attempts, attemptedAt, dueAt, status, error } = delivery;
  return {
    id,
    position: positionOf(delivery),
    type,
    conversationId: String(data.conversationId),
    state,
    createdAt,
    attempts,
    ...omitUndefined({ attemptedAt, status, error }),
    ...(state === "pending" ? { nextAttemptAt: dueAt } : {}),
  };
}

export function replayDeliveries(
  db: MemoryDatabase,
  owner: string,
  { webhookId, since, from, state }: Parameters<LogStore["replayDeliveries"]>[0],
): number {
  const all = deliveriesOf(db, owner, webhookId);
  const first = from === undefined ? 0 : all.find(({ id }) => id === from)?.number;
  if (first === undefined) return 0;
  const chosen = all.filter(
    (each) =>
      each.state !== "pending" &&
      each.number >= first &&
      (state === undefined || each.state === state) &&
      (since === undefined || each.createdAt >= since),
  );
  for (const each of chosen) {
    Object.assign(each, { state: "pending", attempts: 0, dueAt: db.clock.now() });
    delete each.status;
    delete each.error;
  }
  return chosen.length;
}
