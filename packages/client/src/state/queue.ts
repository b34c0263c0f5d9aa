import type { QueuePayload } from "@parley/wire";
import type { ConversationState, UnsentMessage } from "./conversation-state.js";
import { change, type Fold } from "./fold.js";
import { isCommitted, provisionalOf } from "./message-log.js";

/** Without messages that were delivered: they stand in the log now. */
export function withoutQueued(fold: Fold, ids: ReadonlySet<string>): Fold {
  const { queue } = fold;
  const next = withoutUnsent(fold, ids);
  if (!queue.messages.some(({ id }) => ids.has(id))) return next;
  return { ...next, queue: { ...queue, messages: queue.messages.filter(({ id }) => !ids.has(id)) } };
}

/** With the queue as the server told it, which may lag behind the log: what is in the log waits no more. */
export function withQueue(fold: Fold, queue: QueuePayload): Fold {
  const told = withoutUnsent({ ...fold, queue }, new Set(queue.messages.map(({ id }) => id)));
  const delivered = queue.messages.filter(({ id }) => isDelivered(fold, id));
  return withoutQueued(told, new Set(delivered.map(({ id }) => id)));
}

/** The state with a message on its way to the queue. It gives way to the same message as the server tells it. */
export function applyUnsent(state: ConversationState, message: UnsentMessage): ConversationState {
  return change(state, (fold) => {
    const isHere = ({ id }: { readonly id: string }) => id === message.id;
    const isKnown = fold.queue.messages.some(isHere) || isDelivered(fold, message.id);
    if (isKnown || fold.unsent.some(isHere)) return fold;
    return { ...fold, unsent: [...fold.unsent, message] };
  });
}

/** The state without a message on its way to the queue: the server has it, or refused it, or nobody wants it sent. */
export function applyUnsentDone(state: ConversationState, messageId: string): ConversationState {
  return change(state, (fold) => withoutUnsent(fold, new Set([messageId])));
}

function withoutUnsent(fold: Fold, ids: ReadonlySet<string>): Fold {
  if (!fold.unsent.some(({ id }) => ids.has(id))) return fold;
  return { ...fold, unsent: fold.unsent.filter(({ id }) => !ids.has(id)) };
}

function isDelivered({ log }: Fold, id: string): boolean {
  const newestTurn = log.committed.findLast(({ turnId }) => turnId !== undefined)?.turnId;
  return provisionalOf(log, id) !== undefined || isCommitted(log, id, newestTurn);
}
