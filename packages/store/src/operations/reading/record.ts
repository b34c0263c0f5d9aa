import type { ActiveLease, ConversationRecord } from "@parley/core/ports";
import type { ConversationStatus, TurnReason } from "@parley/wire";
import type { Connection } from "../../database.js";
import { readSettings, settingsOf } from "../../settings-columns.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { notFound } from "../refusals.js";
import { queueEntries, queueJson } from "../turns/queue-state.js";

/** Columns that `recordOf` reads, of the tables that `recordTables` names. */
export const recordColumns = `
  c.log::float8 AS log, c.id, c.title, c.status, ${settingsOf("c")}, c.queue_paused,
  coalesce(c.parent_seq, c.imported_parent_seq) AS parent_seq, c.context_size, c.last_model,
  coalesce((SELECT p.id FROM parley.conversation p WHERE p.log = c.parent), c.imported_parent) AS parent_id,
  (SELECT o.id FROM parley.conversation o WHERE o.log = c.archive_of) AS archive_of,
  (SELECT a.id FROM parley.conversation a WHERE a.log = c.compacted_from AND a.archive_of IS NOT NULL
    AND a.status <> 'removed') AS compacted_from, c.compacted_from IS NOT NULL AS compacted,
  date_part('epoch', c.created_at) * 1000 AS created_ms,
  date_part('epoch', greatest(c.last_activity_at, h.active_at)) * 1000 AS activity_ms,
  date_part('epoch', c.last_activity_at) * 1000 AS place_ms,
  c.changed_at::float8 AS changed_at, h.next_seq, h.sealed_seq, h.turn_id, h.compaction_id, h.node, h.fence,
  h.stop_requested_at IS NOT NULL AS stop_requested, date_part('epoch', h.started_at) * 1000 AS started_ms,
  (SELECT t.model FROM parley.conversation_turn t
    WHERE h.turn_id IS NOT NULL AND t.log = h.log AND t.ordinal = h.turn_count) AS turn_model,
  (SELECT t.reason FROM parley.conversation_turn t
    WHERE h.turn_id IS NULL AND t.log = h.log AND t.ordinal = h.turn_count) AS last_reason,
  date_part('epoch', h.waiting_since) * 1000 AS waiting_ms,
  (SELECT json_agg(r.kind ORDER BY r.place)::text FROM parley.input_request r
    WHERE h.turn_id IS NOT NULL AND r.log = h.log AND r.turn = h.turn_count AND r.response IS NULL) AS open_kinds,
  ${queueJson("c.log")} AS queue`;

export const recordTables = "parley.conversation c JOIN parley.conversation_head h ON h.log = c.log";

interface RecordRow {
  log: number;
  id: string;
  title: string;
  status: "open" | "closed";
  queue_paused: boolean;
  parent_id: string | null;
  parent_seq: number | null;
  archive_of: string | null;
  compacted_from: string | null;
  compacted: boolean;
  context_size: number | null;
  last_model: string | null;
  last_reason: string | null;
  created_ms: number;
  activity_ms: number;
  changed_at: number;
  next_seq: number;
  sealed_seq: number;
  turn_id: string | null;
  compaction_id: string | null;
  node: string;
  fence: number;
  stop_requested: boolean;
  started_ms: number | null;
  turn_model: string | null;
  waiting_ms: number | null;
  open_kinds: string | null;
  queue: string | null;
}

export function recordOf(read: Record<string, unknown>): ConversationRecord {
  const row = read as unknown as RecordRow;
  const running = row.turn_id !== null;
  const idle: ConversationStatus = running ? "active" : "idle";
  return {
    log: row.log,
    id: row.id,
    title: originalText(row.title),
    ...readSettings(read),
    status: row.status === "closed" ? "closed" : idle,
    createdAt: Math.round(row.created_ms),
    lastActivityAt: Math.round(row.activity_ms),
    changedAt: row.changed_at,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id, parentSeq: row.parent_seq ?? 0 }),
    ...(row.compacted ? { compacted: true as const } : {}),
    ...(row.compacted_from === null ? {} : { compactedFrom: row.compacted_from }),
    ...(row.archive_of === null ? {} : { archiveOf: row.archive_of }),
    lastSeq: row.next_seq - 1,
    sealedSeq: row.sealed_seq,
    ...(running || row.compaction_id !== null ? { active: activeLeaseOf(row) } : {}),
    queue: queueEntries(row.queue, row.id),
    queuePaused: row.queue_paused,
    ...(row.context_size === null ? {} : { contextSize: row.context_size }),
    ...(row.last_model === null ? {} : { lastModel: originalText(row.last_model) }),
    ...(row.last_reason === null ? {} : { lastReason: originalText(row.last_reason) as TurnReason }),
  };
}

function activeLeaseOf(row: RecordRow): ConversationRecord["active"] & object {
  const model = row.turn_id === null ? null : row.turn_model;
  return {
    turnId: originalText(row.turn_id ?? row.compaction_id ?? ""),
    purpose: row.turn_id === null ? "compaction" : "turn",
    node: originalText(row.node),
    fence: row.fence,
    stopRequested: row.stop_requested,
    startedAt: Math.round(row.started_ms ?? 0),
    ...(model === null ? {} : { model: originalText(model) }),
    ...(row.waiting_ms === null ? {} : { waitingSince: Math.round(row.waiting_ms) }),
    ...openInputs(row.open_kinds),
  };
}

function openInputs(kinds: string | null): Pick<ActiveLease, "inputs"> {
  if (kinds === null) return {};
  const open = originalJson(kinds) as string[];
  return { inputs: { count: open.length, kinds: [...new Set(open)] } };
}

/** Finds a record by one statement, so that it is consistent: queue, lease and seqs of the same moment. */
export async function findRecord(
  connection: Connection,
  owner: string,
  id: string,
): Promise<ConversationRecord | null> {
  const [row] = await connection.query({
    name: "find_record",
    text: `SELECT ${recordColumns} FROM ${recordTables} 
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'`,
    values: [storedText(id), owner],
  });
  return row === undefined ? null : recordOf(row);
}

export async function requireRecord(
  connection: Connection,
  owner: string,
  id: string,
): Promise<ConversationRecord> {
  const record = await findRecord(connection, owner, id);
  if (record === null) throw notFound(id);
  return record;
}
