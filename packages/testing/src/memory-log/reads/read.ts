import { invalidField } from "@parley/core/errors";
import type { ConversationId, TurnId } from "@parley/core/messages";
import { toStoredChunks } from "@parley/core/messages";
import type {
  AddedEntries,
  HistoryEntry,
  JournalBatch,
  LogStore,
  OpenTurnState,
  ProviderCallRecord,
  TurnRecord,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { StoredChunk, TurnMetrics } from "@parley/wire";
import {
  entryOf,
  findLog,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
  type Row,
  type Turn,
} from "../database.js";
import { findRow, findTurn, rowsBackwards, rowsBetween, sealedTurns, turnsBackwards } from "../view.js";
import { inputRecords } from "./inputs.js";

type ChunkQuery = Parameters<LogStore["readChunks"]>[0];
type NewestQuery = Parameters<LogStore["readNewest"]>[0];
type OpenTurnQuery = Parameters<LogStore["readOpenTurn"]>[0];

export function readChunks(
  db: MemoryDatabase,
  owner: string,
  query: ChunkQuery,
): { chunks: StoredChunk[]; latestSeq: number } {
  const log = logOf(db, owner, query.conversationId);
  const since = query.sinceSeq ?? 0;
  const last = Math.min(query.open === true ? log.lastSeq : log.sealedSeq, (query.beforeSeq ?? Infinity) - 1);
  const limit = query.limit ?? Number.MAX_SAFE_INTEGER;
  const chunks: StoredChunk[] = [];
  for (const row of rowsBackwards(log, last)) {
    if (row.lastSeq <= since || chunks.length >= limit) break;
    // The window may begin or end inside a message.
    for (const chunk of toStoredChunks(row.message, row).reverse()) {
      if (chunk.seq > since && chunk.seq <= last && chunks.length < limit) chunks.push(chunk);
    }
  }
  chunks.reverse();
  return { chunks, latestSeq: chunks.at(-1)?.seq ?? since };
}

/** Reads messages without summaries that were taken out of force: they must not be read in place of the messages. */
export function readNewest(
  db: MemoryDatabase,
  owner: string,
  query: NewestQuery,
): Awaited<ReturnType<LogStore["readNewest"]>> {
  const log = findLog(db, owner, query.conversationId);
  const entries: HistoryEntry[] = [];
  if (log === undefined || !(query.limit > 0)) return { entries };
  const before = query.before ?? Number.MAX_SAFE_INTEGER;
  for (const row of rowsBackwards(log, before - 1)) {
    if (row.lastSeq >= before || isUndone(log, row)) continue;
    const oldest = entries.at(-1)?.firstSeq;
    if (entries.length >= query.limit && oldest !== undefined) {
      return { entries, before: oldest, ...(query.view === true ? { view: viewOf(log) } : {}) };
    }
    entries.push(entryOf(row, log.id));
  }
  return { entries, ...(query.view === true && entries.length > 0 ? { view: viewOf(log) } : {}) };
}

/** Returns the log's number, and the number of its summaries that were taken out of force. */
function viewOf(log: Log): string {
  return `${log.number}.${log.undone.size}`;
}

export function readAfter(
  db: MemoryDatabase,
  owner: string,
  query: Parameters<LogStore["readAfter"]>[0],
): AddedEntries | null {
  const log = findLog(db, owner, query.conversationId);
  if (log === undefined) return null;
  const limit = Math.max(0, query.limit);
  const rows = rowsBetween(log, query.seq + 1, log.lastSeq).filter(
    (row) => row.firstSeq > query.seq && !isUndone(log, row),
  );
  return {
    view: viewOf(log),
    entries: rows.slice(0, limit).map((row) => entryOf(row, log.id)),
    more: rows.length > limit,
  };
}

function isUndone(log: Log, row: Row): boolean {
  return row.covers !== undefined && log.undone.has(row.lastSeq);
}

export function readOpenTurn(db: MemoryDatabase, owner: string, query: OpenTurnQuery): OpenTurnState | null {
  const log = findLog(db, owner, query.conversationId);
  const active = log?.active;
  const turn = active === undefined ? undefined : log?.turnsById.get(active.turnId);
  if (log === undefined || active === undefined || turn === undefined) return null;
  // A number counted under another fence has no relation to the current journal.
  const comparable = query.fence === undefined || query.fence === active.fence;
  const afterN = comparable ? (query.afterN ?? -1) : -1;
  return {
    log: log.number,
    turnId: turn.id,
    fence: active.fence,
    node: active.node,
    choices: turn.choices,
    startedAt: turn.startedAt,
    elapsedMs: Math.max(0, db.clock.now() - turn.startedAt),
    stopRequested: active.stopRequested,
    waitedMs: turn.waitedMs,
    ...omitUndefined({ waitingSince: active.waitingSince }),
    inputs: inputRecords(log, turn.id),
    entries: turnEntries(log, turn),
    steps: turn.steps,
    providerCalls: turn.providerCalls,
    journal: log.journal.filter((batch) => batch.firstN + batch.count - 1 > afterN),
  };
}

function turnEntries(log: Log, turn: Turn): HistoryEntry[] {
  const appended = turn.appended === undefined ? undefined : appendedIds(turn.appended);
  return rowsBetween(log, turn.firstSeq, turn.lastSeq)
    .filter((row) => appended === undefined || appended.has(row.message.id))
    .map((row) => entryOf(row, log.id));
}

function appendedIds(turn: NonNullable<Turn["appended"]>): Set<string> {
  const messages = [...turn.userMessages, ...turn.assistantMessages, ...(turn.toolMessages ?? [])];
  return new Set(messages.map((message) => message.id));
}

export function readTurn(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  turnId: TurnId,
): { turn: TurnRecord; entries: HistoryEntry[] } | null {
  const log = findLog(db, owner, id);
  const turn = log === undefined ? undefined : findTurn(log, turnId);
  if (log === undefined || turn === undefined) return null;
  const { sealed } = turn;
  return {
    turn: {
      turnId: turn.id,
      ordinal: turn.ordinal,
      status: sealed !== undefined ? "sealed" : isWaiting(log, turn) ? "waiting" : "running",
      ...(sealed?.reason === undefined ? {} : { reason: sealed.reason }),
      choices: turn.choices,
      firstSeq: turn.firstSeq,
      lastSeq: turn.lastSeq,
      startedAt: turn.startedAt,
      ...(sealed === undefined ? {} : { sealedAt: sealed.at }),
      ...(sealed?.metrics === undefined ? {} : { metrics: sealed.metrics }),
      providerCalls: turn.providerCalls,
    },
    entries: turnEntries(log, turn),
  };
}

/** Returns the conversations of an owner that hold a turn in their own log. */
export function homesOfTurn(db: MemoryDatabase, owner: string, turnId: TurnId): ConversationId[] {
  const logs = [...(db.owners.get(owner)?.logs.values() ?? [])];
  return logs
    .filter((log) => log.archiveOf === undefined)
    .filter((log) => log.turnsById.get(turnId)?.appended === undefined && log.turnsById.has(turnId))
    .sort((a, b) => b.lastActivityAt - a.lastActivityAt || b.number - a.number)
    .map((log) => log.id);
}

function isWaiting({ active }: Log, { id }: Turn): boolean {
  return active?.turnId === id && active.waitingSince !== undefined;
}

export function findMessage(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  messageId: string,
): { firstSeq: number; turnId?: TurnId } | null {
  const log = findLog(db, owner, id);
  const row = log === undefined ? undefined : findRow(log, messageId);
  if (row === undefined) return null;
  return { firstSeq: row.firstSeq, ...omitUndefined({ turnId: row.turnId }) };
}

export function branchOf(db: MemoryDatabase, owner: string, chatId: string): ConversationId | null {
  const log = ownerOf(db, owner).branches.get(chatId);
  return log !== undefined && db.logs.get(log.number) === log ? log.id : null;
}

export function findReceipt(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  messageId: string,
): { outcome: "started" | "queued"; turnId?: TurnId } | null {
  const receipt = findLog(db, owner, id)?.receipts.get(messageId);
  if (receipt === undefined) return null;
  const { outcome, turnId } = receipt;
  return { outcome, ...omitUndefined({ turnId }) };
}

export function metrics(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  { limit, before }: { readonly limit?: number; readonly before?: TurnId } = {},
): TurnMetrics[] {
  const all = sealedTurns(logOf(db, owner, id))
    .map((turn) => turn.sealed?.metrics)
    .filter((each) => each !== undefined);
  const end = before === undefined ? all.length : all.findIndex(({ turnId }) => turnId === before);
  if (end === -1) throw invalidField("before", "no sealed turn of this conversation has this id");
  return all.slice(limit === undefined ? 0 : Math.max(0, end - limit), end);
}

export function lastCall(db: MemoryDatabase, owner: string, id: ConversationId): ProviderCallRecord | null {
  const log = findLog(db, owner, id);
  if (log === undefined) return null;
  for (const turn of turnsBackwards(log)) {
    const call = turn.providerCalls.findLast(({ purpose = "step" }) => purpose === "step");
    if (call !== undefined) return call;
  }
  return null;
}

/** Writes each batch on its own: one that lost its turn does not prevent the others. */
export function flushJournal(db: MemoryDatabase, batches: readonly JournalBatch[]): ("ok" | "stale_fence")[] {
  return batches.map((batch) => {
    const log = db.logs.get(batch.log);
    const active = log?.owner === batch.owner ? log.active : undefined;
    const held = active?.turnId === batch.turnId && active.fence === batch.fence;
    const isOpen = active?.purpose === "turn" && active.waitingSince === undefined;
    if (log === undefined || !held || !isOpen) return "stale_fence";
    const { journal } = log;
    let place = journal.length;
    while (place > 0 && (journal[place - 1]?.firstN ?? -1) >= batch.firstN) place -= 1;
    if (journal[place]?.firstN !== batch.firstN) journal.splice(place, 0, batch);
    return "ok";
  });
}
