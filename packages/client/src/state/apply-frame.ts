import { foldDetail, foldFrame, type SubscriptionFrame } from "@parley/fold";
import type { ConversationDetail } from "@parley/wire";
import type { ConversationState } from "./conversation-state.js";
import { changeConversation } from "./fold.js";

/**
 * Returns the state after a frame of a subscription. The same frame twice changes nothing the second time, and neither
 * does a frame whose content is already known from history.
 */
export function applyFrame(state: ConversationState, frame: SubscriptionFrame): ConversationState {
  return changeConversation(state, (conversation) => foldFrame(conversation, frame));
}

/**
 * Returns the state after `GET /conversations/:id/meta`. Its cursor is left out: it holds for a client that has the
 * log up to there, which only the caller can know.
 */
export function applyDetail(state: ConversationState, detail: ConversationDetail): ConversationState {
  return changeConversation(state, (conversation) => foldDetail(conversation, detail));
}
