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
};

/** How followed conversations reach the server: a socket, or an event stream for each. */
export interface Link {
  /** Whether anything can be asked for now. If not, `onUp` says when. */
  isOpen(): boolean;
  /** Follows on from a cursor. What was followed of the conversation before is replaced. */
  follow(conversationId: string, cursor: string): void;
  unfollow(conversationId: string): void;
  /**
   * Makes one attempt to send a message. Resolves when it is durable; rejects when it is refused, or with `network` when
   * the link breaks before. Nobody waits for the outcome once the signal has aborted.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<MessageReceipt>;
}

/** What a conversation hears from its link. */
export interface Listener {
  /** The link is open: follow on, and send what waits. */
  onUp(): void;
  onFrame(frame: SseMessage): void;
  /** Following has failed. */
  onFailure(error: Failure): void;
  onQueue(queue: QueuePayload): void;
  onMeta(meta: ConversationMeta): void;
  onRemoved(): void;
}
