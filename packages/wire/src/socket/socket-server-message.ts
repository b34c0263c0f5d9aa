import type { ConversationMeta, ConversationStatus } from "../conversation.js";
import type { ErrorCode } from "../error-code.js";
import type { InputResponseEntry, WaitingInfo } from "../input/input-entry.js";
import type { RespondResponse } from "../input/input-routes.js";
import type { Cursor, CursoredEvent } from "../log/cursor.js";
import type { StoredChunk } from "../log/stored-chunk.js";
import type { QueuePayload } from "../queue.js";
import type { ActiveTurn } from "../routes/conversation-routes.js";
import type { MessageReceipt } from "../routes/send-message.js";
import type { SurfaceCatalog, SurfaceSpec } from "./surface.js";

/**
 * A message from a server on the socket. One JSON message per frame, discriminated by `type`. A client
 * ignores types that it does not know.
 */
export type WsServerMessage =
  | WsChatDelta
  | WsChatSnapshot
  | WsChatChunks
  | WsChatReset
  | WsChatReceipt
  | WsChatResponded
  | WsChatError
  | WsConversationStatusChanged
  | WsConversationUpdated
  | WsConversationOpen
  | WsConversationCompacted
  | WsConversationRemoved
  | WsSurfaceCatalog
  | WsSurface
  | WsSurfaceUpdate
  | WsSurfaceError
  | WsPong;

/** An event of a subscribed conversation; `event.conversationId` identifies it. */
export interface WsChatDelta extends CursoredEvent {
  readonly type: "chat.delta";
}

/** The state around the log, at the start of a resumed subscription. */
export interface WsChatSnapshot {
  readonly type: "chat.snapshot";
  readonly conversationId: string;
  readonly meta: ConversationMeta;
  readonly queue: QueuePayload;
  readonly cursor: Cursor;
  /** Absent if no turn runs. */
  readonly activeTurn?: ActiveTurn;
  /** Tokens in context after the newest turn. Absent: unknown. */
  readonly contextSize?: number;
  /** The context window of the next turn's model. */
  readonly contextWindow?: number;
}

/**
 * Committed chunks that the client is missing, ascending. They replace the client's provisional state of the
 * same turn and step.
 */
export interface WsChatChunks {
  readonly type: "chat.chunks";
  readonly conversationId: string;
  readonly chunks: readonly StoredChunk[];
  readonly cursor: Cursor;
}

/**
 * Discard the provisional state of this turn: its durable state follows. Committed chunks stay. Without a
 * turn: discard everything of this conversation, including committed chunks, because its log was restored to
 * an earlier state or created again; the whole log follows.
 */
export interface WsChatReset {
  readonly type: "chat.reset";
  readonly conversationId: string;
  readonly turnId?: string;
  /**
   * The cursor of a client that has discarded it. The previous one is no longer valid: it includes discarded
   * events.
   */
  readonly cursor?: Cursor;
}

/** A message of this client is durable. Sending the same message again gets the same receipt. */
export interface WsChatReceipt extends MessageReceipt {
  readonly type: "chat.receipt";
}

/** A response of this client is in force. Sending the same response again gets the same result. */
export interface WsChatResponded extends RespondResponse {
  readonly type: "chat.responded";
}

/** A request of this client was refused or failed. */
export interface WsChatError {
  readonly type: "chat.error";
  readonly conversationId?: string;
  /** The message that was refused. */
  readonly messageId?: string;
  /** The request whose response was refused. */
  readonly requestId?: string;
  /** The decision in force, with `already_decided`. */
  readonly response?: InputResponseEntry;
  readonly code: ErrorCode;
  /** For people. */
  readonly message: string;
  /** True if the same may succeed later. */
  readonly retryable?: boolean;
}

/**
 * To every client of the owner: a conversation's status changed, or the requests that its open turn waits
 * for.
 */
export interface WsConversationStatusChanged {
  readonly type: "conversation.statusChanged";
  readonly conversationId: string;
  readonly status: ConversationStatus;
  /** Unanswered requests of the open turn. Absent: there are none. */
  readonly waiting?: WaitingInfo;
}

/** To every client of the owner: a conversation is new, or a field that a list shows has changed. */
export interface WsConversationUpdated {
  readonly type: "conversation.updated";
  readonly conversationId: string;
  readonly meta: ConversationMeta;
}

/** To every client of the owner: show this conversation. */
export interface WsConversationOpen {
  readonly type: "conversation.open";
  readonly conversationId: string;
}

/** To every client of the owner: a conversation was compacted. Its history stays as it is. */
export interface WsConversationCompacted {
  readonly type: "conversation.compacted";
  readonly conversationId: string;
  /** The archive. */
  readonly newConversationId: string;
  readonly messagesSummarized: number;
  readonly messagesKept: number;
}

/** To every client of the owner: a conversation was deleted. */
export interface WsConversationRemoved {
  readonly type: "conversation.removed";
  readonly conversationId: string;
}

/** The available surfaces: the first message of every connection. */
export interface WsSurfaceCatalog {
  readonly type: "catalog";
  readonly catalog: SurfaceCatalog;
}

/** A surface at the time of subscribing. */
export interface WsSurface {
  readonly type: "surface";
  /** The conversation, for a surface that exists per conversation. */
  readonly conversationId?: string;
  readonly spec: SurfaceSpec;
}

/** A surface changed: its whole new spec, in the two places where clients expect it. */
export interface WsSurfaceUpdate {
  readonly type: "update";
  readonly conversationId?: string;
  readonly spec: SurfaceSpec;
  readonly update: {
    readonly surfaceId: string;
    readonly conversationId?: string;
    readonly spec: SurfaceSpec;
  };
}

/** A surface request failed. */
export interface WsSurfaceError {
  readonly type: "error";
  readonly surfaceId?: string;
  readonly conversationId?: string;
  readonly code: ErrorCode;
  /** For people. */
  readonly message: string;
}

/** The response to `ping`. */
export interface WsPong {
  readonly type: "pong";
}
