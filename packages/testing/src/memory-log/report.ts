import type { WebhookEventType } from "@parley/wire";
import type { Log, MemoryDatabase } from "./database.js";

/** Writes an event for each endpoint of the owner that subscribes to it. */
export function report(
  db: MemoryDatabase,
  log: Log,
  type: WebhookEventType,
  data: Record<string, unknown>,
): void {
  const { owner, number, id: conversationId, title } = log;
  db.reported += 1;
  const createdAt = db.clock.now();
  for (const { id: webhookId, enabled, events } of db.owners.get(owner)?.webhooks.values() ?? []) {
    if (!enabled || !events.includes(type)) continue;
    db.outbox.push({
      owner,
      webhookId,
      number: db.reported,
      place: 0,
      log: number,
      id: `evt_${db.reported}`,
      type,
      data: { conversationId, title, ...data },
      createdAt,
      state: "pending",
      dueAt: createdAt,
      attempts: 0,
      fence: 0,
    });
  }
}
