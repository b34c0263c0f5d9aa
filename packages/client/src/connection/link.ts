import type { ConversationMeta, QueuePayload, SendMessageRequest } from "@parley/wire";
import type { SendOutcome } from "../conversations/conversation-handle.js";
import type { Failure, SubscriptionFrame } from "../state/conversation-state.js";

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
  /** Sends a message. Its outcome comes to the conversation; when the link breaks before, it must be sent again. */
  send(message: OutgoingMessage): void;
  /** Sends a message no more that has no outcome. It may be there already. */
  unsend(messageId: string): void;
}

/** What a conversation hears from its link. */
export interface Listener {
  /** The link is open: follow on, and send again what has no outcome. */
  onUp(): void;
  onFrame(frame: SubscriptionFrame): void;
  onReceipt(outcome: SendOutcome): void;
  /** What was asked for has failed: a message if one is named, else following. */
  onFailure(error: Failure, messageId?: string): void;
  onQueue(queue: QueuePayload): void;
  onMeta(meta: ConversationMeta): void;
  onRemoved(): void;
}
