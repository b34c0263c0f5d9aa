import { type Failure, turnOf, withProvisional } from "@parley/fold";
import type { MessageReceipt } from "@parley/wire";
import type { ConversationState, OwnResponse, PendingMessage } from "./conversation-state.js";
import { type ClientFold, change, foldOf, initialState, isAtServer, shownMessage } from "./fold.js";

/**
 * Returns the state with a message that this client sends, unless the server is known to have it. One that should open
 * a turn is among the messages at once; the server's copy of the same message replaces it.
 */
export function applyPending(
  state: ConversationState,
  message: Omit<PendingMessage, "shownIn">,
): ConversationState {
  return change(state, (fold) => {
    const { conversation, pending } = fold;
    const before = pending.find(({ id }) => id === message.id);
    if (before === undefined && isAtServer(conversation, message.id)) return fold;
    const isBusy =
      conversation.activeTurn !== undefined ||
      conversation.status === "active" ||
      pending.some(({ status }) => status === "sending");
    const waits = isBusy && message.ifBusy !== "reject" && message.status === "sending";
    return withPending(fold, { ...message, shownIn: before?.shownIn ?? (waits ? "queue" : "messages") });
  });
}

/** Returns the state after a receipt: the message is durable. It opened a turn, or it waits in the queue. */
export function applyReceipt(state: ConversationState, receipt: MessageReceipt): ConversationState {
  return change(state, (fold) => {
    const { messageId, outcome, turnId } = receipt;
    const pending = fold.pending.find(({ id }) => id === messageId);
    if (pending === undefined) return fold;
    const { conversation } = fold;
    const isOver = turnId !== undefined && turnOf(conversation.turns, turnId)?.status === "sealed";
    if (outcome === "queued" || turnId === undefined || isOver) return withoutPending(fold, messageId);
    const { error: _, ...message } = shownMessage(pending);
    const log = withProvisional(conversation.log, { ...message, turnId, status: "streaming" });
    return withoutPending({ ...fold, conversation: { ...conversation, log } }, messageId);
  });
}

/** Returns the state after a message was refused, or could not be sent. It stays, to be sent again or canceled. */
export function applySendFailure(
  state: ConversationState,
  messageId: string,
  error: Failure,
): ConversationState {
  return change(state, (fold) => {
    const message = fold.pending.find(({ id }) => id === messageId);
    return message === undefined ? fold : withPending(fold, { ...message, status: "failed", error });
  });
}

/** Returns the state without a message that was not sent. */
export function applyCancel(state: ConversationState, messageId: string): ConversationState {
  return change(state, (fold) => withoutPending(fold, messageId));
}

/** Returns a conversation of which nothing is known, except the pending messages to it. */
export function applyRestart(state: ConversationState): ConversationState {
  const { pending, responses } = foldOf(state);
  return change(initialState(state.conversationId), (fold) => ({ ...fold, pending, responses }));
}

/** Returns the state with a response of this client to a request for input. */
export function applyResponse(state: ConversationState, response: OwnResponse): ConversationState {
  return change(state, (fold) => ({
    ...fold,
    responses: { ...fold.responses, [response.requestId]: response },
  }));
}

/** Adds a pending message, or replaces the one with its id. */
function withPending(fold: ClientFold, message: PendingMessage): ClientFold {
  const at = fold.pending.findIndex(({ id }) => id === message.id);
  const pending = at === -1 ? [...fold.pending, message] : fold.pending.with(at, message);
  return { ...fold, pending };
}

function withoutPending(fold: ClientFold, messageId: string): ClientFold {
  const pending = fold.pending.filter(({ id }) => id !== messageId);
  return pending.length === fold.pending.length ? fold : { ...fold, pending };
}
