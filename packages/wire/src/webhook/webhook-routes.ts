import type { OpenUnion } from "../json.js";
import type { WebhookEventType } from "./webhook-event.js";

/** The path parameters of a route to one endpoint. */
export interface WebhookParams {
  readonly id: string;
}

/** An endpoint that events are posted to. Its secret is shown once, when it is made. */
export interface WebhookInfo {
  readonly id: string;
  /** May hold a secret of its own: only an admin sees it. */
  readonly url: string;
  /** Empty where none was given. */
  readonly label: string;
  readonly events: readonly OpenUnion<WebhookEventType>[];
  readonly enabled: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Why it is disabled: `user` by a call, `gone` because it answered 410. */
  readonly disabledReason?: OpenUnion<"user" | "gone">;
  /** Epoch milliseconds. */
  readonly disabledAt?: number;
  /** Attempts in a row that failed, up to now. */
  readonly failures: number;
  /** Deliveries that are still to be made, and those that were given up. */
  readonly pending: number;
  readonly dead: number;
}

/** `GET /webhooks`: oldest first. */
export interface WebhooksResponse {
  readonly webhooks: readonly WebhookInfo[];
}

/** `POST /webhooks`. */
export interface CreateWebhookRequest {
  /** A retry with the same id makes no second one. Absent: the server chooses. */
  readonly id?: string | undefined;
  readonly url: string;
  /** Absent: all of them. */
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly label?: string | undefined;
}

/** The new endpoint. */
export interface CreateWebhookResponse {
  readonly webhook: WebhookInfo;
  /** Verifies what it receives. It cannot be shown again: absent where the id was there already. */
  readonly secret?: string;
}

/** `PATCH /webhooks/:id`. What is left out stays. */
export interface ChangeWebhookRequest {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly label?: string | undefined;
  /** Disabling gives up what is still to be delivered; nothing is recorded for an endpoint that is disabled. */
  readonly enabled?: boolean | undefined;
}

/** The endpoint as it is now. */
export interface WebhookResponse {
  readonly webhook: WebhookInfo;
}

/** `DELETE /webhooks/:id`: what it was to receive goes with it. Idempotent. */
export interface DeleteWebhookResponse {
  readonly id: string;
  /** False when there was none. */
  readonly removed: boolean;
}

/** `POST /webhooks/:id/test`: one attempt with an event `webhook.test`. */
export interface TestWebhookResponse {
  readonly delivered: boolean;
  /** The status of the answer. Absent where there was none. */
  readonly status?: number;
  /** Why it was not delivered. */
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
  /** `nextBefore` of the page before. */
  readonly before?: string | undefined;
}

/** One event on its way to one endpoint. */
export interface DeliveryInfo {
  /** The `webhook-id` that it is sent with. */
  readonly id: string;
  readonly type: OpenUnion<WebhookEventType>;
  readonly conversationId: string;
  readonly state: DeliveryState;
  /** When the event happened, in epoch milliseconds. */
  readonly createdAt: number;
  readonly attempts: number;
  /** Epoch milliseconds. Absent before the first attempt. */
  readonly attemptedAt?: number;
  /** Epoch milliseconds, while it is pending. */
  readonly nextAttemptAt?: number;
  /** The status of the last answer. */
  readonly status?: number;
  /** Why the last attempt failed. */
  readonly error?: string;
}

/** Newest first. */
export interface DeliveriesResponse {
  readonly deliveries: readonly DeliveryInfo[];
  /** Absent at the end. */
  readonly nextBefore?: string;
}

/** `POST /webhooks/:id/replay`: delivers again, in order, what has been delivered or given up, as far as it is kept. */
export interface ReplayRequest {
  /** Only what happened from then on, in epoch milliseconds. */
  readonly since?: number | undefined;
  /** Only from this delivery on. */
  readonly from?: string | undefined;
  /** Only what was given up. Default: everything. */
  readonly state?: "dead" | "delivered" | undefined;
}

export interface ReplayResponse {
  /** How many deliveries are made again. */
  readonly replayed: number;
}
