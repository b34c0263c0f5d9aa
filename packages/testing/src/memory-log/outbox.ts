import type { ClaimQuery, ClaimResult, DeliveryClaim, DeliveryOutcome } from "@parley/core/ports";
import type { MemoryDatabase } from "./database.js";
import type { Delivery, Endpoint } from "./delivery.js";
import { disable, positionOf } from "./webhooks.js";

function endpointOf(
  db: MemoryDatabase,
  { owner, webhookId }: Pick<Delivery, "owner" | "webhookId">,
): Endpoint | undefined {
  return db.owners.get(owner)?.webhooks.get(webhookId);
}

/** Returns the pending deliveries of enabled endpoints, the first of each conversation, longest due first. */
function candidates(db: MemoryDatabase): { delivery: Delivery; endpoint: Endpoint }[] {
  const seen = new Set<string>();
  const found: { delivery: Delivery; endpoint: Endpoint }[] = [];
  for (const delivery of db.outbox) {
    const endpoint = endpointOf(db, delivery);
    if (delivery.state !== "pending" || endpoint === undefined || !endpoint.enabled) continue;
    const group = JSON.stringify([delivery.owner, delivery.webhookId, delivery.log]);
    if (seen.has(group)) continue;
    seen.add(group);
    found.push({ delivery, endpoint });
  }
  return found.sort((left, right) => left.delivery.dueAt - right.delivery.dueAt);
}

export function claim(db: MemoryDatabase, query: ClaimQuery): ClaimResult {
  const now = db.clock.now();
  const key = ({ owner, webhookId }: { owner: string; webhookId: string }) =>
    JSON.stringify([owner, webhookId]);
  const taken = new Set(query.except.map(key));
  const deliveries: ClaimResult["deliveries"] = [];
  for (const { delivery, endpoint } of candidates(db)) {
    if (deliveries.length >= query.limit || delivery.dueAt > now) break;
    if (taken.has(key(delivery)) || (query.healthyOnly && endpoint.failures > 0)) continue;
    taken.add(key(delivery));
    delivery.dueAt = now + query.leaseMs;
    delivery.attempts += 1;
    delivery.fence += 1;
    delivery.attemptedAt = now;
    const { owner, webhookId, fence, id, type, data, createdAt, attempts: attempt } = delivery;
    const { url, secret, failures } = endpoint;
    deliveries.push({
      owner,
      webhookId,
      position: positionOf(delivery),
      fence,
      id,
      type,
      data,
      createdAt,
      attempt,
      url,
      secret,
      failures,
    });
  }
  const [first] = candidates(db);
  return {
    deliveries,
    ...(first === undefined ? {} : { nextMs: Math.max(0, first.delivery.dueAt - now) }),
  };
}

export function settle(db: MemoryDatabase, claimed: DeliveryClaim, outcome: DeliveryOutcome): boolean {
  const { owner, webhookId, position, fence } = claimed;
  const found = db.outbox.find(
    (each) => each.owner === owner && each.webhookId === webhookId && positionOf(each) === position,
  );
  if (found?.fence !== fence || found.state !== "pending") return false;
  if (outcome.kind === "released") {
    found.attempts -= 1;
    found.dueAt = db.clock.now();
    return true;
  }
  const { kind, status, error } = outcome;
  delete found.status;
  delete found.error;
  if (status !== undefined) found.status = status;
  if (error !== undefined) found.error = error;
  const waitMs = outcome.kind === "retry" ? outcome.retryMs : outcome.keepMs;
  found.dueAt = db.clock.now() + waitMs;
  if (kind !== "retry") found.state = kind === "delivered" ? "delivered" : "dead";
  const endpoint = endpointOf(db, found);
  if (endpoint === undefined) return true;
  endpoint.failures = kind === "delivered" ? 0 : endpoint.failures + 1;
  if (outcome.kind === "gone") disable(db, owner, endpoint, "gone", outcome.keepMs);
  return true;
}

export function owners(db: MemoryDatabase): string[] {
  return [...db.owners].flatMap(([owner, { webhooks }]) =>
    [...webhooks.values()].some(({ enabled }) => enabled) ? [owner] : [],
  );
}

export function sweep(db: MemoryDatabase, limit: number): number {
  const now = db.clock.now();
  const over = db.outbox.filter(({ state, dueAt }) => state !== "pending" && dueAt <= now);
  const removed = new Set(over.slice(0, Math.max(0, limit)));
  db.outbox = db.outbox.filter((each) => !removed.has(each));
  return removed.size;
}
