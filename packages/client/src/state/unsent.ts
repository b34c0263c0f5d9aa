import { isDelivered } from "@parley/fold";
import type { ConversationState, UnsentMessage } from "./conversation-state.js";
import { change } from "./fold.js";

/** Returns the state with a message on its way to the queue, unless the server is known to have it. */
export function applyUnsent(state: ConversationState, message: UnsentMessage): ConversationState {
  return change(state, (fold) => {
    const { queue, log } = fold.conversation;
    const isHere = ({ id }: { readonly id: string }) => id === message.id;
    const isKnown = queue.messages.some(isHere) || isDelivered(log, message.id);
    if (isKnown || fold.unsent.some(isHere)) return fold;
    return { ...fold, unsent: [...fold.unsent, message] };
  });
}

/** Returns the state without a message on its way to the queue: it was accepted, refused or withdrawn. */
export function applyUnsentDone(state: ConversationState, messageId: string): ConversationState {
  return change(state, (fold) => {
    const unsent = fold.unsent.filter(({ id }) => id !== messageId);
    return unsent.length === fold.unsent.length ? fold : { ...fold, unsent };
  });
}
