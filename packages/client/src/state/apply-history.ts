import {
  type ConversationFold,
  type Failure,
  knownUsage,
  nothingPrinted,
  omitUndefined,
  type StepState,
  type TurnState,
  turnOf,
  withQueue,
  withRows,
} from "@parley/fold";
import type {
  ConversationMeta,
  ConversationStatus,
  HistoryResponse,
  QueuePayload,
  StepMetrics,
  TurnMetrics,
} from "@parley/wire";
import type { ConversationState } from "./conversation-state.js";
import { change, changeConversation } from "./fold.js";

/** Returns the state after a page of history, whenever it arrives. With the first one the conversation is `ready`. */
export function applyHistory(state: ConversationState, page: HistoryResponse): ConversationState {
  return applyReady(
    changeConversation(state, (conversation) => withRows(conversation, page.chunks, undefined)),
  );
}

/** The state of a conversation that is loaded, or that is followed from its beginning. */
export function applyReady(state: ConversationState): ConversationState {
  return change(state, (fold) => {
    if (fold.phase === "ready" && !fold.loadingEarlier) return fold;
    return { ...fold, phase: "ready", error: undefined, loadingEarlier: false };
  });
}

/** Returns the state after the figures of sealed turns, as `GET /conversations/:id/metrics` returns them. */
export function applyMetrics(state: ConversationState, turns: readonly TurnMetrics[]): ConversationState {
  return changeConversation(state, (fold) => {
    const { live, reported } = fold.turns;
    // The end of the turn that runs here is published by its own events.
    const news = turns.filter(({ turnId }) => turnId !== live?.turnId && !reported.has(turnId));
    if (news.length === 0) return fold;
    const settled = { ...fold.turns.settled };
    for (const metrics of news) settled[metrics.turnId] = reportedTurn(fold, metrics);
    const all = new Set([...reported, ...news.map(({ turnId }) => turnId)]);
    return { ...fold, turns: { ...fold.turns, settled, reported: all } };
  });
}

function reportedTurn(fold: ConversationFold, metrics: TurnMetrics): TurnState {
  const { compactionUsage: _, usage: counted, ...figures } = metrics;
  const { firstSeq, lastSeq, error } = turnOf(fold.turns, figures.turnId) ?? {};
  const usage = figures.contextSize === undefined ? knownUsage(counted) : counted;
  return {
    ...figures,
    status: "sealed",
    steps: metrics.steps.map(reportedStep),
    toolOutput: nothingPrinted,
    ...omitUndefined({ usage, firstSeq, lastSeq, error }),
  };
}

function reportedStep(metrics: StepMetrics): StepState {
  const { model: _, usage, ...figures } = metrics;
  const known = knownUsage(usage);
  return { ...figures, complete: true, ...omitUndefined({ usage: known }) };
}

/** Returns the state with the queue that the server published. */
export function applyQueue(state: ConversationState, queue: QueuePayload): ConversationState {
  return changeConversation(state, (fold) => withQueue(fold, queue));
}

/**
 * Returns the state with new metadata: a title, a model, the closed flag. The subscription reports if a turn runs, and
 * the status of the conversation after that turn ends.
 */
export function applyMeta(
  state: ConversationState,
  meta: ConversationMeta,
  around: { readonly contextWindow?: number | undefined } = {},
): ConversationState {
  return changeConversation(state, (fold) => {
    const status = statusBeside(fold, meta);
    return { ...fold, ...around, status, meta: { ...meta, status } };
  });
}

/** Closing and reopening a conversation in which nothing runs is reported by its metadata alone. */
function statusBeside({ status, turns }: ConversationFold, reported: ConversationMeta): ConversationStatus {
  if (status === "active" || turns.live !== undefined) return status;
  if (reported.status === "closed") return "closed";
  return status === "closed" ? "idle" : status;
}

/** Returns the state while an earlier page is loading, or when it did not arrive. */
export function applyLoadingEarlier(state: ConversationState, loadingEarlier: boolean): ConversationState {
  return change(state, (fold) =>
    fold.loadingEarlier === loadingEarlier ? fold : { ...fold, loadingEarlier },
  );
}

/** Returns the state of a conversation that does not exist, or could not be loaded. */
export function applyLoadFailure(state: ConversationState, error: Failure): ConversationState {
  return change(state, (fold) => ({
    ...fold,
    phase: error.code === "conversation_not_found" ? "missing" : "failed",
    error,
    loadingEarlier: false,
  }));
}
