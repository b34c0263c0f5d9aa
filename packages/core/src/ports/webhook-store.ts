import type { DeliveryState, OpenUnion, WebhookEventType } from "@parley/wire";
import type { ConversationId } from "../messages/message.js";

/** An endpoint as it is kept, without its secret. */
export interface WebhookRecord {
  id: string;
  url: string;
  /** Empty where none was given. */
  label: string;
  events: OpenUnion<WebhookEventType>[];
  enabled: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  disabledReason?: OpenUnion<"user" | "gone">;
  disabledAt?: number;
  /** Attempts in a row that failed. */
  failures: number;
  /** Deliveries that are pending, and those that were given up. */
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
  /** The most endpoints that the owner may have. `limit_exceeded` */
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
  /** While it is pending. */
  nextAttemptAt?: number;
  status?: number;
  error?: string;
}

/** Identifies a claimed delivery: a claim that somebody else has taken over settles nothing. */
export interface DeliveryClaim {
  owner: string;
  webhookId: string;
  position: string;
  /** Grows with every claim. */
  fence: number;
}

/** A delivery that a node has claimed, with all that an attempt needs. */
export interface ClaimedDelivery extends DeliveryClaim {
  id: string;
  type: OpenUnion<WebhookEventType>;
  data: Record<string, unknown>;
  /** When the event happened, in epoch milliseconds. */
  createdAt: number;
  /** 1 for the first. */
  attempt: number;
  url: string;
  secret: string;
  /** Attempts in a row of the endpoint that failed before this one. */
  failures: number;
}

/** What a node asks the outbox for. */
export interface ClaimQuery {
  /** The most deliveries in all; of one endpoint at most one. */
  limit: number;
  /** After that time the claim can be taken over, by the store's clock. */
  leaseMs: number;
  /** Endpoints that get no more from this node at the moment. */
  except: { owner: string; webhookId: string }[];
  /** Leaves out endpoints whose last attempt failed. */
  healthyOnly: boolean;
}

/** The claimed deliveries, and when it is worth asking again without being told. */
export interface ClaimResult {
  deliveries: ClaimedDelivery[];
  /** Milliseconds until the next delivery is due. Absent: nothing is pending. */
  nextMs?: number;
}

/**
 * How an attempt ended. `delivered` and `dead` are kept for `keepMs`. `gone` also disables the endpoint and gives up what
 * is pending for it. `released`: there was none, and the claim is given back.
 */
export type DeliveryOutcome =
  | ({ status?: number; error?: string } & (
      | { kind: "delivered" | "dead" | "gone"; keepMs: number }
      | { kind: "retry"; retryMs: number }
    ))
  | { kind: "released" };

/**
 * One owner's endpoints and what they are to receive. An event is written for every enabled endpoint of the owner that
 * asks for its type, in the transaction of what it reports: `commitStep` and `addInputs` (`input.requested`), `respond`, `expireInputs`
 * and seals (`input.answered`), seals (`turn.sealed`), and whatever makes a conversation that is no archive
 * (`conversation.created`). The same call again writes nothing. Removing a conversation takes its events with it.
 */
export interface WebhookStore {
  /** The same id and address again change nothing; the id with another address is `invalid_request`. */
  addWebhook(webhook: NewWebhook): Promise<{ webhook: WebhookRecord; created: boolean }>;
  /** Oldest first. */
  webhooks(): Promise<WebhookRecord[]>;
  /** The endpoint with its secret; null for an unknown one. */
  findWebhook(id: string): Promise<{ webhook: WebhookRecord; secret: string } | null>;
  /** Null for an unknown one. */
  changeWebhook(id: string, change: WebhookChange): Promise<WebhookRecord | null>;
  /** Takes its deliveries with it. Returns false where there was none. */
  removeWebhook(id: string): Promise<boolean>;
  /** Newest first. */
  deliveries(query: {
    webhookId: string;
    state?: DeliveryState;
    limit: number;
    before?: string;
  }): Promise<DeliveryRecord[]>;
  /** Makes what was delivered or given up pending again, in its order, and returns how many. */
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
   * Claims deliveries that are due, of each endpoint the longest due one that is first in its conversation: what stands
   * behind a delivery of the same conversation to the same endpoint waits until that is delivered or given up. A claim
   * that is not settled within its lease can be made again by anybody.
   */
  claim(query: ClaimQuery): Promise<ClaimResult>;
  /** Writes down how an attempt ended. Returns false where the claim was lost. */
  settle(claim: DeliveryClaim, outcome: DeliveryOutcome): Promise<boolean>;
  /** Owners with an enabled endpoint. */
  owners(): Promise<string[]>;
  /** Removes settled deliveries whose time is over, at most `limit`, and gives up those of disabled endpoints. */
  sweep(limit: number): Promise<number>;
}
