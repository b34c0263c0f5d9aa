import type { LogNumber, WebhookRecord } from "@parley/core/ports";
import type { DeliveryState, WebhookEventType } from "@parley/wire";

/** An endpoint of an owner, without the fields that are counted when it is read. */
export interface Endpoint extends Omit<WebhookRecord, "pending" | "dead"> {
  readonly secret: string;
}

/** One event for one endpoint. */
export interface Delivery {
  readonly owner: string;
  readonly webhookId: string;
  readonly number: number;
  readonly place: number;
  readonly log: LogNumber;
  readonly id: string;
  readonly type: WebhookEventType;
  readonly data: Record<string, unknown>;
  readonly createdAt: number;
  state: DeliveryState;
  dueAt: number;
  attempts: number;
  fence: number;
  attemptedAt?: number;
  status?: number;
  error?: string;
}
