import type { ActiveTurn, ConversationMeta, ConversationStatus, Cursor, QueuePayload } from "@parley/wire";
import type { ConversationState, Failure, UnsentMessage } from "./conversation-state.js";
import { emptyLog, logOf, type MessageLog, messagesOf } from "./message-log.js";
import { type Place, placeOf } from "./place.js";
import { noTurns, type TurnTable, tableOf, turnsOf } from "./turn-table.js";

/** A conversation's state in the form in which it is changed. */
export interface Fold {
  readonly conversationId: string;
  readonly phase: ConversationState["phase"];
  readonly error?: Failure | undefined;
  readonly meta?: ConversationMeta | undefined;
  readonly status: ConversationStatus;
  readonly activeTurn?: ActiveTurn | undefined;
  readonly queue: QueuePayload;
  readonly unsent: readonly UnsentMessage[];
  readonly contextSize?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly loadingEarlier: boolean;
  readonly cursor?: Cursor | undefined;
  /** The cursor, taken apart. */
  readonly place?: Place | undefined;
  readonly log: MessageLog;
  readonly turns: TurnTable;
}

/** Where a state keeps its fold. A symbol, so that it stays with copies and out of JSON. */
const source = Symbol("parley.fold");

type Folded = ConversationState & { readonly [source]?: Fold };

const emptyQueue: QueuePayload = { messages: [] };

/** A conversation of which nothing is known yet. */
export function initialState(conversationId: string): ConversationState {
  return toState({
    conversationId,
    phase: "loading",
    status: "idle",
    queue: emptyQueue,
    unsent: [],
    loadingEarlier: false,
    log: emptyLog,
    turns: noTurns,
  });
}

/** The fold of a state; made anew for one that has lost it, such as one that was kept as JSON. */
export function foldOf(state: ConversationState): Fold {
  const kept = (state as Folded)[source];
  if (kept !== undefined) return kept;
  const { messages, turns, oldestSeq: _, hasEarlier: __, ...rest } = state;
  const place = state.cursor === undefined ? undefined : placeOf(state.cursor);
  return { ...rest, place, log: logOf(messages), turns: tableOf(turns) };
}

/** The state that a fold shows: its lists are joined only when someone reads them. */
function toState(fold: Fold): ConversationState {
  const { log, turns } = fold;
  const oldestSeq = log.committed[0]?.firstSeq;
  const state: { -readonly [Key in keyof Folded]: Folded[Key] } = {
    conversationId: fold.conversationId,
    phase: fold.phase,
    status: fold.status,
    get messages() {
      return messagesOf(log);
    },
    get turns() {
      return turnsOf(turns);
    },
    queue: fold.queue,
    unsent: fold.unsent,
    hasEarlier: oldestSeq !== undefined && oldestSeq > 1,
    loadingEarlier: fold.loadingEarlier,
    [source]: fold,
  };
  if (fold.error !== undefined) state.error = fold.error;
  if (fold.meta !== undefined) state.meta = fold.meta;
  if (fold.activeTurn !== undefined) state.activeTurn = fold.activeTurn;
  if (fold.contextSize !== undefined) state.contextSize = fold.contextSize;
  if (fold.contextWindow !== undefined) state.contextWindow = fold.contextWindow;
  if (oldestSeq !== undefined) state.oldestSeq = oldestSeq;
  if (fold.cursor !== undefined) state.cursor = fold.cursor;
  return state;
}

/** Changes a state by its fold; the same state when nothing changed. */
export function change(state: ConversationState, by: (fold: Fold) => Fold): ConversationState {
  const before = foldOf(state);
  const after = by(before);
  return after === before ? state : toState(after);
}
