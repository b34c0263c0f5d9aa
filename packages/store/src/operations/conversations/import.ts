import { ParleyError } from "@parley/core/errors";
import { omitUndefined, stableValue, toStoredChunks } from "@parley/core/messages";
import type { HistoryEntry, ImportedEntry, ImportInput, ImportResult } from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import {
  boundedJson,
  entriesOf,
  type MessageRow,
  messageColumns,
  messageRow,
  readMessage,
  rowLists,
  stepMark,
} from "../../message-row.js";
import { packedMetrics } from "../../packed-metrics.js";
import { storedCalls } from "../../provider-calls.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { refStatements } from "../files/file-refs.js";
import { lineage } from "../reading/lineage.js";
import { requireRecord } from "../reading/record.js";
import { checkConversationId, checkCreatedAt, invalid } from "../refusals.js";
import { type Head, requireHead } from "../turns/head.js";
import { touchStatements } from "../turns/open-turn.js";
import { readMetrics } from "../turns/turn-records.js";
import { markCompactedFrom } from "./compaction-in-force.js";
import { createConversationRow } from "./create-conversation.js";

/** Limits of one statement that writes or reads: rows, and characters of them. */
const rowsAtOnce = 500;
const charactersAtOnce = 4_000_000;
/** Turns that are written in one round trip. */
const turnsAtOnce = 100;

interface PlacedRow {
  readonly row: MessageRow;
  readonly entry: ImportedEntry;
}

/**
 * Writes a whole log, or finds that it exists. In one transaction, but in statements of a bounded size: a list of all
 * rows would be copied several times on its way.
 */
export function importConversation(
  store: StoreContext,
  owner: string,
  input: ImportInput,
): Promise<ImportResult> {
  const { conversationId, settings } = input;
  const rows = input.entries.map((entry) => {
    checkCreatedAt(entry.message);
    return { row: messageRow(entry.message, conversationId, store.maxBytes), entry };
  });
  checkPlaces(rows, input);
  checkParent(input, lastSeqOf(rows));
  const turns = input.turns.map((turn) => turnValues(store, turn));
  return store.database.transaction(async (connection) => {
    const created = await createConversationRow(store, connection, {
      id: conversationId,
      owner,
      settings,
      title: settings.title ?? "",
      createdAt: new Date(input.createdAt),
    });
    if (created !== undefined) {
      await write(connection, await requireHead(connection, owner, conversationId), input, rows, turns);
      if (input.entries.some(({ covers }) => covers !== undefined)) {
        await markCompactedFrom(connection, owner, conversationId);
      }
    } else {
      const head = await requireHead(connection, owner, conversationId);
      if (!(await holds(connection, owner, head, input, rows))) {
        throw new ParleyError("message_conflict", "Another conversation has this id", {
          details: { conversationId },
        });
      }
    }
    return {
      conversation: await requireRecord(connection, owner, conversationId),
      created: created !== undefined,
    };
  });
}

async function write(
  connection: Connection,
  head: Head,
  input: ImportInput,
  rows: readonly PlacedRow[],
  turns: readonly (readonly (string | number | null)[])[],
): Promise<void> {
  const { log } = head;
  const ordinals = new Map(input.turns.map(({ turnId }, index) => [turnId, index + 1]));
  for (const piece of pieces(rows)) {
    const placed = piece.map(({ row, entry: { firstSeq } }) => ({ row, firstSeq }));
    await connection.batch([insertPiece(head, ordinals, piece), ...refStatements(head, placed)]);
  }
  for (let start = 0; start < turns.length; start += turnsAtOnce) {
    await connection.batch(
      turns.slice(start, start + turnsAtOnce).map((values, index) => ({
        name: "import_turn",
        text: importTurnText,
        values: [log, start + index + 1, ...values],
      })),
    );
  }
  const contextSize = input.turns.findLast(({ metrics }) => metrics.contextSize !== undefined)?.metrics
    .contextSize;
  const lastModel = input.turns.findLast(({ metrics }) => metrics.model !== undefined)?.metrics.model;
  const at = new Date(input.lastActivityAt).toISOString();
  await connection.batch([
    ...rows.flatMap(({ row, entry }) => compactionStatements(log, row, entry)),
    {
      text: `UPDATE parley.conversation_head SET next_seq = $2::int4 + 1, sealed_seq = $2::int4, turn_count = $3,
        active_at = $4::timestamptz WHERE log = $1`,
      values: [log, lastSeqOf(rows), turns.length, at],
    },
    {
      text: `UPDATE parley.conversation SET status = $2, context_size = $3, last_activity_at = $4::timestamptz,
        last_model = $5, imported_parent = $6, imported_parent_seq = $7 WHERE log = $1`,
      values: [
        log,
        input.closed ? "closed" : "open",
        contextSize ?? null,
        at,
        lastModel === undefined ? null : storedText(lastModel),
        input.parent === undefined ? null : storedText(input.parent.id),
        input.parent?.seq ?? null,
      ],
    },
    ...touchStatements(head),
  ]);
}

const importTurnText = `
INSERT INTO parley.conversation_turn (log, ordinal, id, status, reason, first_seq, last_seq, metrics, provider_calls,
  started_at, sealed_at)
VALUES ($1, $2, $3, 'sealed', $4, $5, $6, $7::json, $8::json, $9::timestamptz, $10::timestamptz)`;

/** Returns the values of a turn's row, without its place in the order. */
function turnValues(store: StoreContext, turn: ImportInput["turns"][number]): (string | number | null)[] {
  return [
    storedText(turn.turnId),
    turn.reason === undefined ? null : storedText(turn.reason),
    turn.firstSeq,
    turn.lastSeq,
    boundedJson(packedMetrics(turn.metrics, turn), store.maxBytes),
    storedCalls(store, turn.providerCalls),
    new Date(turn.startedAt).toISOString(),
    new Date(turn.sealedAt).toISOString(),
  ];
}

/** Writes a summary without its archive, which was not exported. */
function compactionStatements(log: number, row: MessageRow, entry: ImportedEntry): Statement[] {
  const { covers, firstSeq } = entry;
  if (covers === undefined) return [];
  const seq = firstSeq + row.parts - 1;
  const made = {
    text: "INSERT INTO parley.compaction (log, seq, kind, from_seq, to_seq) VALUES ($1, $2, 'made', $3, $4)",
    values: [log, seq, covers.fromSeq, covers.toSeq],
  };
  if (entry.inForce !== false) return [made];
  return [
    made,
    {
      text: "INSERT INTO parley.compaction (log, seq, kind) VALUES ($1, $2, 'undone')",
      values: [log, seq],
    },
  ];
}

function* pieces(rows: readonly PlacedRow[]): Generator<PlacedRow[], void, undefined> {
  let piece: PlacedRow[] = [];
  let characters = 0;
  for (const each of rows) {
    const { length } = each.row.content;
    if (piece.length >= rowsAtOnce || (piece.length > 0 && characters + length > charactersAtOnce)) {
      yield piece;
      piece = [];
      characters = 0;
    }
    piece.push(each);
    characters += length;
  }
  if (piece.length > 0) yield piece;
}

function insertPiece(
  head: Head,
  ordinals: ReadonlyMap<string, number>,
  piece: readonly PlacedRow[],
): Statement {
  const [ids, roles, types, contents, times, resources, , parts, keys, tokens, rules] = rowLists(
    piece.map(({ row }) => row),
  ).values;
  return {
    name: "import_rows",
    text: `
INSERT INTO parley.conversation_message (log, id, role, type, content, created_at, resource_id, part_count,
  first_seq, turn, step, covers_from, covers_to, id_key, tokens, token_rule)
SELECT $1::int8, g.id, g.role, g.type, g.content::jsonb, g.created_at, g.resource_id, g.parts, g.first_seq, g.turn,
  g.step, g.covers_from, g.covers_to, g.id_key, g.tokens, g.token_rule
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::int4[], $9::int4[],
  $10::int4[], $11::text[], $12::int4[], $13::int4[], $14::int8[], $15::int4[], $16::int2[]) AS g(id, role, type, content,
  created_at, resource_id, parts, first_seq, turn, step, covers_from, covers_to, id_key, tokens, token_rule)`,
    values: [
      head.log,
      ids,
      roles,
      types,
      contents,
      times,
      resources,
      parts,
      piece.map(({ entry }) => entry.firstSeq),
      piece.map(({ entry }) => (entry.turnId === undefined ? null : (ordinals.get(entry.turnId) ?? null))),
      piece.map(({ entry }) => stepMark(entry.stepId, entry.turnId)),
      piece.map(({ entry }) => entry.covers?.fromSeq ?? null),
      piece.map(({ entry }) => entry.covers?.toSeq ?? null),
      keys,
      tokens,
      rules,
    ],
  };
}

function lastSeqOf(rows: readonly PlacedRow[]): number {
  const last = rows.at(-1);
  return last === undefined ? 0 : last.entry.firstSeq + last.row.parts - 1;
}

/** Refuses an invalid log: seqs with gaps, ids that occur twice, turns without their rows. */
function checkPlaces(rows: readonly PlacedRow[], { turns }: ImportInput): void {
  const named = new Set(turns.map(({ turnId }) => turnId));
  if (named.size !== turns.length) throw invalid("Two turns have the same id");
  const ids = new Set<string>();
  const ranges = new Map<string, { firstSeq: number; lastSeq: number }>();
  let last = 0;
  for (const { row, entry } of rows) {
    const { firstSeq, turnId } = entry;
    if (firstSeq !== last + 1) throw invalid("The seqs of an import have a gap", { seq: last + 1 });
    if (ids.has(row.id)) throw invalid("Two messages have the same id", { messageId: entry.message.id });
    ids.add(row.id);
    last += row.parts;
    if (turnId === undefined) continue;
    if (!named.has(turnId)) throw invalid("A message names no turn", { turnId });
    ranges.set(turnId, { firstSeq: ranges.get(turnId)?.firstSeq ?? firstSeq, lastSeq: last });
  }
  for (const { turnId, firstSeq, lastSeq } of turns) {
    const range = ranges.get(turnId);
    if (range?.firstSeq === firstSeq && range.lastSeq === lastSeq) continue;
    throw invalid("A turn has other seqs than its messages", { turnId });
  }
}

function checkParent({ parent }: ImportInput, lastSeq: number): void {
  if (parent === undefined) return;
  checkConversationId(parent.id);
  if (!Number.isSafeInteger(parent.seq) || parent.seq < 0 || parent.seq > lastSeq) {
    throw invalid("A fork shares no more than it has", { seq: lastSeq });
  }
}

/** Returns true if the log begins with everything that is imported, message by message and turn by turn. */
async function holds(
  connection: Connection,
  owner: string,
  head: Head,
  input: ImportInput,
  rows: readonly PlacedRow[],
): Promise<boolean> {
  const { conversationId } = input;
  const lastSeq = lastSeqOf(rows);
  if (head.sealedSeq < lastSeq) return false;
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const piece = rows.slice(start, start + rowsAtOnce);
    const found = await connection.query({
      text: `${lineage()}
SELECT ${messageColumns} FROM lineage l
JOIN parley.conversation_message m ON m.log = l.log AND m.first_seq <= l.through
WHERE m.first_seq BETWEEN $3 AND $4 ORDER BY m.first_seq`,
      values: [storedText(conversationId), owner, piece[0]?.entry.firstSeq ?? 0, lastSeqOf(piece)],
    });
    const entries = found.flatMap((row) => entriesOf(readMessage(row), conversationId));
    if (entries.length !== piece.length) return false;
    const same = piece.every(({ row, entry }, index) =>
      isSame(entries[index], { ...entry, message: row.message }),
    );
    if (!same) return false;
  }
  const stored = await connection.query({
    text: `${lineage()}
SELECT t.id, t.reason, t.metrics::text AS metrics FROM lineage l
JOIN parley.conversation_turn t ON t.log = l.log AND t.status = 'sealed' AND t.last_seq <= least(l.through, $3::int4)`,
    values: [storedText(conversationId), owner, lastSeq],
  });
  const metrics = new Map(stored.map((row) => [originalText(String(row.id)), readMetrics(row) ?? null]));
  return input.turns.every((turn) => isEqual(metrics.get(turn.turnId), turn.metrics));
}

function isSame(stored: HistoryEntry | undefined, given: ImportedEntry): boolean {
  if (stored?.firstSeq !== given.firstSeq || !isEqual(stored.covers ?? null, given.covers ?? null))
    return false;
  return isEqual(
    toStoredChunks(stored.message, placeOf(stored)),
    toStoredChunks(given.message, placeOf(given)),
  );
}

function placeOf(entry: HistoryEntry | ImportedEntry): Parameters<typeof toStoredChunks>[1] {
  const { firstSeq = 0, turnId, stepId } = entry;
  return {
    firstSeq,
    ...omitUndefined({ turnId, stepId }),
  };
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(stableValue(left)) === JSON.stringify(stableValue(right));
}
