import type { SendOutcome } from "../conversations/conversation-handle.js";
import { given } from "../given.js";
import type { ConversationState, Failure, MessageState } from "./conversation-state.js";
import { change, foldOf, initialState } from "./fold.js";
import {
  emptyLog,
  isCommitted,
  partKey,
  provisionalOf,
  withOutgoing,
  withoutOutgoing,
  withProvisional,
} from "./message-log.js";
import { turnOf } from "./turn-table.js";

/** The state with a message that is on its way. It gives way to the same message as the server tells it. */
export function applyOptimistic(
  state: ConversationState,
  message: { readonly messageId: string; readonly text: string; readonly createdAt?: number },
): ConversationState {
  return change(state, (fold) => {
    const { messageId: id, text, createdAt } = message;
    if (provisionalOf(fold.log, id) !== undefined || isCommitted(fold.log, id, newestTurnId(fold.log)))
      return fold;
    const chunk = { type: "text" as const, text };
    const outgoing: MessageState = {
      id,
      role: "user",
      parts: [{ key: partKey(id, 0), index: 0, chunk, streaming: false }],
      status: "sending",
      ...given({ createdAt }),
    };
    return { ...fold, log: withOutgoing(fold.log, outgoing) };
  });
}

/** The state after a receipt: the message is durable. It opened a turn, or it waits in the queue. */
export function applyReceipt(state: ConversationState, receipt: SendOutcome): ConversationState {
  return change(state, (fold) => {
    const { messageId, outcome, turnId } = receipt;
    const outgoing = fold.log.outgoing.find(({ id }) => id === messageId);
    if (outgoing === undefined) return fold;
    const isOver = turnId !== undefined && turnOf(fold.turns, turnId)?.status === "sealed";
    if (outcome === "queued" || turnId === undefined || isOver) {
      return { ...fold, log: withoutOutgoing(fold.log, messageId) };
    }
    const { error: _, ...message } = outgoing;
    return { ...fold, log: withProvisional(fold.log, { ...message, turnId, status: "streaming" }) };
  });
}

/** The state after a message was refused, or could not be sent. It stays, to be sent again or discarded. */
export function applySendFailure(
  state: ConversationState,
  messageId: string,
  error: Failure,
): ConversationState {
  return change(state, (fold) => {
    const message = fold.log.outgoing.find(({ id }) => id === messageId);
    return message === undefined
      ? fold
      : { ...fold, log: withOutgoing(fold.log, { ...message, status: "failed", error }) };
  });
}

/** The state without a message that was not sent. */
export function applyDiscard(state: ConversationState, messageId: string): ConversationState {
  return change(state, (fold) => {
    const log = withoutOutgoing(fold.log, messageId);
    return log === fold.log ? fold : { ...fold, log };
  });
}

/** A conversation of which nothing is known, except what is on its way to it. */
export function applyRestart(state: ConversationState): ConversationState {
  const { log, unsent } = foldOf(state);
  const { outgoing } = log;
  return change(initialState(state.conversationId), (fold) => ({
    ...fold,
    unsent,
    log: { ...emptyLog, outgoing },
  }));
}

function newestTurnId(log: { readonly committed: readonly MessageState[] }): string | undefined {
  return log.committed.findLast(({ turnId }) => turnId !== undefined)?.turnId;
}
