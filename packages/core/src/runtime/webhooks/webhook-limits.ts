const dayMs = 24 * 60 * 60_000;

/** Limits of webhooks and of their delivery by one node. */
export interface WebhookLimits {
  /** Endpoints of one owner. `limit_exceeded` */
  readonly perOwner: number;
  /** Attempts before a delivery is given up. */
  readonly attempts: number;
  /** Maximum time for an endpoint's answer, its body included. */
  readonly timeoutMs: number;
  /** Bytes of an answer that are read. Only its status matters. */
  readonly responseBytes: number;
  /** Attempts at once. Endpoints that are failing get at most half of them. */
  readonly concurrency: number;
  /** Attempts at once to one endpoint; to one that is failing, one. */
  readonly perWebhook: number;
  /** Time that a delivery is kept for a replay after its success. */
  readonly keepDeliveredMs: number;
  /** Time that a delivery is kept for a replay after it was given up. */
  readonly keepDeadMs: number;
  /** The time beyond `timeoutMs` after which another node may make an attempt again: it covers the store's calls. */
  readonly leaseMarginMs: number;
  /** Interval at which the outbox is checked without a notification. */
  readonly sweepMs: number;
}

/** Default limits of webhooks. With the waits of the transport, 15 attempts take about a day. */
export const defaultWebhookLimits: WebhookLimits = {
  perOwner: 20,
  attempts: 15,
  timeoutMs: 15_000,
  responseBytes: 64_000,
  concurrency: 32,
  perWebhook: 4,
  keepDeliveredMs: 3 * dayMs,
  keepDeadMs: 30 * dayMs,
  leaseMarginMs: 15_000,
  sweepMs: 10_000,
};
