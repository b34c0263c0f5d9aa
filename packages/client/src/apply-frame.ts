import type { HistoryResponse, StepId, TurnMetrics } from "@parley/wire";
import type { ConversationState, SubscriptionFrame, ToolCallState } from "./conversation-state.js";

/** A conversation of which nothing is known yet. */
export function initialState(conversationId: string): ConversationState {
  return {
    conversationId,
    phase: "loading",
    status: "idle",
    messages: [],
    turns: {},
    queue: { messages: [] },
    hasEarlier: false,
    loadingEarlier: false,
  };
}

/** The state after a frame of a subscription. */
export function applyFrame(state: ConversationState, _frame: SubscriptionFrame): ConversationState {
  return state;
}

/** The state after a page of history. */
export function applyHistory(state: ConversationState, _page: HistoryResponse): ConversationState {
  return state;
}

/** The state after the figures of sealed turns. */
export function applyMetrics(state: ConversationState, _turns: readonly TurnMetrics[]): ConversationState {
  return state;
}

/** The tool calls of a step, in order. */
export function toolCallsOf(_state: ConversationState, _stepId: StepId): readonly ToolCallState[] {
  return [];
}
