import { isRetryable } from "@parley/fold";
import type { WaitingInfo, WsChatError, WsServerMessage } from "@parley/wire";
import type { ListListener } from "../conversations/conversation-list.js";
import type { Failure } from "../state/conversation-state.js";
import type { Listener } from "./link.js";

/** Receivers of the server's messages. */
export interface Audience {
  conversation(id: string): Listener | undefined;
  /** Calls back with each list of conversations. */
  toLists(call: (list: ListListener) => void): void;
  onOpenRequest(conversationId: string): void;
  onWaiting(conversationId: string, waiting: WaitingInfo | undefined): void;
}

/**
 * Kinds without a receiver here: the link handles receipts, and what a compaction added comes as chunks. The rest is
 * for other kinds of clients.
 */
type PassedOver = "chat.receipt" | "chat.responded" | "conversation.compacted" | "catalog" | "error" | "pong";

/** Passes a message of the server to its receiver. Messages of unknown kinds are left out. */
export function dispatchMessage(message: WsServerMessage, audience: Audience): void {
  switch (message.type) {
    case "chat.delta":
      audience.conversation(message.event.conversationId)?.onFrame(message);
      return;
    case "chat.snapshot":
    case "chat.chunks":
    case "chat.reset":
      audience.conversation(message.conversationId)?.onFrame(message);
      return;
    case "chat.error":
      // An error that names a message belongs to the link, which has sent it.
      if (message.conversationId !== undefined && message.messageId === undefined)
        audience.conversation(message.conversationId)?.onFailure(failureOf(message));
      return;
    case "conversation.statusChanged":
      audience.toLists((list) => list.onStatus(message.conversationId, message.status, message.waiting));
      audience.onWaiting(message.conversationId, message.waiting);
      return;
    case "conversation.updated":
      audience.toLists((list) => list.onUpdated(message.meta));
      audience.conversation(message.conversationId)?.onMeta(message.meta);
      return;
    case "conversation.removed":
      audience.toLists((list) => list.onRemoved(message.conversationId));
      audience.onWaiting(message.conversationId, undefined);
      audience.conversation(message.conversationId)?.onRemoved();
      return;
    case "conversation.open":
      audience.onOpenRequest(message.conversationId);
      return;
    case "surface":
    case "update": {
      if (message.conversationId === undefined) return;
      for (const field of message.spec.fields) {
        if (field.rendererId !== "message-queue") continue;
        audience.conversation(message.conversationId)?.onQueue(field.payload);
      }
      return;
    }
    default:
      message.type satisfies PassedOver;
  }
}

/** Returns the failure of an error message, as the state shows it. */
export function failureOf({ code, message, retryable = isRetryable(code) }: WsChatError): Failure {
  return { code, message, retryable };
}
