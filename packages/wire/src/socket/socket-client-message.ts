import type { RespondRequest } from "../input/input-routes.js";
import type { EnqueueRequest } from "../routes/queue-routes.js";
import type { SendMessageRequest } from "../routes/send-message.js";

/** Everything that a client may say on the socket. One JSON message per frame, told apart by `type`. */
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
 * As `POST /chat`, and subscribes the sender. Answered by `chat.receipt` once the message is durable, or by
 * `chat.error`; a refusal with `turn_active` keeps the subscription.
 */
export interface WsChatSend extends SendMessageRequest {
  readonly type: "chat.send";
}

/**
 * Follow a conversation, across turns. Without a cursor the running turn is replayed from its `user-message`,
 * one delta per part, then live. With one: `chat.snapshot`, then what is missing, then live. No gap, and no
 * repeat that a fold would see.
 */
export interface WsChatSubscribe {
  readonly type: "chat.subscribe";
  readonly conversationId: string;
  /** The newest cursor that the client has seen for this conversation. */
  readonly cursor?: string | undefined;
}

/** Stop following. Never touches a turn. */
export interface WsChatUnsubscribe {
  readonly type: "chat.unsubscribe";
  readonly conversationId: string;
}

/** Queue a message, or open a turn when none runs. As `POST /conversations/:id/queue`; `chat.send` with `ifBusy` does the same. */
export interface WsChatQueue extends EnqueueRequest {
  readonly type: "chat.queue";
  readonly conversationId: string;
}

/** Stop the running turn. As `POST /conversations/:id/stop`; idempotent. */
export interface WsChatStop {
  readonly type: "chat.stop";
  readonly conversationId: string;
}

/** Answers a request. As `POST /conversations/:id/pending/:requestId`; answered by `chat.responded` or `chat.error`. */
export interface WsChatRespond extends RespondRequest {
  readonly type: "chat.respond";
  readonly conversationId: string;
  readonly requestId: string;
}

/** Follow a surface: its spec comes at once, and again whenever it changes. */
export interface WsSurfaceSubscribe {
  readonly type: "subscribe";
  readonly surfaceId: string;
  /** Which one, for a surface that exists per conversation. */
  readonly conversationId?: string | undefined;
}

/** Stop following a surface. */
export interface WsSurfaceUnsubscribe {
  readonly type: "unsubscribe";
  readonly surfaceId: string;
  readonly conversationId?: string | undefined;
}

/** Asks whether the connection still carries anything: answered by `pong`. For clients that cannot see ping frames. */
export interface WsPing {
  readonly type: "ping";
}
