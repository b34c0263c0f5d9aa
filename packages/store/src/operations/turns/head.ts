import type { Lease } from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import { originalText, storedText } from "../../stored-text.js";
import { changeNumber, takenChange } from "../numbers.js";
import { notFound, staleFence } from "../refusals.js";

/** A conversation's head and its row's values, read under the lock. */
export interface Head {
  readonly conversationId: string;
  readonly log: number;
  readonly owner: string;
  readonly nextSeq: number;
  readonly sealedSeq: number;
  /** Number of turns; also the ordinal of the open turn, if there is one. */
  readonly turnCount: number;
  readonly turnId: string | undefined;
  readonly compactionId: string | undefined;
  readonly node: string;
  readonly fence: number;
  readonly stopRequested: boolean;
  /** True if the open turn waits for input; no node holds it. */
  readonly waiting: boolean;
  readonly title: string;
  readonly closed: boolean;
  readonly archive: boolean;
  readonly compactedFrom: boolean;
  readonly queuePaused: boolean;
  /** The conversation's setting. */
  readonly model: string | undefined;
  /** Model of the newest turn that names one. */
  readonly lastModel: string | undefined;
}

/**
 * Time of the database at which the statement began, in the precision that callers see. The head is locked by a
 * statement before it, so it is a time after the lock.
 */
export const nowMs = "date_trunc('milliseconds', statement_timestamp())";

/**
 * Returns that time if a condition is true, and NULL otherwise. Not `CASE WHEN ... THEN now`: an engine that distributes
 * the schema refuses a write with such a function within CASE or COALESCE.
 */
export function nowIf(condition: string): string {
  return `${nowMs} + CASE WHEN ${condition} THEN interval '0' END`;
}

/** Returns a time as milliseconds, without a function that depends on settings: RETURNING may hold it. */
export function returnedMs(column: string): string {
  return `date_part('epoch', ${column} - timestamptz '1970-01-01 00:00:00+00') * 1000`;
}

/** Marks a change that watchers are notified of; follows `takeChangeNumber`. */
export const touched = `changed_at = ${changeNumber}, updated_at = greatest(updated_at, ${nowMs})`;

/** Returns the same for a row `c`, with the time of the last written row, from the head `head`. */
export function touchedWith(head: string): string {
  return `changed_at = ${changeNumber}, updated_at = greatest(c.updated_at, ${nowMs}),
  last_activity_at = greatest(c.last_activity_at, ${head}.active_at)`;
}

/**
 * Locks a conversation for a transaction, then reads it. Two statements, because a statement that waits for a lock
 * continues with its first snapshot: it would see the new head beside the old row of the conversation. Both go out in
 * one round trip.
 */
export async function lockHead(connection: Connection, owner: string, id: string): Promise<Head | undefined> {
  const values = [storedText(id), owner];
  const [, rows = []] = await connection.batch([
    { name: "lock_head", text: lockText, values },
    { name: "read_head", text: readText, values },
  ]);
  const row = rows[0] as unknown as HeadRow | undefined;
  if (row === undefined) return undefined;
  return {
    conversationId: id,
    log: row.log,
    owner,
    nextSeq: row.next_seq,
    sealedSeq: row.sealed_seq,
    turnCount: row.turn_count,
    turnId: row.turn_id === null ? undefined : originalText(row.turn_id),
    compactionId: row.compaction_id === null ? undefined : originalText(row.compaction_id),
    node: originalText(row.node),
    fence: row.fence,
    stopRequested: row.stop_requested,
    waiting: row.waiting,
    title: originalText(row.title),
    closed: row.status === "closed",
    archive: row.archive,
    compactedFrom: row.compacted,
    queuePaused: row.queue_paused,
    model: row.model === null ? undefined : originalText(row.model),
    lastModel: row.last_model === null ? undefined : originalText(row.last_model),
  };
}

interface HeadRow {
  log: number;
  next_seq: number;
  sealed_seq: number;
  turn_count: number;
  turn_id: string | null;
  compaction_id: string | null;
  node: string;
  fence: number;
  stop_requested: boolean;
  waiting: boolean;
  title: string;
  status: string;
  archive: boolean;
  compacted: boolean;
  queue_paused: boolean;
  model: string | null;
  last_model: string | null;
}

/** Locks the head of the conversation `$1` of the owner `$2`. */
export const lockText = `
SELECT 1 AS locked FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' FOR UPDATE OF h`;

/**
 * Locks the head and takes a change number behind the lock, in one statement: a turn does it twice. It returns nothing
 * else; the statement behind it sees what was committed until then.
 */
export function lockForChange(owner: string, id: string): Statement {
  return { name: "lock_for_change", text: lockForChangeText, values: [storedText(id), owner] };
}

const lockForChangeText = `
WITH locked AS MATERIALIZED (${lockText}
)
SELECT ${takenChange("$2")} AS taken FROM locked`;

const readText = `
SELECT h.log::float8 AS log, h.next_seq, h.sealed_seq, h.turn_count, h.turn_id, h.compaction_id, h.node, h.fence,
  h.stop_requested_at IS NOT NULL AS stop_requested, h.waiting_since IS NOT NULL AS waiting, c.title, c.status, c.archive_of IS NOT NULL AS archive,
  c.compacted_from IS NOT NULL AS compacted, c.queue_paused, c.model, c.last_model
FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'`;

/** Locks and reads the head, and refuses an unknown conversation. */
export async function requireHead(connection: Connection, owner: string, id: string): Promise<Head> {
  const head = await lockHead(connection, owner, id);
  if (head === undefined) throw notFound(id);
  return head;
}

/** Returns the open turn's id, or that of the compaction. */
export function activeId(head: Head): string | undefined {
  return head.turnId ?? head.compactionId;
}

/** Checks the lease; every write of a lease begins with it. */
export function checkHeld(head: Head, turnId: string, fence: number): void {
  if (activeId(head) === turnId && head.fence === fence) return;
  throw staleFence(head.conversationId, turnId);
}

/** The columns of a lease, of the tables `conversation_head` called `h` and `conversation` called `c`. */
export const leaseColumns = `h.owner, c.id, h.log::float8 AS log, coalesce(h.turn_id, h.compaction_id) AS active_id,
  h.turn_id IS NULL AS compacting, h.fence, h.stop_requested_at IS NOT NULL AS stop_requested`;

export function leaseOf(row: Record<string, unknown>): Lease {
  const { owner, id, log, active_id, compacting, fence, stop_requested } = row;
  return {
    owner: originalText(String(owner)),
    conversationId: String(id),
    log: Number(log),
    turnId: originalText(String(active_id)),
    purpose: compacting === true ? "compaction" : "turn",
    fence: Number(fence),
    stopRequested: stop_requested === true,
  };
}
