import type { RespondRequest } from "../input/input-routes.js";
import type { EnqueueRequest } from "../routes/queue-routes.js";
import type { SendMessageRequest } from "../routes/send-message.js";

/** A message from a client on the socket. One JSON message per frame, discriminated by `type`. */
export type WsClientMessage =
  | WsChatSend
  | WsChatSubscribe
  | WsChatUnsubscribe
  | WsChatQueue
  | WsChatStop
  | WsChatRespond
  | WsSurfaceSubscribe
  | WsSurfaceUnsubscribe
  | WsPing;

/**
 * As `POST /chat`, and subscribes the sender. The response is `chat.receipt` once the message is durable, or
 * `chat.error`; a refusal with `turn_active` keeps the subscription.
 */
export interface WsChatSend extends SendMessageRequest {
  readonly type: "chat.send";
  /**
   * Start of the subscription, as in `chat.subscribe`; an existing subscription is kept. `0` for a client whose message
   * creates the conversation: it receives the whole state, and has nothing to load.
   */
  readonly cursor?: string | undefined;
}

/**
 * Subscribes to a conversation, across turns. Without a cursor the running turn is replayed from its
 * `user-message`, one delta per part, then live. With one: `chat.snapshot`, then what is missing, then live.
 * No gaps, and no repetition that a fold would see.
 */
export interface WsChatSubscribe {
  readonly type: "chat.subscribe";
  readonly conversationId: string;
  /** The newest cursor that the client has seen for this conversation. */
  readonly cursor?: string | undefined;
}

/** Ends a subscription. Never affects a turn. */
export interface WsChatUnsubscribe {
  readonly type: "chat.unsubscribe";
  readonly conversationId: string;
}

/**
 * Queues a message, or opens a turn if none runs. As `POST /conversations/:id/queue`; `chat.send` with
 * `ifBusy` does the same.
 */
export interface WsChatQueue extends EnqueueRequest {
  readonly type: "chat.queue";
  readonly conversationId: string;
}

/** Stops the running turn. As `POST /conversations/:id/stop`; idempotent. */
export interface WsChatStop {
  readonly type: "chat.stop";
  readonly conversationId: string;
}

/**
 * Answers a request. As `POST /conversations/:id/pending/:requestId`; the response is `chat.responded` or
 * `chat.error`.
 */
export interface WsChatRespond extends RespondRequest {
  readonly type: "chat.respond";
  readonly conversationId: string;
  readonly requestId: string;
}

/** Subscribes to a surface: its spec is sent at once, and again whenever it changes. */
export interface WsSurfaceSubscribe {
  readonly type: "subscribe";
  readonly surfaceId: string;
  /** The conversation, for a surface that exists per conversation. */
  readonly conversationId?: string | undefined;
}

/** Ends the subscription to a surface. */
export interface WsSurfaceUnsubscribe {
  readonly type: "unsubscribe";
  readonly surfaceId: string;
  readonly conversationId?: string | undefined;
}

/**
 * Tests whether the connection still works: the response is `pong`. For clients that cannot see ping frames.
 */
export interface WsPing {
  readonly type: "ping";
}
