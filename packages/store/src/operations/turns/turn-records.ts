import { invalidField, ParleyError } from "@parley/core/errors";
import { type ConversationMessage, fromCanonical, omitUndefined, toCanonical } from "@parley/core/messages";
import type { ConversationTurn, HistoryEntry, ProviderCallRecord, TurnRecord } from "@parley/core/ports";
import type { TurnMetrics, TurnReason } from "@parley/wire";
import type { Connection } from "../../database.js";
import { idIs } from "../../id-is.js";
import { idKey } from "../../id-key.js";
import { boundedJson, entriesOf, messageColumns, readMessage, rowsById } from "../../message-row.js";
import { originalMetrics } from "../../packed-metrics.js";
import { readCalls, storedCalls } from "../../provider-calls.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { lineage } from "../reading/lineage.js";
import { invalid, notFound, turnActive } from "../refusals.js";
import { activeId, type Head, nowMs, requireHead } from "./head.js";
import { readChoices, touchStatements } from "./open-turn.js";

/** A turn's own columns, of the table `t`, with the log `l` that holds it. */
const turnColumns = `l.log::float8 AS log, t.id, t.ordinal, t.status, t.reason, t.model, t.effort, t.instructions, t.tools::text AS tools,
  t.other_choices::text AS other_choices, t.first_seq,
  t.last_seq, date_part('epoch', t.started_at) * 1000 AS started_ms, date_part('epoch', t.sealed_at) * 1000 AS sealed_ms,
  t.metrics::text AS metrics, t.provider_calls::text AS provider_calls, t.appended::text AS appended`;

/** Data that `appendTurn` keeps beside the rows: the turn's own messages, by id where they are in the log. */
interface Appended {
  readonly user: readonly unknown[];
  readonly assistant: readonly unknown[];
  readonly tool?: readonly unknown[];
  readonly metadata?: Record<string, unknown>;
}

export async function readTurn(
  store: StoreContext,
  owner: string,
  id: string,
  turnId: string,
): Promise<{ turn: TurnRecord; entries: HistoryEntry[] } | null> {
  const [row] = await store.database.query({
    text: `${lineage()}
SELECT ${turnColumns} FROM lineage l
JOIN parley.conversation_turn t ON ${idIs("t.id", "$3")} AND t.log + 0 = l.log AND t.last_seq <= l.through LIMIT 1`,
    values: [storedText(id), owner, storedText(turnId)],
  });
  if (row === undefined) return null;
  const rows = await store.database.query({
    text: `SELECT ${messageColumns} FROM parley.conversation_message m
      WHERE m.log = $1 AND m.first_seq BETWEEN $2 AND $3 ORDER BY m.first_seq`,
    values: [Number(row.log), Number(row.first_seq), Number(row.last_seq)],
  });
  const own = appendedIds(row);
  const entries = rows.flatMap((read) =>
    entriesOf(readMessage(read), id).filter((entry) => own === undefined || own.has(entry.message.id)),
  );
  return { turn: turnRecordOf(row), entries };
}

/** Finds the conversations that hold a turn in their own log, by the index over the ids of turns. */
export async function findTurn(store: StoreContext, owner: string, turnId: string): Promise<string[]> {
  const rows = await store.database.query({
    name: "find_turn",
    text: `SELECT c.id FROM parley.conversation_turn t JOIN parley.conversation c ON c.log = t.log
      WHERE ${idIs("t.id", "$1")} AND c.owner = $2 AND c.status <> 'removed' AND c.archive_of IS NULL
        AND t.appended IS NULL
      ORDER BY c.last_activity_at DESC, c.log DESC LIMIT 20`,
    values: [storedText(turnId), owner],
  });
  return rows.map(({ id }) => originalText(String(id)));
}

/** Reads the metrics of a turn from its row's id, reason and metrics. */
export function readMetrics(row: Record<string, unknown>): TurnMetrics | undefined {
  if (typeof row.metrics !== "string") return undefined;
  return originalMetrics(originalJson(row.metrics), {
    turnId: originalText(String(row.id)),
    reason: typeof row.reason === "string" ? originalText(row.reason) : undefined,
  });
}

function turnRecordOf(row: Record<string, unknown>): TurnRecord {
  const sealed = row.status === "sealed";
  const figures = readMetrics(row);
  return {
    turnId: originalText(String(row.id)),
    ordinal: Number(row.ordinal),
    status: sealed ? "sealed" : row.status === "waiting" ? "waiting" : "running",
    ...(typeof row.reason === "string" ? { reason: originalText(row.reason) as TurnReason } : {}),
    choices: readChoices(row),
    firstSeq: Number(row.first_seq),
    lastSeq: Number(row.last_seq),
    startedAt: Math.round(Number(row.started_ms)),
    ...(sealed ? { sealedAt: Math.round(Number(row.sealed_ms)) } : {}),
    ...omitUndefined({ metrics: figures }),
    providerCalls: readCalls(row.provider_calls),
  };
}

function appendedOf(row: Record<string, unknown>): Appended | undefined {
  return typeof row.appended === "string" ? (originalJson(row.appended) as Appended) : undefined;
}

function appendedIds(row: Record<string, unknown>): Set<unknown> | undefined {
  const appended = appendedOf(row);
  if (appended === undefined) return undefined;
  return new Set([...appended.user, ...appended.assistant, ...(appended.tool ?? [])]);
}

/** Reads figures from the newest end, and no further than the page reaches. */
export async function metrics(
  store: StoreContext,
  owner: string,
  id: string,
  { limit, before }: { readonly limit?: number; readonly before?: string } = {},
): Promise<TurnMetrics[]> {
  const [found] = await store.database.query({
    name: "metrics_place",
    text: metricsPlaceText,
    values: [storedText(id), owner, before === undefined ? null : storedText(before)],
  });
  if (found === undefined) throw notFound(id);
  if (before !== undefined && found.last_seq === null) {
    throw invalidField("before", "no sealed turn of this conversation has this id");
  }
  const rows = await store.database.query({
    name: "metrics_page",
    text: metricsPageText,
    values: [storedText(id), owner, found.last_seq as number | null, limit ?? null],
  });
  return rows.flatMap((row) => readMetrics(row) ?? []).reverse();
}

/** Selects one row for a conversation that exists, with the last seq of the turn that a page ends before. */
const metricsPlaceText = `${lineage()}
SELECT t.last_seq FROM lineage l
LEFT JOIN parley.conversation_turn t
  ON t.log = l.log AND t.id = $3 AND t.status = 'sealed' AND t.metrics IS NOT NULL AND t.last_seq <= l.through
ORDER BY t.last_seq NULLS LAST LIMIT 1`;

const metricsPageText = `${lineage({ upTo: "($3::int4 - 1)" })}
SELECT t.id, t.reason, t.metrics FROM lineage l
CROSS JOIN LATERAL (
  SELECT s.id, s.reason, s.metrics::text AS metrics FROM parley.conversation_turn s
  WHERE s.log = l.log AND s.status = 'sealed' AND s.metrics IS NOT NULL
    AND s.last_seq <= least(l.through, $3::int4 - 1)
  ORDER BY s.ordinal DESC LIMIT $4::int8
) t LIMIT $4::int8`;

/**
 * Walks turns from the newest on, by the index of their order, and stops at the first one whose steps have made a call.
 */
export async function lastCall(
  store: StoreContext,
  owner: string,
  id: string,
): Promise<ProviderCallRecord | null> {
  const [row] = await store.database.query({
    name: "last_call",
    text: lastCallText,
    values: [storedText(id), owner],
  });
  return readCalls(row?.calls).at(-1) ?? null;
}

const lastCallText = `${lineage()}
SELECT json_build_array(t.call)::text AS calls
FROM lineage l
CROSS JOIN LATERAL (
  SELECT c.call FROM parley.conversation_turn AS made
  CROSS JOIN LATERAL (
    SELECT each.call FROM json_array_elements(made.provider_calls) WITH ORDINALITY AS each(call, place)
    WHERE each.call->>'purpose' IS NULL OR each.call->>'purpose' = 'step' ORDER BY each.place DESC LIMIT 1
  ) c
  WHERE made.log = l.log AND made.last_seq <= l.through AND made.provider_calls IS NOT NULL
  ORDER BY made.ordinal DESC LIMIT 1
) t
LIMIT 1`;

/** Appends a turn that an engine provides as a whole. Its messages are named by id where they are in the log. */
export function appendTurn(store: StoreContext, owner: string, turn: ConversationTurn): Promise<void> {
  const { conversationId } = turn;
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, conversationId);
    const [used] = await connection.query({
      text: `SELECT h.log = $3::int8 AS here FROM parley.conversation_turn t
        JOIN parley.conversation_head h ON h.log = t.log
        WHERE ${idIs("t.id", "$1")} AND h.owner = $2 ORDER BY h.log = $3::int8 DESC LIMIT 1`,
      values: [storedText(turn.id), owner, head.log],
    });
    if (used?.here === true) return;
    if (used !== undefined)
      throw invalid("The id of this turn is used in another conversation", { id: turn.id });
    if (activeId(head) !== undefined) throw turnActive(head);
    const messages = [...turn.userMessages, ...turn.assistantMessages, ...(turn.toolMessages ?? [])];
    const places = await placesOf(connection, head, messages);
    const lastSeq = head.nextSeq - 1;
    const found = [...places.values()];
    const reason = turn.metadata?.reason;
    const appended: Appended = {
      user: turn.userMessages.map((message) => mention(message, places)),
      assistant: turn.assistantMessages.map((message) => mention(message, places)),
      ...(turn.toolMessages === undefined
        ? {}
        : { tool: turn.toolMessages.map((message) => mention(message, places)) }),
      ...omitUndefined({ metadata: turn.metadata }),
    };
    await connection.batch([
      {
        text: `
INSERT INTO parley.conversation_turn (log, id, ordinal, status, reason, first_seq, last_seq, provider_calls,
  started_at, sealed_at, appended)
VALUES ($1, $2, $3, 'sealed', $4, $5, $6, $7::json, $8::timestamptz, ${nowMs}, $9::json)`,
        values: [
          head.log,
          storedText(turn.id),
          head.turnCount + 1,
          typeof reason === "string" ? storedText(reason) : null,
          Math.min(lastSeq + 1, ...found.map((place) => place.firstSeq)),
          found.length === 0 ? lastSeq : Math.max(...found.map((place) => place.lastSeq)),
          storedCalls(store, turn.providerCalls),
          turn.createdAt.toISOString(),
          boundedJson(appended, store.maxBytes),
        ],
      },
      {
        text: "UPDATE parley.conversation_head SET turn_count = turn_count + 1 WHERE log = $1",
        values: [head.log],
      },
      ...touchStatements(head),
    ]);
  });
}

interface RowPlace {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

async function placesOf(
  connection: Connection,
  { log }: Pick<Head, "log">,
  messages: readonly ConversationMessage[],
): Promise<Map<string, RowPlace>> {
  const ids = messages.map((message) => storedText(message.id));
  const rows = await connection.query({
    text: `SELECT m.id, m.first_seq, m.part_count FROM ${rowsById("$2", "$3", "$1")}`,
    values: [log, ids, ids.map(idKey)],
  });
  return new Map(
    rows.map((row) => {
      const firstSeq = Number(row.first_seq);
      return [originalText(String(row.id)), { firstSeq, lastSeq: firstSeq + Number(row.part_count) - 1 }];
    }),
  );
}

/** Returns the id of a message that is in the log, or the whole message if it is not. */
function mention(message: ConversationMessage, places: ReadonlyMap<string, RowPlace>): unknown {
  if (places.has(message.id)) return message.id;
  return { ...toCanonical(message), createdAt: message.createdAt.getTime() };
}

/** Lists sealed turns with their messages, oldest first, for an engine, which needs all of them. */
export async function listTurns(store: StoreContext, owner: string, id: string): Promise<ConversationTurn[]> {
  const values = [storedText(id), owner];
  const [turns = [], rows = []] = await store.database.batch([
    {
      text: `${lineage()}
SELECT ${turnColumns} FROM lineage l
JOIN parley.conversation_turn t ON t.log = l.log AND t.status = 'sealed' AND t.last_seq <= l.through
ORDER BY l.through, t.ordinal`,
      values,
    },
    {
      text: `${lineage()}
SELECT ${messageColumns} FROM lineage l
JOIN parley.conversation_message m ON m.log = l.log AND m.first_seq <= l.through ORDER BY m.first_seq`,
      values,
    },
  ]);
  const entries = rows.flatMap((row) => entriesOf(readMessage(row), id));
  const byId = new Map(entries.map((entry) => [entry.message.id, entry.message]));
  return turns.map((row) => {
    const record = turnRecordOf(row);
    const appended = appendedOf(row);
    const base = {
      id: record.turnId,
      conversationId: id,
      createdAt: new Date(record.startedAt),
      providerCalls: record.providerCalls,
    };
    if (appended !== undefined) {
      const all = (mentions: readonly unknown[]) =>
        mentions.flatMap((mentioned) => mentionedMessage(mentioned, byId, id));
      return {
        ...base,
        userMessages: all(appended.user),
        assistantMessages: all(appended.assistant),
        ...(appended.tool === undefined ? {} : { toolMessages: all(appended.tool) }),
        ...omitUndefined({ metadata: appended.metadata }),
      };
    }
    const messages = entries
      .filter(({ firstSeq = 0 }) => firstSeq >= record.firstSeq && firstSeq <= record.lastSeq)
      .map((entry) => entry.message);
    const toolMessages = messages.filter((message) => message.role === "tool");
    return {
      ...base,
      userMessages: messages.filter((message) => message.role === "user"),
      assistantMessages: messages.filter((message) => message.role === "assistant"),
      ...(toolMessages.length === 0 ? {} : { toolMessages }),
      metadata: turnMetadata(record),
    };
  });
}

function turnMetadata(record: TurnRecord): Record<string, unknown> {
  const { reason, metrics: figures } = record;
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(figures === undefined ? {} : { usage: figures.usage }),
    ...(figures?.contextSize === undefined ? {} : { contextSize: figures.contextSize }),
    ...(figures?.durationMs === undefined ? {} : { durationMs: figures.durationMs }),
  };
}

function mentionedMessage(
  mentioned: unknown,
  byId: ReadonlyMap<string, ConversationMessage>,
  conversationId: string,
): ConversationMessage[] {
  if (typeof mentioned === "string") {
    const message = byId.get(mentioned);
    if (message === undefined) throw new ParleyError("internal");
    return [message];
  }
  const stored = mentioned as Omit<ReturnType<typeof toCanonical>, "createdAt"> & { createdAt: number };
  return fromCanonical({ ...stored, threadId: conversationId, createdAt: new Date(stored.createdAt) });
}
