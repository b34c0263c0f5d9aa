import type { ConversationRecord, QueueState } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { ConversationStatus } from "@parley/wire";
import { findLog, type Log, type MemoryDatabase } from "./database.js";
import { openInputs } from "./reads/inputs.js";
import { compactionInForce } from "./view.js";

/** Returns the status. `active` is for turns: a compaction by hand holds the lease, but nothing is being answered. */
export function statusOf(log: Log): ConversationStatus {
  if (log.closed) return "closed";
  return log.active?.purpose === "turn" ? "active" : "idle";
}

export function queueStateOf(log: Log): QueueState {
  return { entries: log.queue.slice(), paused: log.queuePaused };
}

export function recordOf(db: MemoryDatabase, log: Log): ConversationRecord {
  const { active, settings } = log;
  const compaction = compactionInForce(log);
  const archiveId = compaction?.archiveId;
  const head: ConversationRecord = {
    id: log.id,
    log: log.number,
    title: log.title,
    status: statusOf(log),
    createdAt: log.createdAt,
    lastActivityAt: log.lastActivityAt,
    changedAt: log.changedAt,
    lastSeq: log.lastSeq,
    sealedSeq: log.sealedSeq,
    queue: log.queue.slice(),
    queuePaused: log.queuePaused,
    ...parentOf(log),
    ...(compaction === undefined ? {} : { compacted: true as const }),
    ...(archiveId !== undefined && findLog(db, log.owner, archiveId)?.archiveOf !== undefined
      ? { compactedFrom: archiveId }
      : {}),
    ...omitUndefined({ archiveOf: log.archiveOf }),
    ...(active === undefined ? {} : { active: activeLeaseOf(log, active) }),
    ...omitUndefined({
      contextSize: log.contextSize,
      lastModel: log.lastModel,
      lastReason: lastReasonOf(log),
    }),
  };
  return Object.keys(settings).length === 0 ? head : { ...settings, ...head };
}

function lastReasonOf({ active, turns }: Log): ConversationRecord["lastReason"] {
  return active?.purpose === "turn" ? undefined : turns.at(-1)?.sealed?.reason;
}

function parentOf({ parent, importedParent }: Log): Pick<ConversationRecord, "parentId" | "parentSeq"> {
  if (parent !== undefined) return { parentId: parent.log.id, parentSeq: parent.seq };
  return importedParent === undefined ? {} : { parentId: importedParent.id, parentSeq: importedParent.seq };
}

function activeLeaseOf(log: Log, active: NonNullable<Log["active"]>): ConversationRecord["active"] & object {
  const model = log.turnsById.get(active.turnId)?.choices.model;
  return {
    turnId: active.turnId,
    purpose: active.purpose,
    node: active.node,
    fence: active.fence,
    stopRequested: active.stopRequested,
    startedAt: active.startedAt,
    ...omitUndefined({ waitingSince: active.waitingSince, inputs: openInputs(log, active.turnId) }),
    ...(model === undefined || active.purpose === "compaction" ? {} : { model }),
  };
}
