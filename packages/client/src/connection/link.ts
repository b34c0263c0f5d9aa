import type {
  ConversationMeta,
  MessageReceipt,
  QueuePayload,
  SendMessageRequest,
  SseMessage,
} from "@parley/wire";
import type { Failure } from "../state/conversation-state.js";

/** A message with everything that a retry needs. */
export type OutgoingMessage = SendMessageRequest & {
  readonly conversationId: string;
  readonly messageId: string;
  /** Cursor to follow the conversation from once the message is durable. Absent: `follow` names it. */
  readonly cursor?: string | undefined;
};

/** Transport of followed conversations: a socket, or an event stream for each. */
export interface Link {
  /** Returns true if requests can be sent now. If not, `onUp` reports when they can. */
  isOpen(): boolean;
  /** Follows from a cursor. Replaces an earlier subscription to the conversation. */
  follow(conversationId: string, cursor: string): void;
  unfollow(conversationId: string): void;
  /**
   * Makes one attempt to send a message. Resolves when it is durable; rejects when it is refused, or with `network`
   * when the link breaks before. The outcome is ignored once the signal has aborted.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<MessageReceipt>;
}

/** Callbacks of a conversation for its link. */
export interface Listener {
  /** The link is open: follow again, and send what waits. */
  onUp(): void;
  onFrame(frame: SseMessage): void;
  /** Following has failed. */
  onFailure(error: Failure): void;
  onQueue(queue: QueuePayload): void;
  onMeta(meta: ConversationMeta): void;
  onRemoved(): void;
}
