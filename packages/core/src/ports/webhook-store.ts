import type { DeliveryState, OpenUnion, WebhookEventType } from "@parley/wire";
import type { ConversationId } from "../messages/message.js";

/** An endpoint as it is stored, without its secret. */
export interface WebhookRecord {
  id: string;
  url: string;
  /** Empty if none was given. */
  label: string;
  events: OpenUnion<WebhookEventType>[];
  enabled: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  disabledReason?: OpenUnion<"user" | "gone">;
  disabledAt?: number;
  /** Attempts in a row that failed. */
  failures: number;
  /** Number of pending deliveries, and of those that were given up. */
  pending: number;
  dead: number;
}

/** An endpoint to be added. */
export interface NewWebhook {
  id: string;
  url: string;
  label: string;
  events: OpenUnion<WebhookEventType>[];
  /** Kept as it is: deliveries are signed with it. */
  secret: string;
  /** Maximum number of endpoints of the owner. `limit_exceeded` */
  limit: number;
}

/** A change of an endpoint. Disabling gives up its pending deliveries, which are kept for `keepMs`. */
export interface WebhookChange {
  url?: string;
  label?: string;
  events?: OpenUnion<WebhookEventType>[];
  enabled?: boolean;
  keepMs: number;
}

/** One event for one endpoint, as the outbox has it. */
export interface DeliveryRecord {
  id: string;
  /** The place among the deliveries of its endpoint, for the next page. */
  position: string;
  type: OpenUnion<WebhookEventType>;
  conversationId: ConversationId;
  state: DeliveryState;
  createdAt: number;
  attempts: number;
  attemptedAt?: number;
  /** Set while it is pending. */
  nextAttemptAt?: number;
  status?: number;
  error?: string;
}

/** Identifies a claimed delivery: a claim that another node has taken over settles nothing. */
export interface DeliveryClaim {
  owner: string;
  webhookId: string;
  position: string;
  /** Grows with every claim. */
  fence: number;
}

/** A delivery that a node has claimed, with everything that an attempt needs. */
export interface ClaimedDelivery extends DeliveryClaim {
  id: string;
  type: OpenUnion<WebhookEventType>;
  data: Record<string, unknown>;
  /** Time of the event, in epoch milliseconds. */
  createdAt: number;
  /** 1 for the first. */
  attempt: number;
  url: string;
  secret: string;
  /** Attempts in a row of the endpoint that failed before this one. */
  failures: number;
}

/** A node's request to the outbox. */
export interface ClaimQuery {
  /** Maximum number of deliveries in total; of one endpoint at most one. */
  limit: number;
  /** After that time the claim can be taken over, by the store's clock. */
  leaseMs: number;
  /** Endpoints that currently get no more from this node. */
  except: { owner: string; webhookId: string }[];
  /** Leaves out endpoints whose last attempt failed. */
  healthyOnly: boolean;
}

/** The claimed deliveries, and the time after which to claim again without a notification. */
export interface ClaimResult {
  deliveries: ClaimedDelivery[];
  /** Milliseconds until the next delivery is due. Absent: nothing is pending. */
  nextMs?: number;
}

/**
 * Result of an attempt. `delivered` and `dead` are kept for `keepMs`. `gone` also disables the endpoint and gives up
 * its pending deliveries. `released`: there was no attempt, and the claim is released.
 */
export type DeliveryOutcome =
  | ({ status?: number; error?: string } & (
      | { kind: "delivered" | "dead" | "gone"; keepMs: number }
      | { kind: "retry"; retryMs: number }
    ))
  | { kind: "released" };

/**
 * One owner's endpoints and their deliveries. An event is written for every enabled endpoint of the owner that
 * subscribes to its type, in the transaction of what it reports: `commitStep` and `addInputs` (`input.requested`),
 * `respond`, `expireInputs` and seals (`input.answered`), seals (`turn.sealed`), and all methods that create a
 * conversation that is not an archive (`conversation.created`). The same call again writes nothing. Removing a
 * conversation removes its events.
 */
export interface WebhookStore {
  /**
   * Adds an endpoint. The same id and address again change nothing; the id with another address is `invalid_request`.
   */
  addWebhook(webhook: NewWebhook): Promise<{ webhook: WebhookRecord; created: boolean }>;
  /** Lists endpoints, oldest first. */
  webhooks(): Promise<WebhookRecord[]>;
  /** Returns the endpoint with its secret; null for an unknown one. */
  findWebhook(id: string): Promise<{ webhook: WebhookRecord; secret: string } | null>;
  /** Changes an endpoint. Returns null for an unknown one. */
  changeWebhook(id: string, change: WebhookChange): Promise<WebhookRecord | null>;
  /** Removes its deliveries with it. Returns false if there was none. */
  removeWebhook(id: string): Promise<boolean>;
  /** Lists deliveries, newest first. */
  deliveries(query: {
    webhookId: string;
    state?: DeliveryState;
    limit: number;
    before?: string;
  }): Promise<DeliveryRecord[]>;
  /** Makes deliveries that were delivered or given up pending again, in their order, and returns their number. */
  replayDeliveries(query: {
    webhookId: string;
    /** Epoch milliseconds. */
    since?: number;
    /** The id of a delivery. */
    from?: string;
    state?: "delivered" | "dead";
  }): Promise<number>;
}

/** The outbox of all owners, for nodes. */
export interface OutboxStore {
  /**
   * Claims due deliveries, of each endpoint the longest due one that is first in its conversation: deliveries that
   * follow one of the same conversation to the same endpoint wait until that is delivered or given up. A claim that
   * is not settled within its lease can be made again by any node.
   */
  claim(query: ClaimQuery): Promise<ClaimResult>;
  /** Records the result of an attempt. Returns false if the claim was lost. */
  settle(claim: DeliveryClaim, outcome: DeliveryOutcome): Promise<boolean>;
  /** Owners with an enabled endpoint. */
  owners(): Promise<string[]>;
  /**
   * Removes settled deliveries after their retention time, at most `limit`, and gives up those of disabled endpoints.
   */
  sweep(limit: number): Promise<number>;
}
