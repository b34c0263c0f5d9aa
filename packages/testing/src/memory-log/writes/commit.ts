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
import { checkFiles } from "../files.js";
import { openInputs, unloggedResponses } from "../reads/inputs.js";
import { queueStateOf, statusOf } from "../record.js";
import { report } from "../report.js";
import { addInputs, closeInputs, withDecisions } from "./input.js";
import { checkTurnId, deliver, dropLease, endLease, heldLease, staleFence, stillOpened } from "./lease.js";

export function commitStep(db: MemoryDatabase, owner: string, input: CommitInput): CommitResult {
  const log = logOf(db, owner, input.conversationId);
  const active = heldLease(log, input.turnId, input.fence);
  const turn = turnOf(log, input.turnId);
  checkRows(db, log, turn, input.messages);
  checkFigures(input);

  const repeated = input.messages.length > 0 && input.messages.every(({ id }) => log.rowsById.has(id));
  // No node holds a turn that waits: only the commit that made it wait may be repeated.
  if (active.waitingSince !== undefined && !repeated) throw staleFence(log, turn.id);
  const rows = writeRows(db, log, turn, withDecisions(db, log, input.messages), input.stepId);
  log.journal = [];
  turn.steps = input.steps;
  turn.providerCalls = input.providerCalls;
  addInputs(db, log, turn.id, input.inputs ?? []);
  const responses = unloggedResponses(log, turn.id);
  const isOpen = openInputs(log, turn.id) !== undefined;
  if (input.wait === true && !active.stopRequested && responses.length === 0 && isOpen) {
    active.waitingSince ??= db.clock.now();
    active.node = "";
  }
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
    responses,
    ...(active.waitingSince === undefined ? {} : omitUndefined({ waiting: openInputs(log, turn.id) })),
  };
}

export function seal(db: MemoryDatabase, owner: string, input: SealInput): SealResult {
  const log = logOf(db, owner, input.conversationId);
  const before = log.turnsById.get(input.turnId);
  if (before?.sealed !== undefined) return sealedBefore(log, before, input);
  checkSeal(db, log, input);
  checkTurnId(log, input.next.turnId);
  const { turn, rows } = writeSeal(db, log, input);
  const { next, nextTurnId } = endLease(db, log, input.next);
  markSealed(db, log, turn, input, rows, nextTurnId);
  return { ...sealResult(log, turn, rows), ...omitUndefined({ next }) };
}

/** Checks everything that a seal can be refused for, before anything is written. */
export function checkSeal(
  db: MemoryDatabase,
  log: Log,
  input: Omit<SealInput, "conversationId" | "next">,
): void {
  heldLease(log, input.turnId, input.fence);
  checkRows(db, log, turnOf(log, input.turnId), input.messages);
  checkFigures(input);
}

/** Seals a turn that waits, for the message that replaces it. The lease is gone after it. */
export function sealWaiting(
  db: MemoryDatabase,
  log: Log,
  input: Omit<SealInput, "conversationId" | "next">,
): SealResult {
  const { turn, rows } = writeSeal(db, log, input);
  dropLease(db, log);
  markSealed(db, log, turn, input, rows, undefined);
  return sealResult(log, turn, rows);
}

function writeSeal(
  db: MemoryDatabase,
  log: Log,
  input: Omit<SealInput, "conversationId" | "next">,
): { turn: Turn; rows: Row[] } {
  const turn = turnOf(log, input.turnId);
  const messages = withDecisions(db, log, input.messages);
  const via = input.via ?? (input.reason === "aborted" ? "stop" : "end");
  const closed = closeInputs(db, log, turn, via);
  const rows = [...closed, ...writeRows(db, log, turn, messages, input.stepId)];
  log.sealedSeq = log.lastSeq;
  turn.providerCalls = input.providerCalls;
  if (input.metrics.contextSize !== undefined) log.contextSize = input.metrics.contextSize;
  return { turn, rows };
}

function markSealed(
  db: MemoryDatabase,
  log: Log,
  turn: Turn,
  { fence, reason, metrics }: Omit<SealInput, "conversationId" | "next">,
  rows: readonly Row[],
  nextTurnId: string | undefined,
): void {
  turn.sealed = { at: db.clock.now(), fence, reason, metrics, rows, ...omitUndefined({ nextTurnId }) };
  const { id: turnId, firstSeq, lastSeq } = turn;
  report(db, log, "turn.sealed", { turnId, reason, firstSeq, lastSeq });
}

function sealResult(log: Log, turn: Turn, rows: readonly Row[]): SealResult {
  return {
    firstSeq: turn.firstSeq,
    lastSeq: turn.lastSeq,
    entries: rows.map((row) => entryOf(row, log.id)),
    queue: queueStateOf(log),
    status: statusOf(log),
  };
}

/** Handles a repeated seal: nothing is written, and the next turn is returned as long as its node still has it. */
function sealedBefore(log: Log, turn: Turn, input: SealInput): SealResult {
  if (turn.sealed?.fence !== input.fence) {
    throw new ParleyError("stale_fence", "The turn is sealed", { details: { turnId: turn.id } });
  }
  const { nextTurnId } = turn.sealed;
  const next = nextTurnId === undefined ? undefined : stillOpened(log, nextTurnId, input.next.node);
  return { ...sealResult(log, turn, turn.sealed.rows ?? []), ...omitUndefined({ next }) };
}

function turnOf(log: Log, turnId: string): Turn {
  const turn = log.turnsById.get(turnId);
  if (turn === undefined) throw invalid("A compaction has no steps and no seal", { turnId });
  return turn;
}

/** Checks ids: one that is already in the log is a repetition only if it is in this turn. */
function checkRows(db: MemoryDatabase, log: Log, turn: Turn, messages: readonly ConversationMessage[]): void {
  checkMessages(messages, log.id);
  checkFiles(db, log.owner, messages);
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
