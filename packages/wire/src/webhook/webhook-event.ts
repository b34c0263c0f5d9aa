import type { InputDecision, InputKind, InputVia } from "../input/input-entry.js";
import type { OpenUnion } from "../json.js";
import type { TurnReason } from "../log/turn-reason.js";

/** An event that an endpoint can subscribe to. */
export type WebhookEventType = "input.requested" | "input.answered" | "turn.sealed" | "conversation.created";

/** The conversation that an event is about. */
export interface WebhookConversation {
  readonly conversationId: string;
  /** The title at the time of the event; empty if there was none. */
  readonly title: string;
}

/** `input.requested`: a turn asks for input. */
export interface InputRequestedData extends WebhookConversation {
  readonly turnId: string;
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolName: string;
  /** ISO 8601; unanswered by then, it is denied. */
  readonly expiresAt?: string;
}

/** `input.answered`: a request was decided, by a person or program, by expiry or by the end of its turn. */
export interface InputAnsweredData extends WebhookConversation {
  readonly turnId: string;
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolName: string;
  readonly decision: OpenUnion<InputDecision>;
  readonly via: OpenUnion<InputVia>;
}

/** `turn.sealed`: a turn has ended. */
export interface TurnSealedData extends WebhookConversation {
  readonly turnId: string;
  readonly reason: OpenUnion<TurnReason>;
  /** The seqs of the turn. */
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** `conversation.created`: a conversation was created, also by a send, a fork or an import. */
export interface ConversationCreatedData extends WebhookConversation {
  /** Set on a fork. */
  readonly parentId?: string;
}

/** `webhook.test`: sent only when a user tests an endpoint. */
export interface WebhookTestData {
  readonly webhookId: string;
}

interface Event<Type extends string, Data> {
  readonly type: Type;
  /** Time of the event, as ISO 8601. */
  readonly timestamp: string;
  readonly data: Data;
}

/**
 * The body of a delivery. Its `webhook-id` header is the same in every attempt and in a replay: a receiver
 * that has seen it can ignore the delivery. It contains ids and no content; read the rest from the API.
 */
export type WebhookEvent =
  | Event<"input.requested", InputRequestedData>
  | Event<"input.answered", InputAnsweredData>
  | Event<"turn.sealed", TurnSealedData>
  | Event<"conversation.created", ConversationCreatedData>
  | Event<"webhook.test", WebhookTestData>;
