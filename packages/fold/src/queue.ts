import type { QueuePayload } from "@parley/wire";
import type { ConversationFold } from "./conversation-fold.js";
import { isCommitted, type MessageLog, provisionalOf } from "./message-log.js";

/** Removes delivered messages from the queue: they are in the log now. */
export function withoutQueued(fold: ConversationFold, ids: ReadonlySet<string>): ConversationFold {
  const { queue } = fold;
  if (!queue.messages.some(({ id }) => ids.has(id))) return fold;
  return { ...fold, queue: { ...queue, messages: queue.messages.filter(({ id }) => !ids.has(id)) } };
}

/** Replaces the queue with the server's, which may lag behind the log: a delivered message is not pending. */
export function withQueue(fold: ConversationFold, queue: QueuePayload): ConversationFold {
  const delivered = queue.messages.filter(({ id }) => isDelivered(fold.log, id));
  return withoutQueued({ ...fold, queue }, new Set(delivered.map(({ id }) => id)));
}

/** Returns true for a message of the newest turn, committed or not. */
export function isDelivered(log: MessageLog, id: string): boolean {
  const newestTurn = log.committed.findLast(({ turnId }) => turnId !== undefined)?.turnId;
  return provisionalOf(log, id) !== undefined || isCommitted(log, id, newestTurn);
}
