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
 * Everything that a server may say on the socket. One JSON message per frame, told apart by `type`. A client
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

/** An event of a subscribed conversation, which `event.conversationId` names. */
export interface WsChatDelta extends CursoredEvent {
  readonly type: "chat.delta";
}

/** The state around the transcript, at the start of a resumed subscription. */
export interface WsChatSnapshot {
  readonly type: "chat.snapshot";
  readonly conversationId: string;
  readonly meta: ConversationMeta;
  readonly queue: QueuePayload;
  readonly cursor: Cursor;
  /** Absent when no turn runs. */
  readonly activeTurn?: ActiveTurn;
  /** Tokens in context after the newest turn. Absent: unknown. */
  readonly contextSize?: number;
  /** The window of the model that the next turn would ask. */
  readonly contextWindow?: number;
}

/**
 * Committed chunks that the client is missing, ascending. They replace whatever it holds provisionally of the
 * same turn and step.
 */
export interface WsChatChunks {
  readonly type: "chat.chunks";
  readonly conversationId: string;
  readonly chunks: readonly StoredChunk[];
  readonly cursor: Cursor;
}

/**
 * Forget what is provisional of this turn: what is durable of it follows. Committed chunks stay. Without a turn: forget
 * everything of this conversation, also what was committed, because its log was restored to an earlier state or made
 * anew; the whole log follows.
 */
export interface WsChatReset {
  readonly type: "chat.reset";
  readonly conversationId: string;
  readonly turnId?: string;
  /** The place of a client that has forgotten it. The one before is no longer true: it says what was seen. */
  readonly cursor?: Cursor;
}

/** A message of this client is durable. The same message sent again gets the same receipt. */
export interface WsChatReceipt extends MessageReceipt {
  readonly type: "chat.receipt";
}

/** A response of this client is in force. The same response again gets the same answer. */
export interface WsChatResponded extends RespondResponse {
  readonly type: "chat.responded";
}

/** Something that this client asked for was refused or failed. */
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
  /** Whether the same may succeed later. */
  readonly retryable?: boolean;
}

/** To every client of the owner: a conversation's status changed, or what its open turn waits for. */
export interface WsConversationStatusChanged {
  readonly type: "conversation.statusChanged";
  readonly conversationId: string;
  readonly status: ConversationStatus;
  /** Requests of the open turn that nobody has answered. Absent: there are none. */
  readonly waiting?: WaitingInfo;
}

/** To every client of the owner: a conversation is new, or something that a list shows of it changed. */
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

/** To every client of the owner: a conversation is gone. */
export interface WsConversationRemoved {
  readonly type: "conversation.removed";
  readonly conversationId: string;
}

/** What surfaces there are: the first message of every connection. */
export interface WsSurfaceCatalog {
  readonly type: "catalog";
  readonly catalog: SurfaceCatalog;
}

/** A surface as it is at the moment of subscribing. */
export interface WsSurface {
  readonly type: "surface";
  /** Which one, for a surface that exists per conversation. */
  readonly conversationId?: string;
  readonly spec: SurfaceSpec;
}

/** A surface changed: its whole new spec, in the two places that clients look for it. */
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

/** The answer to `ping`. */
export interface WsPong {
  readonly type: "pong";
}
