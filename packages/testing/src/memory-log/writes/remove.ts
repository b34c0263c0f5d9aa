import type { ConversationId } from "@parley/core/messages";
import type { RemovedConversation, UnusedQuery } from "@parley/core/ports";
import { originOf } from "../conversations.js";
import { findLog, type Log, leaveNotice, type MemoryDatabase, ownerOf } from "../database.js";
import { keepUsage } from "../usage.js";

/**
 * Removes a conversation, with its archives and, with `cascade`, everything that continues it. Forks that stay keep
 * the rows they share: the log itself remains without a name, as long as one of them continues it.
 */
export function remove(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  options: { cascade: boolean; unusedForMs?: number; temporary?: boolean },
): RemovedConversation[] {
  const log = findLog(db, owner, id);
  if (log === undefined || !isUnused(db, log, options.unusedForMs)) return [];
  if (options.temporary === true && log.settings.temporary !== true) return [];
  const gone: Log[] = [];
  collect(db, log, options.cascade, gone);
  const { logs, messages, turns, grants, branches } = ownerOf(db, owner);
  for (const each of gone) {
    db.logs.delete(each.number);
    db.leased.delete(each);
    logs.delete(each.id);
    each.inputs.clear();
    db.outbox = db.outbox.filter(({ log: of }) => of !== each.number);
    for (const [chatId, log] of branches) if (log === each) branches.delete(chatId);
    for (const [grantId, { grant, log: of }] of grants) {
      if (of === each && grant.conversationId !== undefined) grants.delete(grantId);
    }
    for (const messageId of each.rowsById.keys())
      if (messages.get(messageId) === each) messages.delete(messageId);
    for (const turnId of each.turnsById.keys()) if (turns.get(turnId) === each) turns.delete(turnId);
  }
  // Forks before the logs they continue, so that a chain without living forks is removed as a whole.
  for (const each of gone.reverse()) shrink(db, each);
  const removed = gone.reverse().map(({ id: each, number }) => ({ id: each, log: number }));
  const conversationIds = removed.map((each) => each.id);
  leaveNotice(db, owner, (changedAt) => ({ kind: "removed", changedAt, conversationIds }));
  return removed;
}

function isUnused(db: MemoryDatabase, log: Log, forMs: number | undefined): boolean {
  if (forMs === undefined) return true;
  const isRunning = log.active !== undefined && log.active.waitingSince === undefined;
  return !isRunning && log.lastActivityAt <= db.clock.now() - forMs;
}

/** Finds conversations that are no longer used. */
export function findUnused(db: MemoryDatabase, query: UnusedQuery): { owner: string; id: ConversationId }[] {
  const isMeant = (log: Log) =>
    "temporary" in query
      ? log.settings.temporary === true
      : log.id.startsWith(query.idPrefix) && originOf(log) === query.origin;
  return [...db.logs.values()]
    .filter((log) => log.archiveOf === undefined && isMeant(log) && isUnused(db, log, query.forMs))
    .slice(0, query.limit)
    .map(({ owner, id }) => ({ owner, id }));
}

function collect(db: MemoryDatabase, log: Log, cascade: boolean, gone: Log[]): void {
  // A log that was removed before is not returned again, but its forks may still exist.
  const living = db.logs.get(log.number) === log;
  if (living) gone.push(log);
  for (const fork of log.forks) {
    if (cascade || fork.archiveOf === log.id) collect(db, fork, cascade, gone);
  }
}

/** Drops from a log without a name the rows that no fork sees. */
function shrink(db: MemoryDatabase, log: Log): void {
  if (db.logs.get(log.number) === log) return;
  let shared = -1;
  for (const fork of log.forks) shared = Math.max(shared, fork.parent?.seq ?? 0);
  log.rows = log.rows.filter((row) => row.lastSeq <= shared);
  keepUsage(
    db,
    log,
    log.turns.filter((turn) => turn.lastSeq > shared),
  );
  log.turns = log.turns.filter((turn) => turn.lastSeq <= shared);
  for (const [id, row] of log.rowsById) if (row.lastSeq > shared) log.rowsById.delete(id);
  for (const [id, turn] of log.turnsById) if (turn.lastSeq > shared) log.turnsById.delete(id);
  log.active = undefined;
  log.journal = [];
  log.queue = [];
  if (log.forks.size > 0 || log.parent === undefined) return;
  log.parent.log.forks.delete(log);
  shrink(db, log.parent.log);
}
