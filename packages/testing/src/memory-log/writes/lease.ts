import { ParleyError } from "@parley/core/errors";
import type { ConversationId, ConversationMessage, TurnId } from "@parley/core/messages";
import type {
  AbsentNode,
  DefaultModel,
  Lease,
  NextTurn,
  OpenedTurn,
  QueueEntry,
  QueueState,
  StopRequest,
  TurnChoices,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  type Active,
  appendRow,
  entryOf,
  findLog,
  invalid,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
  sweepNotices,
  type Turn,
  touch,
} from "../database.js";
import { queueStateOf } from "../record.js";
import { rowsBetween } from "../view.js";

/**
 * Returns the open lease, if it is the given turn's with that fence: the check that every write of a turn begins
 * with.
 */
export function heldLease(log: Log, turnId: TurnId, fence: number): Active {
  const { active } = log;
  if (active?.turnId === turnId && active.fence === fence) return active;
  throw staleFence(log, turnId);
}

export function staleFence(log: Log, turnId: TurnId): ParleyError {
  return new ParleyError("stale_fence", undefined, { details: { conversationId: log.id, turnId } });
}

export function turnActive(log: Log): ParleyError {
  const compacts = log.active?.purpose === "compaction";
  const turnId = log.active?.turnId;
  const requests = [...log.inputs.values()].flatMap(({ record }) => {
    const { requestId, kind, toolName } = record;
    return record.turnId === turnId && record.response === undefined ? [{ requestId, kind, toolName }] : [];
  });
  const waits = log.active?.waitingSince !== undefined;
  return new ParleyError(
    "turn_active",
    compacts
      ? "A compaction is running in this conversation"
      : waits
        ? "A turn of this conversation waits for input"
        : undefined,
    {
      details: { conversationId: log.id, turnId, ...(requests.length > 0 ? { requests } : {}) },
    },
  );
}

function leaseOf(log: Log, active: Active): Lease {
  return {
    owner: log.owner,
    conversationId: log.id,
    log: log.number,
    turnId: active.turnId,
    purpose: active.purpose,
    fence: active.fence,
    stopRequested: active.stopRequested,
  };
}

function takeLease(
  db: MemoryDatabase,
  log: Log,
  lease: { turnId: TurnId; node: string; purpose: Active["purpose"] },
): Active {
  log.fence += 1;
  db.leases += 1;
  const { turnId, node, purpose } = lease;
  const active: Active = {
    turnId,
    purpose,
    node,
    fence: log.fence,
    stopRequested: false,
    startedAt: db.clock.now(),
    order: db.leases,
  };
  log.active = active;
  db.leased.add(log);
  return active;
}

export function dropLease(db: MemoryDatabase, log: Log): void {
  log.active = undefined;
  log.journal = [];
  db.leased.delete(log);
}

function hand(log: Log, active: Active, node: string): Lease {
  log.fence += 1;
  active.fence = log.fence;
  active.node = node;
  return leaseOf(log, active);
}

/** Takes a turn out of waiting: it runs again, held by a node or by none. */
export function reopen(db: MemoryDatabase, log: Log, active: Active, node: string): Lease {
  const turn = log.turnsById.get(active.turnId);
  if (turn !== undefined) turn.waitedMs += Math.max(0, db.clock.now() - (active.waitingSince ?? 0));
  delete active.waitingSince;
  return hand(log, active, node);
}

/** Refuses an id under which no turn can be opened: turn ids are used once. */
export function checkTurnId(log: Log, turnId: TurnId): void {
  if (!log.turnsById.has(turnId) && log.active?.turnId !== turnId) return;
  throw invalid("The id of this turn was used before", { turnId });
}

/** Opens a turn with its user rows, on a log that has no lease. */
export function openTurn(
  db: MemoryDatabase,
  log: Log,
  input: DefaultModel & {
    turnId: TurnId;
    node: string;
    choices: TurnChoices;
    messages: readonly ConversationMessage[];
  },
): OpenedTurn {
  const model = input.choices.model ?? log.settings.model ?? log.lastModel ?? input.defaultModel;
  if (model !== undefined) log.lastModel = model;
  const active = takeLease(db, log, { turnId: input.turnId, node: input.node, purpose: "turn" });
  const turn: Turn = {
    id: input.turnId,
    ordinal: log.turns.length + 1,
    choices: model === undefined ? input.choices : { ...input.choices, model },
    startedAt: active.startedAt,
    firstSeq: log.lastSeq + 1,
    lastSeq: log.lastSeq,
    steps: [],
    providerCalls: [],
    waitedMs: 0,
    promotions: new Map(),
  };
  log.turns.push(turn);
  log.turnsById.set(turn.id, turn);
  const { turns } = ownerOf(db, log.owner);
  if (!turns.has(turn.id)) turns.set(turn.id, log);
  const rows = input.messages.map((message) => appendRow(db, log, message, { turn }));
  return {
    log: log.number,
    turnId: turn.id,
    fence: active.fence,
    choices: turn.choices,
    entries: rows.map((row) => entryOf(row, log.id)),
    startedAt: turn.startedAt,
  };
}

/** Takes entries out of the queue for delivery in a turn. */
export function deliver(log: Log, entries: readonly QueueEntry[], turnId: TurnId): void {
  log.queue = log.queue.filter((entry) => !entries.includes(entry));
  for (const entry of entries) {
    const receipt = log.receipts.get(entry.id);
    if (receipt !== undefined) receipt.turnId = turnId;
  }
}

/** Opens a turn with the waiting messages, if it may: the steers together, otherwise the first entry. */
export function openNextTurn(
  db: MemoryDatabase,
  log: Log,
  next: DefaultModel & { turnId: TurnId; node: string },
): OpenedTurn | undefined {
  if (log.queuePaused) return undefined;
  const steers = log.queue.filter((entry) => entry.mode === "steer");
  const entries = steers.length > 0 ? steers : log.queue.slice(0, 1);
  if (entries.length === 0) return undefined;
  deliver(log, entries, next.turnId);
  return openTurn(db, log, {
    ...next,
    choices: Object.assign({}, ...entries.map((entry) => entry.choices)) as TurnChoices,
    messages: entries.map((entry) => entry.message),
  });
}

/**
 * Ends the lease and lets the queue continue. If this node does not want the next turn, it opens without a holder, so
 * that the next node that claims leases finds it: no waiting message is left behind.
 */
export function endLease(
  db: MemoryDatabase,
  log: Log,
  next: NextTurn,
): { next?: OpenedTurn; nextTurnId?: TurnId } {
  // A stop that was acknowledged must not be answered by the next turn.
  const pause = next.pauseQueue || log.active?.stopRequested === true;
  if (pause && log.queue.length > 0) log.queuePaused = true;
  dropLease(db, log);
  const opened = openNextTurn(db, log, { ...next, node: next.openNext ? next.node : "" });
  touch(db, log);
  if (opened === undefined) return {};
  return next.openNext ? { next: opened, nextTurnId: opened.turnId } : { nextTurnId: opened.turnId };
}

/** Returns a turn that an earlier, repeated call opened, as long as the caller still holds it as it was opened. */
export function stillOpened(log: Log, turnId: TurnId, node: string): OpenedTurn | undefined {
  const { active } = log;
  const turn = log.turnsById.get(turnId);
  if (turn === undefined || active?.turnId !== turnId || active.node !== node) return undefined;
  const rows = rowsBetween(log, turn.firstSeq, turn.lastSeq);
  const opening = rows.findIndex((row) => row.message.role !== "user");
  return {
    log: log.number,
    turnId,
    fence: active.fence,
    choices: turn.choices,
    entries: rows.slice(0, opening === -1 ? rows.length : opening).map((row) => entryOf(row, log.id)),
    startedAt: turn.startedAt,
  };
}

/** Handles a repeated call that ended a lease: returns the same result, as long as nothing has happened since. */
function endedBefore(
  log: Log,
  request: { fence: number; next: NextTurn },
): { next?: OpenedTurn; queue: QueueState } | undefined {
  if (log.active === undefined) {
    return log.fence === request.fence ? { queue: queueStateOf(log) } : undefined;
  }
  if (log.active.turnId !== request.next.turnId || log.active.fence !== request.fence + 1) return undefined;
  const next = stillOpened(log, request.next.turnId, request.next.node);
  return { ...omitUndefined({ next }), queue: queueStateOf(log) };
}

export function heartbeat(db: MemoryDatabase, node: string, ttlMs: number, presence?: string): StopRequest[] {
  db.renewals += 1;
  db.nodes.set(node, { until: db.clock.now() + ttlMs, renewal: db.renewals, ...omitUndefined({ presence }) });
  sweepNotices(db);
  const requests: StopRequest[] = [];
  for (const log of db.leased) {
    if (log.active?.node !== node || !log.active.stopRequested) continue;
    const { turnId, fence } = log.active;
    requests.push({ owner: log.owner, conversationId: log.id, log: log.number, turnId, fence });
  }
  return requests;
}

export function retire(db: MemoryDatabase, node: string, renewal?: number): void {
  if (renewal === undefined || db.nodes.get(node)?.renewal === renewal) db.nodes.delete(node);
}

export function absentNodes(db: MemoryDatabase): AbsentNode[] {
  const now = db.clock.now();
  return [...db.nodes].flatMap(([node, { until, renewal, presence }]) => {
    const hasEnded = presence !== undefined && db.presences.get(presence) === "ended";
    return until > now && hasEnded ? [{ node, renewal }] : [];
  });
}

export function claimExpired(db: MemoryDatabase, node: string, limit: number): Lease[] {
  const now = db.clock.now();
  const expired: { log: Log; active: Active }[] = [];
  for (const log of db.leased) {
    const { active } = log;
    if (active === undefined || active.waitingSince !== undefined) continue;
    if ((db.nodes.get(active.node)?.until ?? 0) > now) continue;
    expired.push({ log, active });
  }
  expired.sort((left, right) => left.active.order - right.active.order);
  return expired.slice(0, Math.max(0, limit)).map(({ log, active }) => hand(log, active, node));
}

export function requestStop(db: MemoryDatabase, owner: string, id: ConversationId): Lease | null {
  const log = logOf(db, owner, id);
  const { active } = log;
  if (active === undefined) return null;
  if (!active.stopRequested) {
    active.stopRequested = true;
    touch(db, log);
  }
  if (active.waitingSince !== undefined) return { ...reopen(db, log, active, ""), isFree: true };
  return leaseOf(log, active);
}

export function takeOver(
  db: MemoryDatabase,
  owner: string,
  request: { conversationId: ConversationId; turnId: TurnId; fence: number; node: string },
): Lease | null {
  const log = findLog(db, owner, request.conversationId);
  const active = log?.active;
  if (log === undefined || active?.turnId !== request.turnId || active.fence !== request.fence) return null;
  if (active.waitingSince !== undefined) return null;
  return hand(log, active, request.node);
}

export function release(
  db: MemoryDatabase,
  owner: string,
  request: { conversationId: ConversationId; turnId: TurnId; fence: number },
): void {
  const log = logOf(db, owner, request.conversationId);
  heldLease(log, request.turnId, request.fence).node = "";
}

export function leaseIdle(
  db: MemoryDatabase,
  owner: string,
  request: { conversationId: ConversationId; node: string; turnId: TurnId },
): Lease {
  const log = logOf(db, owner, request.conversationId);
  if (log.archiveOf !== undefined) throw new ParleyError("conversation_closed");
  const { active } = log;
  if (active !== undefined) {
    const repeated = active.turnId === request.turnId && active.purpose === "compaction";
    if (repeated && active.node === request.node) return leaseOf(log, active);
    throw turnActive(log);
  }
  checkTurnId(log, request.turnId);
  const taken = takeLease(db, log, { turnId: request.turnId, node: request.node, purpose: "compaction" });
  touch(db, log);
  return leaseOf(log, taken);
}

export function endIdleLease(
  db: MemoryDatabase,
  owner: string,
  request: { conversationId: ConversationId; turnId: TurnId; fence: number; next: NextTurn },
): { next?: OpenedTurn; queue: QueueState } {
  const log = logOf(db, owner, request.conversationId);
  if (log.active?.turnId !== request.turnId && log.turnsById.get(request.turnId) === undefined) {
    const before = endedBefore(log, request);
    if (before !== undefined) return before;
  }
  const active = heldLease(log, request.turnId, request.fence);
  if (active.purpose !== "compaction") throw invalid("A turn is ended by sealing it");
  checkTurnId(log, request.next.turnId);
  const { next } = endLease(db, log, request.next);
  return { ...omitUndefined({ next }), queue: queueStateOf(log) };
}
