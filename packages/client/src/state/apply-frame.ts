import type { ActiveTurn, ConversationDetail, ConversationMeta, QueuePayload } from "@parley/wire";
import { given } from "../given.js";
import { activeFrom, applyEvent, endTurn, isOver } from "./apply-event.js";
import { withRows } from "./apply-rows.js";
import type { ConversationState, SubscriptionFrame, TurnState } from "./conversation-state.js";
import { change, type Fold } from "./fold.js";
import { emptyLog, withoutProvisional } from "./message-log.js";
import { isBefore, placeOf } from "./place.js";
import { withQueue } from "./queue.js";
import { newTurn, noTurns, nothingPrinted, turnOf, withTurn } from "./turn-table.js";

/**
 * The state after a frame of a subscription. The same frame twice changes nothing the second time, and what is
 * known from history already is not told again.
 */
export function applyFrame(state: ConversationState, frame: SubscriptionFrame): ConversationState {
  return change(state, (fold) => atCursor(withFrame(fold, frame), frame));
}

function withFrame(fold: Fold, frame: SubscriptionFrame): Fold {
  switch (frame.type) {
    case "chat.snapshot":
      return withSurroundings(fold, frame.meta, frame);
    case "chat.chunks":
      return withRows(fold, frame.chunks, placeOf(frame.cursor)?.open?.turnId);
    case "chat.reset":
      return withReset(fold, frame.turnId);
    case "chat.delta":
      return applyEvent(fold, frame.event, placeOf(frame.cursor));
    default:
      frame satisfies never;
      return fold;
  }
}

/** Moves the cursor on; back only by a reset, which says that the one before no longer holds. */
function atCursor(fold: Fold, { type, cursor }: SubscriptionFrame): Fold {
  if (cursor === undefined || cursor === fold.cursor) return fold;
  const place = placeOf(cursor);
  const isBack = place !== undefined && fold.place !== undefined && isBefore(place, fold.place);
  return isBack && type !== "chat.reset" ? fold : { ...fold, cursor, place };
}

/** The state around the log, as a snapshot or the metadata tell it. */
function withSurroundings(
  fold: Fold,
  meta: ConversationMeta,
  around: {
    readonly queue: QueuePayload;
    readonly activeTurn?: ActiveTurn;
    readonly contextSize?: number;
    readonly contextWindow?: number;
  },
): Fold {
  const { activeTurn, contextSize, contextWindow } = around;
  let next: Fold = { ...fold, meta, status: meta.status, contextSize, contextWindow };
  const { live } = fold.turns;
  if (live !== undefined && live.turnId !== activeTurn?.turnId) {
    // It has ended while nobody listened: how, and with what words, is told by what follows.
    next = endTurn({ ...next, log: withoutProvisional(next.log, live.turnId) }, live.turnId);
  }
  return withQueue(activeTurn === undefined ? next : withActive(next, activeTurn), around.queue);
}

function withActive(fold: Fold, { turnId, model, startedAt }: ActiveTurn): Fold {
  const known = turnOf(fold.turns, turnId);
  if (isOver(known)) return fold;
  const turn: TurnState = {
    ...(known ?? newTurn(turnId)),
    status: "running",
    ...given({ model, startedAt }),
  };
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, fold.activeTurn) };
}

/** Forgets what is provisional of a turn: its messages, and the figures of steps that left no row. */
function withReset(fold: Fold, turnId: string | undefined): Fold {
  if (turnId === undefined) return withoutLog(fold);
  const log = withoutProvisional(fold.log, turnId);
  const known = turnOf(fold.turns, turnId);
  if (known === undefined || isOver(known)) return log === fold.log ? fold : { ...fold, log };
  const committed = new Set(
    fold.log.committed.flatMap((message) => (message.turnId === turnId ? [message.stepId] : [])),
  );
  const { reason: _, error: __, usage: ___, durationMs: ____, contextSize: _____, ...turn } = known;
  const steps = turn.steps.filter(({ stepId }) => committed.has(stepId));
  return { ...fold, log, turns: withTurn(fold.turns, { ...turn, steps, toolOutput: nothingPrinted }) };
}

/** Forgets the whole log. What is on its way to the server stays, and so does what the snapshot told. */
function withoutLog(fold: Fold): Fold {
  const { activeTurn, log } = fold;
  const empty: Fold = { ...fold, log: { ...emptyLog, outgoing: log.outgoing }, turns: noTurns };
  return activeTurn === undefined ? empty : withActive(empty, activeTurn);
}

/**
 * The state with what `GET /conversations/:id/meta` says. Its cursor is left out: it holds for a client that has the
 * log up to there, which only the caller can know.
 */
export function applyDetail(state: ConversationState, detail: ConversationDetail): ConversationState {
  const {
    activeTurn: _,
    contextSize: __,
    contextWindow: ___,
    queue: ____,
    cursor,
    metadata,
    ...meta
  } = detail;
  return change(state, (fold) => withSurroundings(fold, meta, detail));
}
