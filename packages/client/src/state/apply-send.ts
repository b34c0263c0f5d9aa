import { type Failure, isDelivered, omitUndefined, partKey, turnOf, withProvisional } from "@parley/fold";
import type { SendOutcome } from "../conversations/conversation-handle.js";
import type { ConversationState, MessageState } from "./conversation-state.js";
import { type ClientFold, change, foldOf, initialState } from "./fold.js";

/** The state with a message that is on its way. It gives way to the same message as the server tells it. */
export function applyOptimistic(
  state: ConversationState,
  message: { readonly messageId: string; readonly text: string; readonly createdAt?: number },
): ConversationState {
  return change(state, (fold) => {
    const { messageId: id, text, createdAt } = message;
    if (isDelivered(fold.conversation.log, id)) return fold;
    const chunk = { type: "text" as const, text };
    const outgoing: MessageState = {
      id,
      role: "user",
      parts: [{ key: partKey(id, 0), index: 0, chunk, streaming: false }],
      status: "sending",
      ...omitUndefined({ createdAt }),
    };
    return withOutgoing(fold, outgoing);
  });
}

/** The state after a receipt: the message is durable. It opened a turn, or it waits in the queue. */
export function applyReceipt(state: ConversationState, receipt: SendOutcome): ConversationState {
  return change(state, (fold) => {
    const { messageId, outcome, turnId } = receipt;
    const outgoing = fold.outgoing.find(({ id }) => id === messageId);
    if (outgoing === undefined) return fold;
    const isOver = turnId !== undefined && turnOf(fold.conversation.turns, turnId)?.status === "sealed";
    if (outcome === "queued" || turnId === undefined || isOver) {
      return withoutOutgoing(fold, messageId);
    }
    const { error: _, ...message } = outgoing;
    const { conversation } = fold;
    const log = withProvisional(conversation.log, { ...message, turnId, status: "streaming" });
    return withoutOutgoing({ ...fold, conversation: { ...conversation, log } }, messageId);
  });
}

/** The state after a message was refused, or could not be sent. It stays, to be sent again or discarded. */
export function applySendFailure(
  state: ConversationState,
  messageId: string,
  error: Failure,
): ConversationState {
  return change(state, (fold) => {
    const message = fold.outgoing.find(({ id }) => id === messageId);
    return message === undefined ? fold : withOutgoing(fold, { ...message, status: "failed", error });
  });
}

/** The state without a message that was not sent. */
export function applyDiscard(state: ConversationState, messageId: string): ConversationState {
  return change(state, (fold) => withoutOutgoing(fold, messageId));
}

/** A conversation of which nothing is known, except what is on its way to it. */
export function applyRestart(state: ConversationState): ConversationState {
  const { outgoing, unsent } = foldOf(state);
  return change(initialState(state.conversationId), (fold) => ({ ...fold, unsent, outgoing }));
}

/** Adds an outgoing message, or replaces the one with its id. */
function withOutgoing(fold: ClientFold, message: MessageState): ClientFold {
  const at = fold.outgoing.findIndex(({ id }) => id === message.id);
  const outgoing = at === -1 ? [...fold.outgoing, message] : fold.outgoing.with(at, message);
  return { ...fold, outgoing };
}

function withoutOutgoing(fold: ClientFold, messageId: string): ClientFold {
  const outgoing = fold.outgoing.filter(({ id }) => id !== messageId);
  return outgoing.length === fold.outgoing.length ? fold : { ...fold, outgoing };
}
