import type { OpenUnion } from "../json.js";
import type { WebhookEventType } from "./webhook-event.js";

/** Path parameters of a route to one endpoint. */
export interface WebhookParams {
  readonly id: string;
}

/** An endpoint that events are posted to. Its secret is shown once, when it is created. */
export interface WebhookInfo {
  readonly id: string;
  /** May contain a secret: only an admin sees it. */
  readonly url: string;
  /** Empty if none was given. */
  readonly label: string;
  readonly events: readonly OpenUnion<WebhookEventType>[];
  readonly enabled: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Reason why it is disabled: `user` by a call, `gone` because it answered 410. */
  readonly disabledReason?: OpenUnion<"user" | "gone">;
  /** Epoch milliseconds. */
  readonly disabledAt?: number;
  /** Consecutive failed attempts so far. */
  readonly failures: number;
  /** Deliveries that are still pending, and those that were given up. */
  readonly pending: number;
  readonly dead: number;
}

/** `GET /webhooks`: oldest first. */
export interface WebhooksResponse {
  readonly webhooks: readonly WebhookInfo[];
}

/** `POST /webhooks`. */
export interface CreateWebhookRequest {
  /** A retry with the same id creates no second one. Absent: the server chooses. */
  readonly id?: string | undefined;
  readonly url: string;
  /** Absent: all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly label?: string | undefined;
}

/** The new endpoint. */
export interface CreateWebhookResponse {
  readonly webhook: WebhookInfo;
  /** Verifies received deliveries. It cannot be shown again: absent if the id already existed. */
  readonly secret?: string;
}

/** `PATCH /webhooks/:id`. Omitted fields stay unchanged. */
export interface ChangeWebhookRequest {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly label?: string | undefined;
  /** Disabling gives up pending deliveries; no events are recorded for a disabled endpoint. */
  readonly enabled?: boolean | undefined;
}

/** The current endpoint. */
export interface WebhookResponse {
  readonly webhook: WebhookInfo;
}

/** `DELETE /webhooks/:id`: also deletes its deliveries. Idempotent. */
export interface DeleteWebhookResponse {
  readonly id: string;
  /** False if there was none. */
  readonly removed: boolean;
}

/** `POST /webhooks/:id/test`: one attempt with an event `webhook.test`. */
export interface TestWebhookResponse {
  readonly delivered: boolean;
  /** The status of the response. Absent if there was none. */
  readonly status?: number;
  /** Reason why it was not delivered. */
  readonly error?: string;
  readonly durationMs: number;
}

/** `dead`: given up after too many attempts, or because the endpoint was disabled. */
export type DeliveryState = "pending" | "delivered" | "dead";

/** `GET /webhooks/:id/deliveries`. */
export interface DeliveriesQuery {
  readonly state?: DeliveryState | undefined;
  /** Default 50, at most 500. */
  readonly limit?: number | undefined;
  /** `nextBefore` of the previous page. */
  readonly before?: string | undefined;
}

/** One event to be delivered to one endpoint. */
export interface DeliveryInfo {
  /** Its `webhook-id` header. */
  readonly id: string;
  readonly type: OpenUnion<WebhookEventType>;
  readonly conversationId: string;
  readonly state: DeliveryState;
  /** Time of the event, in epoch milliseconds. */
  readonly createdAt: number;
  readonly attempts: number;
  /** Epoch milliseconds. Absent before the first attempt. */
  readonly attemptedAt?: number;
  /** Epoch milliseconds, while it is pending. */
  readonly nextAttemptAt?: number;
  /** The status of the last response. */
  readonly status?: number;
  /** Reason why the last attempt failed. */
  readonly error?: string;
}

/** Newest first. */
export interface DeliveriesResponse {
  readonly deliveries: readonly DeliveryInfo[];
  /** Absent at the end. */
  readonly nextBefore?: string;
}

/**
 * `POST /webhooks/:id/replay`: delivers again, in order, events that were delivered or given up, as far as
 * they are kept.
 */
export interface ReplayRequest {
  /** Only events since then, in epoch milliseconds. */
  readonly since?: number | undefined;
  /** Only from this delivery on. */
  readonly from?: string | undefined;
  /** Only deliveries in this state. Default: all. */
  readonly state?: "dead" | "delivered" | undefined;
}

export interface ReplayResponse {
  /** Number of deliveries that are repeated. */
  readonly replayed: number;
}
