import { foldDetail, foldFrame } from "@parley/fold";
import type { ConversationDetail, SseMessage } from "@parley/wire";
import { applyQueue } from "./apply-history.js";
import type { ConversationState } from "./conversation-state.js";
import { changeConversation } from "./fold.js";

/**
 * Returns the state after a frame of a subscription or a change of the queue. The same frame twice changes nothing the second time, and neither
 * does a frame whose content is already known from history.
 */
export function applyFrame(state: ConversationState, frame: SseMessage): ConversationState {
  if (frame.type === "queue.changed") return applyQueue(state, frame.queue);
  return changeConversation(state, (conversation) => foldFrame(conversation, frame));
}

/**
 * Returns the state after `GET /conversations/:id/meta`. Its cursor is left out: it is valid for a client that has the
 * log up to there, which only the caller can know.
 */
export function applyDetail(state: ConversationState, detail: ConversationDetail): ConversationState {
  return changeConversation(state, (conversation) => foldDetail(conversation, detail));
}
