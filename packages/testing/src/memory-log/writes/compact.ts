import { invalidField, ParleyError } from "@parley/core/errors";
import type { ConversationId } from "@parley/core/messages";
import type { CompactInput, CompactResult, ConversationRecord } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  appendRow,
  checkMessages,
  checkNewId,
  entryOf,
  findLog,
  invalid,
  type Log,
  leaveNotice,
  logOf,
  type MemoryDatabase,
  touch,
} from "../database.js";
import { queueStateOf, recordOf } from "../record.js";
import { compactionInForce } from "../view.js";
import { addFork } from "./fork.js";
import { checkTurnId, endLease, heldLease, stillOpened, turnActive } from "./lease.js";

export function compact(db: MemoryDatabase, owner: string, input: CompactInput): CompactResult {
  const log = logOf(db, owner, input.conversationId);
  const repeated = compactedBefore(db, log, input);
  if (repeated !== undefined) return repeated;
  const active = heldLease(log, input.turnId, input.fence);
  checkMessages([input.summary], log.id);
  checkCovers(log, input.covers);
  checkNewId(input.archiveId);
  if (findLog(db, owner, input.archiveId) !== undefined) {
    throw invalidField("id", "used by another conversation");
  }
  if (log.rowsById.has(input.summary.id)) {
    throw new ParleyError("message_conflict", undefined, { details: { messageId: input.summary.id } });
  }
  if (input.release !== undefined) {
    if (active.purpose === "turn") throw invalid("A turn is ended by sealing it");
    checkTurnId(log, input.release.turnId);
  }

  // The archive shows the conversation as it was before, so it is forked before the summary.
  addFork(db, log, {
    id: input.archiveId,
    atSeq: log.sealedSeq,
    title: log.title,
    archiveOf: log.id,
  });
  const turn = log.turnsById.get(input.turnId);
  const row = appendRow(db, log, input.summary, {
    covers: input.covers,
    ...omitUndefined({ turn }),
  });
  log.compactions.push({ seq: row.lastSeq, archiveId: input.archiveId });
  // Without a turn around it, the summary is immediately final.
  if (turn === undefined) log.sealedSeq = log.lastSeq;
  touch(db, log);
  const { notice, archiveId: newConversationId } = input;
  if (notice !== undefined) {
    leaveNotice(db, owner, (changedAt) => ({
      kind: "compacted",
      changedAt,
      conversationId: log.id,
      newConversationId,
      ...notice,
    }));
  }
  const next = input.release === undefined ? undefined : endLease(db, log, input.release).next;
  return {
    entry: entryOf(row, log.id),
    ...omitUndefined({ next }),
    queue: queueStateOf(log),
  };
}

/** Handles a repeated compaction: returns what it wrote, and the turn it opened as long as its node still has it. */
function compactedBefore(db: MemoryDatabase, log: Log, input: CompactInput): CompactResult | undefined {
  const row = log.rowsById.get(input.summary.id);
  const archive = findLog(db, log.owner, input.archiveId);
  if (row?.covers === undefined || archive?.archiveOf !== log.id) return undefined;
  const { release } = input;
  const next = release === undefined ? undefined : stillOpened(log, release.turnId, release.node);
  return {
    entry: entryOf(row, log.id),
    ...omitUndefined({ next }),
    queue: queueStateOf(log),
  };
}

function checkCovers(log: Log, covers: CompactInput["covers"]): void {
  const { fromSeq, toSeq } = covers;
  const whole = Number.isSafeInteger(fromSeq) && Number.isSafeInteger(toSeq);
  if (whole && fromSeq >= 1 && fromSeq <= toSeq && toSeq <= log.lastSeq) return;
  throw invalid("A compaction covers seqs that exist", { fromSeq, toSeq });
}

export function undoCompaction(db: MemoryDatabase, owner: string, id: ConversationId): ConversationRecord {
  const log = logOf(db, owner, id);
  if (log.archiveOf !== undefined) throw new ParleyError("conversation_closed");
  if (log.active !== undefined) throw turnActive(log);
  const latest = compactionInForce(log);
  if (latest === undefined) throw new ParleyError("nothing_to_compact", "No compaction is in force");
  log.undone.add(latest.seq);
  touch(db, log);
  return recordOf(db, log);
}
