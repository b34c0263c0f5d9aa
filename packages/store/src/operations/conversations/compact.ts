import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { CompactInput, CompactResult, ConversationRecord } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { messageIs } from "../../id-key.js";
import {
  entriesOf,
  entryAt,
  type MessageRow,
  messageColumns,
  messageRow,
  readMessage,
} from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { noticeStatements } from "../reading/notices.js";
import { requireRecord } from "../reading/record.js";
import { checkConversationId, invalid, messageConflict, turnActive } from "../refusals.js";
import { activeId, checkHeld, type Head, nowMs, requireHead } from "../turns/head.js";
import { checkTurnId, endLease, insertRows, stillOpened, touchStatements } from "../turns/open-turn.js";
import { queueState, readQueue } from "../turns/queue-state.js";
import { compactionInForce, markCompactedFrom } from "./compaction-in-force.js";
import { addFork } from "./fork.js";

/**
 * Writes a summary, its archive and, for a manual one, the end of its lease: step by step under the lock, because it is
 * rare.
 */
export function compact(store: StoreContext, owner: string, input: CompactInput): Promise<CompactResult> {
  const { conversationId, turnId, covers, archiveId, release } = input;
  const row = messageRow(input.summary, conversationId, store.maxBytes);
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, conversationId);
    const repeated = await compactedBefore(connection, owner, head, input, row);
    if (repeated !== undefined) return repeated;
    checkHeld(head, turnId, input.fence);
    checkCovers(head, covers);
    checkConversationId(archiveId);
    if (release !== undefined) {
      if (head.turnId !== undefined) throw invalid("A turn is ended by sealing it");
      await checkTurnId(connection, head, release.turnId);
    }

    // The archive shows the conversation as it was before, so it forks before the summary.
    const archive = await addFork(store, connection, owner, head, {
      id: archiveId,
      atSeq: head.sealedSeq,
      title: head.title,
      isArchive: true,
    });
    const { log } = head;
    const inTurn = head.turnId;
    const firstSeq = head.nextSeq;
    const nextSeq = firstSeq + row.parts;
    // Without a turn around it, the summary is final at once.
    const sealedSeq = inTurn === undefined ? nextSeq - 1 : head.sealedSeq;
    await connection.batch([
      ...insertRows(head, [row], {
        firstSeq,
        turn: inTurn === undefined ? undefined : head.turnCount,
        covers,
      }),
      {
        text: `UPDATE parley.conversation_head SET next_seq = $2, sealed_seq = $3,
          active_at = greatest(active_at, ${nowMs}) WHERE log = $1`,
        values: [log, nextSeq, sealedSeq],
      },
      {
        text: `INSERT INTO parley.compaction (log, seq, kind, from_seq, to_seq, archive)
          VALUES ($1, $2, 'made', $3, $4, $5)`,
        values: [log, nextSeq - 1, covers.fromSeq, covers.toSeq, archive],
      },
      {
        text: "UPDATE parley.conversation SET compacted_from = $2 WHERE log = $1",
        values: [log, archive],
      },
      ...touchStatements(head),
      ...(input.notice === undefined
        ? []
        : noticeStatements(owner, "compacted", {
            conversationId,
            newConversationId: archiveId,
            ...input.notice,
          })),
      ...(inTurn === undefined
        ? []
        : [
            {
              text: "UPDATE parley.conversation_turn SET last_seq = $3 WHERE log = $1 AND ordinal = $2",
              values: [log, head.turnCount, nextSeq - 1],
            },
          ]),
    ]);
    const entry = entryAt(row, { firstSeq, covers, ...omitUndefined({ turnId: inTurn }) });
    if (release === undefined) {
      const queue = await readQueue(connection, head);
      return { entry, queue: queueState(queue, head.queuePaused) };
    }
    const { next, queue } = await endLease(store, connection, { ...head, nextSeq, sealedSeq }, release);
    return { entry, ...omitUndefined({ next }), queue };
  });
}

/** Answers a repeated compaction: with what it wrote, and the turn that it opened as long as its node still has it. */
async function compactedBefore(
  connection: Connection,
  owner: string,
  head: Head,
  input: CompactInput,
  row: MessageRow,
): Promise<CompactResult | undefined> {
  const { conversationId, release } = input;
  const [written = [], archives = []] = await connection.batch([
    {
      text: `SELECT ${messageColumns} FROM parley.conversation_message m WHERE ${messageIs("$2", "$1", "$3")}`,
      values: [row.key, row.id, head.log],
    },
    {
      text: `SELECT archive_of::float8 AS archive_of FROM parley.conversation
        WHERE owner = $2 AND id = $1 AND status <> 'removed'`,
      values: [storedText(input.archiveId), owner],
    },
  ]);
  const [summary] = written;
  if (summary === undefined) return undefined;
  if (summary.covers_from === null || archives[0]?.archive_of !== head.log) {
    throw messageConflict(input.summary.id);
  }
  const [entry] = entriesOf(readMessage(summary), conversationId);
  if (entry === undefined) return undefined;
  const next =
    release === undefined ? undefined : await stillOpened(connection, head, release.turnId, release.node);
  const queue = await readQueue(connection, head);
  return { entry, ...omitUndefined({ next }), queue: queueState(queue, head.queuePaused) };
}

function checkCovers(head: Head, covers: CompactInput["covers"]): void {
  const { fromSeq, toSeq } = covers;
  const whole = Number.isSafeInteger(fromSeq) && Number.isSafeInteger(toSeq);
  if (whole && fromSeq >= 1 && fromSeq <= toSeq && toSeq < head.nextSeq) return;
  throw invalid("A compaction covers seqs that exist", { fromSeq, toSeq });
}

/** Undoes a compaction by a row: the summary stays in the log, and is no longer read in place of what it covers. */
export function undoCompaction(store: StoreContext, owner: string, id: string): Promise<ConversationRecord> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, id);
    if (head.archive) throw new ParleyError("conversation_closed");
    if (activeId(head) !== undefined) throw turnActive(head);
    const latest = await compactionInForce(connection, owner, id);
    if (latest === undefined) throw new ParleyError("nothing_to_compact", "No compaction is in force");
    await connection.query({
      text: "INSERT INTO parley.compaction (log, seq, kind) VALUES ($1, $2, 'undone')",
      values: [head.log, latest.seq],
    });
    await markCompactedFrom(connection, owner, id);
    await connection.batch(touchStatements(head));
    return requireRecord(connection, owner, id);
  });
}
