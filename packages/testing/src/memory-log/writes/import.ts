import { ParleyError } from "@parley/core/errors";
import { toStoredChunks } from "@parley/core/messages";
import type { ImportedEntry, ImportInput, ImportResult } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { deepEqual } from "../../contract-case.js";
import {
  addLog,
  appendRow,
  checkFigures,
  checkMessages,
  checkNewId,
  findLog,
  invalid,
  type Log,
  type MemoryDatabase,
  ownerOf,
  type Turn,
  touch,
} from "../database.js";
import { checkFiles } from "../files.js";
import { recordOf } from "../record.js";
import { findTurn, newestModel, rowsBetween } from "../view.js";

export function importConversation(db: MemoryDatabase, owner: string, input: ImportInput): ImportResult {
  checkMessages(
    input.entries.map(({ message }) => message),
    input.conversationId,
  );
  for (const { metrics } of input.turns) checkFigures({ metrics });
  checkPlaces(input);
  checkParent(input);
  const existing = findLog(db, owner, input.conversationId);
  if (existing !== undefined) {
    if (!holds(existing, input)) {
      throw new ParleyError("message_conflict", "Another conversation has this id", {
        details: { conversationId: input.conversationId },
      });
    }
    return { conversation: recordOf(db, existing), created: false };
  }
  checkNewId(input.conversationId);
  checkFiles(
    db,
    owner,
    input.entries.map(({ message }) => message),
  );
  const { settings } = input;
  const log = addLog(db, {
    id: input.conversationId,
    owner,
    settings,
    title: settings.title ?? "",
    createdAt: input.createdAt,
  });
  const turns = input.turns.map((given, index) => addTurn(db, log, given, index + 1));
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  for (const entry of input.entries) writeEntry(db, log, entry, byId);
  log.sealedSeq = log.lastSeq;
  log.closed = input.closed;
  if (input.parent !== undefined) log.importedParent = input.parent;
  log.lastActivityAt = input.lastActivityAt;
  const contextSize = input.turns.findLast(({ metrics }) => metrics.contextSize !== undefined)?.metrics
    .contextSize;
  if (contextSize !== undefined) log.contextSize = contextSize;
  const lastModel = newestModel(log);
  if (lastModel !== undefined) log.lastModel = lastModel;
  touch(db, log);
  return { conversation: recordOf(db, log), created: true };
}

function writeEntry(
  db: MemoryDatabase,
  log: Log,
  entry: ImportedEntry,
  turns: ReadonlyMap<string, Turn>,
): void {
  const turn = entry.turnId === undefined ? undefined : turns.get(entry.turnId);
  const row = appendRow(db, log, entry.message, {
    ...omitUndefined({ turn, stepId: entry.stepId, covers: entry.covers }),
  });
  if (entry.covers === undefined) return;
  log.compactions.push({ seq: row.lastSeq });
  if (entry.inForce === false) log.undone.add(row.lastSeq);
}

function addTurn(db: MemoryDatabase, log: Log, given: ImportInput["turns"][number], ordinal: number): Turn {
  const turn: Turn = {
    id: given.turnId,
    ordinal,
    choices: {},
    startedAt: given.startedAt,
    firstSeq: given.firstSeq,
    lastSeq: given.lastSeq,
    steps: [],
    providerCalls: given.providerCalls,
    waitedMs: 0,
    promotions: new Map(),
    sealed: {
      at: given.sealedAt,
      metrics: given.metrics,
      ...omitUndefined({ reason: given.reason }),
    },
  };
  log.turns.push(turn);
  log.turnsById.set(turn.id, turn);
  const { turns } = ownerOf(db, log.owner);
  if (!turns.has(turn.id)) turns.set(turn.id, log);
  return turn;
}

/** Refuses entries that would not be a log: seqs with gaps, repeated ids, turns without their rows. */
function checkPlaces({ entries, turns }: ImportInput): void {
  let last = 0;
  const ids = new Set<string>();
  const named = new Set(turns.map(({ turnId }) => turnId));
  if (named.size !== turns.length) throw invalid("Two turns have the same id");
  for (const { message, firstSeq, turnId } of entries) {
    if (firstSeq !== last + 1) throw invalid("The seqs of an import have a gap", { seq: last + 1 });
    if (ids.has(message.id)) throw invalid("Two messages have the same id", { messageId: message.id });
    if (turnId !== undefined && !named.has(turnId)) throw invalid("A message names no turn", { turnId });
    ids.add(message.id);
    last += Math.max(1, message.content.length);
  }
  for (const { turnId, firstSeq, lastSeq } of turns) {
    const own = entries.filter((entry) => entry.turnId === turnId);
    const end = (own.at(-1)?.firstSeq ?? 0) + Math.max(1, own.at(-1)?.message.content.length ?? 0) - 1;
    if (own[0]?.firstSeq !== firstSeq || end !== lastSeq) {
      throw invalid("A turn has other seqs than its messages", { turnId });
    }
  }
}

function checkParent({ parent, entries }: ImportInput): void {
  if (parent === undefined) return;
  checkNewId(parent.id);
  if (!Number.isSafeInteger(parent.seq) || parent.seq < 0 || parent.seq > lastSeqOf(entries)) {
    throw invalid("A fork shares no more than it has", { seq: lastSeqOf(entries) });
  }
}

function lastSeqOf(entries: readonly ImportedEntry[]): number {
  const last = entries.at(-1);
  return last === undefined ? 0 : last.firstSeq + Math.max(1, last.message.content.length) - 1;
}

/** Returns true if the log begins with everything that is imported, message by message and turn by turn. */
function holds(log: Log, input: ImportInput): boolean {
  const lastSeq = lastSeqOf(input.entries);
  if (log.sealedSeq < lastSeq) return false;
  const rows = rowsBetween(log, 1, lastSeq);
  if (rows.length !== input.entries.length) return false;
  const same = rows.every((row, index) => {
    const given = input.entries[index];
    if (given === undefined || !deepEqual(row.covers, given.covers)) return false;
    return deepEqual(toStoredChunks(row.message, row), toStoredChunks(given.message, given));
  });
  return (
    same && input.turns.every((turn) => deepEqual(findTurn(log, turn.turnId)?.sealed?.metrics, turn.metrics))
  );
}
