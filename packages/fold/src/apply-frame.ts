import type { ActiveTurn, ConversationDetail, ConversationMeta, QueuePayload } from "@parley/wire";
import { activeFrom, applyEvent, endTurn, isOver } from "./apply-event.js";
import { withRows } from "./apply-rows.js";
import type { ConversationFold } from "./conversation-fold.js";
import { isBefore, parseCursor } from "./cursor.js";
import { emptyLog, withoutProvisional } from "./message-log.js";
import type { TurnState } from "./message-state.js";
import { omitUndefined } from "./omit-undefined.js";
import { withQueue } from "./queue.js";
import type { SubscriptionFrame } from "./subscription-frame.js";
import { newTurn, noTurns, nothingPrinted, turnOf, withTurn } from "./turn-table.js";

/**
 * Applies a frame of a subscription. Applying the same frame twice changes nothing the second time, and
 * neither does a frame whose content is already known from history.
 */
export function foldFrame(fold: ConversationFold, frame: SubscriptionFrame): ConversationFold {
  return atCursor(withFrame(fold, frame), frame);
}

function withFrame(fold: ConversationFold, frame: SubscriptionFrame): ConversationFold {
  switch (frame.type) {
    case "chat.snapshot":
      return withSurroundings(fold, frame.meta, frame);
    case "chat.chunks":
      return withRows(fold, frame.chunks, parseCursor(frame.cursor)?.open?.turnId);
    case "chat.reset":
      return withReset(fold, frame.turnId);
    case "chat.delta":
      return applyEvent(fold, frame.event, parseCursor(frame.cursor));
    default:
      frame satisfies never;
      return fold;
  }
}

/** Advances the cursor; moves it back only for a reset, which invalidates the previous one. */
function atCursor(fold: ConversationFold, { type, cursor }: SubscriptionFrame): ConversationFold {
  if (cursor === undefined || cursor === fold.cursor) return fold;
  const place = parseCursor(cursor);
  const isBack = place !== undefined && fold.place !== undefined && isBefore(place, fold.place);
  return isBack && type !== "chat.reset" ? fold : { ...fold, cursor, place };
}

/** Sets the state around the log from a snapshot or the metadata. */
function withSurroundings(
  fold: ConversationFold,
  meta: ConversationMeta,
  around: {
    readonly queue: QueuePayload;
    readonly activeTurn?: ActiveTurn;
    readonly contextSize?: number;
    readonly contextWindow?: number;
  },
): ConversationFold {
  const { activeTurn, contextSize, contextWindow } = around;
  let next: ConversationFold = { ...fold, meta, status: meta.status, contextSize, contextWindow };
  const { live } = fold.turns;
  if (live !== undefined && live.turnId !== activeTurn?.turnId) {
    // It ended while this client was not connected: the next frames contain its end.
    next = endTurn({ ...next, log: withoutProvisional(next.log, live.turnId) }, live.turnId);
  }
  return withQueue(activeTurn === undefined ? next : withActive(next, activeTurn), around.queue);
}

function withActive(fold: ConversationFold, activeTurn: ActiveTurn): ConversationFold {
  const { turnId, model, startedAt } = activeTurn;
  const known = turnOf(fold.turns, turnId);
  if (isOver(known)) return fold;
  const turn: TurnState = {
    ...(known ?? newTurn(turnId)),
    status: "running",
    ...omitUndefined({ model, startedAt }),
  };
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, activeTurn) };
}

/** Removes the provisional state of a turn: its messages, and the figures of steps that left no row. */
function withReset(fold: ConversationFold, turnId: string | undefined): ConversationFold {
  if (turnId === undefined) return withoutLog(fold);
  const log = withoutProvisional(fold.log, turnId);
  const known = turnOf(fold.turns, turnId);
  if (known === undefined || isOver(known)) return log === fold.log ? fold : { ...fold, log };
  const committed = new Set(
    fold.log.committed.flatMap((message) => (message.turnId === turnId ? [message.stepId] : [])),
  );
  const {
    reason: _,
    error: __,
    usage: ___,
    durationMs: ____,
    waitedMs: ______,
    contextSize: _____,
    ...turn
  } = known;
  const steps = turn.steps.filter(({ stepId }) => committed.has(stepId));
  const active = fold.activeTurn?.turnId === turnId ? activeFrom(turn, undefined) : fold.activeTurn;
  const turns = withTurn(fold.turns, { ...turn, steps, toolOutput: nothingPrinted });
  return { ...fold, log, turns, activeTurn: active };
}

/** Removes the whole log. The state around it stays, as the snapshot before the reset described it. */
function withoutLog(fold: ConversationFold): ConversationFold {
  const { activeTurn } = fold;
  const empty: ConversationFold = { ...fold, log: emptyLog, turns: noTurns };
  return activeTurn === undefined ? empty : withActive(empty, activeTurn);
}

/**
 * Applies the response of `GET /conversations/:id/meta`. Its cursor is ignored: it is valid for a client that
 * has the log up to there, which only the caller can know.
 */
export function foldDetail(fold: ConversationFold, detail: ConversationDetail): ConversationFold {
  const {
    activeTurn: _,
    contextSize: __,
    contextWindow: ___,
    queue: ____,
    cursor,
    metadata,
    ...meta
  } = detail;
  return withSurroundings(fold, meta, detail);
}
