import { ParleyError } from "@parley/core/errors";
import type { ConversationMessage } from "@parley/core/messages";
import type { CommitInput, CommitResult, SealInput, SealResult } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  appendRow,
  checkFigures,
  checkMessages,
  entryOf,
  invalid,
  type Log,
  logOf,
  type MemoryDatabase,
  type Row,
  type Turn,
  touch,
} from "../database.js";
import { queueStateOf, statusOf } from "../record.js";
import { checkTurnId, deliver, endLease, heldLease, stillOpened } from "./lease.js";

export function commitStep(db: MemoryDatabase, owner: string, input: CommitInput): CommitResult {
  const log = logOf(db, owner, input.conversationId);
  const active = heldLease(log, input.turnId, input.fence);
  const turn = turnOf(log, input.turnId);
  checkRows(log, turn, input.messages);
  checkFigures(input);

  const repeated = input.messages.length > 0 && input.messages.every(({ id }) => log.rowsById.has(id));
  const rows = writeRows(db, log, turn, input.messages, input.stepId);
  log.journal = [];
  turn.steps = input.steps;
  turn.providerCalls = input.providerCalls;
  const key = input.messages.at(-1)?.id ?? "";
  let promoted = turn.promotions.get(key) ?? [];
  if (!repeated) {
    promoted = input.promoteSteers && !active.stopRequested ? promoteSteers(db, log, turn) : [];
    if (promoted.length > 0 && key !== "") turn.promotions.set(key, promoted);
    touch(db, log);
  }
  return {
    entries: rows.map((row) => entryOf(row, log.id)),
    promoted: promoted.map((row) => entryOf(row, log.id)),
    queue: queueStateOf(log),
    stopRequested: active.stopRequested,
  };
}

export function seal(db: MemoryDatabase, owner: string, input: SealInput): SealResult {
  const log = logOf(db, owner, input.conversationId);
  const before = log.turnsById.get(input.turnId);
  if (before?.sealed !== undefined) return sealedBefore(log, before, input);
  heldLease(log, input.turnId, input.fence);
  const turn = turnOf(log, input.turnId);
  checkRows(log, turn, input.messages);
  checkFigures(input);
  checkTurnId(log, input.next.turnId);

  const rows = writeRows(db, log, turn, input.messages, input.stepId);
  log.sealedSeq = log.lastSeq;
  turn.providerCalls = input.providerCalls;
  if (input.metrics.contextSize !== undefined) log.contextSize = input.metrics.contextSize;
  const { next, nextTurnId } = endLease(db, log, input.next);
  turn.sealed = {
    at: db.clock.now(),
    fence: input.fence,
    reason: input.reason,
    metrics: input.metrics,
    ...omitUndefined({ nextTurnId }),
  };
  return {
    firstSeq: turn.firstSeq,
    lastSeq: turn.lastSeq,
    entries: rows.map((row) => entryOf(row, log.id)),
    ...omitUndefined({ next }),
    queue: queueStateOf(log),
    status: statusOf(log),
  };
}

/** The same seal again: nothing is written, and the next turn is named as long as its node still has it. */
function sealedBefore(log: Log, turn: Turn, input: SealInput): SealResult {
  if (turn.sealed?.fence !== input.fence) {
    throw new ParleyError("stale_fence", "The turn is sealed", { details: { turnId: turn.id } });
  }
  const { nextTurnId } = turn.sealed;
  const next = nextTurnId === undefined ? undefined : stillOpened(log, nextTurnId, input.next.node);
  const rows = input.messages.map(({ id }) => log.rowsById.get(id)).filter((row) => row !== undefined);
  return {
    firstSeq: turn.firstSeq,
    lastSeq: turn.lastSeq,
    entries: rows.map((row) => entryOf(row, log.id)),
    ...omitUndefined({ next }),
    queue: queueStateOf(log),
    status: statusOf(log),
  };
}

function turnOf(log: Log, turnId: string): Turn {
  const turn = log.turnsById.get(turnId);
  if (turn === undefined) throw invalid("A compaction has no steps and no seal", { turnId });
  return turn;
}

/** An id that stands in the log already is a repetition only if it stands in this turn. */
function checkRows(log: Log, turn: Turn, messages: readonly ConversationMessage[]): void {
  checkMessages(messages, log.id);
  for (const { id } of messages) {
    const row = log.rowsById.get(id);
    if (row !== undefined && row.turnId !== turn.id) {
      throw new ParleyError("message_conflict", "The id of this message was used in another turn", {
        details: { messageId: id },
      });
    }
  }
}

function writeRows(
  db: MemoryDatabase,
  log: Log,
  turn: Turn,
  messages: readonly ConversationMessage[],
  stepId: string | undefined,
): Row[] {
  const place = { turn, ...omitUndefined({ stepId }) };
  return messages.map((message) => log.rowsById.get(message.id) ?? appendRow(db, log, message, place));
}

function promoteSteers(db: MemoryDatabase, log: Log, turn: Turn): Row[] {
  if (log.queuePaused) return [];
  const steers = log.queue.filter((entry) => entry.mode === "steer");
  deliver(log, steers, turn.id);
  return steers.map((entry) => appendRow(db, log, entry.message, { turn }));
}
