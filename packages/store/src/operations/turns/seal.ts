import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { HistoryEntry, SealInput, SealResult } from "@parley/core/ports";
import type { ConversationStatus, TurnSealedData } from "@parley/wire";
import type { Connection } from "../../database.js";
import { idIs } from "../../id-is.js";
import { boundedJson, entryAt, hasFiles, type MessageRow, messageRow, stepMark } from "../../message-row.js";
import { packedMetrics } from "../../packed-metrics.js";
import { storedCalls } from "../../provider-calls.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { closingEntries, closingMessages, holdsResponses } from "../input/decisions.js";
import { takeChangeNumber } from "../numbers.js";
import { rowParameters, rowStatements } from "../row-parameters.js";
import { reportClauses } from "../webhooks/report.js";
import { checkDistinct, checkIsTurn, ordered, placed, withResponses, writtenRows } from "./commit-step.js";
import { checkHeld, type Head, lockForChange, nowIf, nowMs, requireHead, touched } from "./head.js";
import { checkTurnId, endLease, insertRows, stillOpened } from "./open-turn.js";
import { queueState, readQueue } from "./queue-state.js";

interface Sealing {
  readonly rows: readonly MessageRow[];
  readonly metrics: string;
  readonly calls: string | null;
}

/**
 * Seals a turn. With nothing waiting behind it, this is one round trip of two statements, for the same reason as a
 * commit. With a queue, or if the seal was made before, the slow path goes step by step under the same lock.
 */
export async function seal(store: StoreContext, owner: string, input: SealInput): Promise<SealResult> {
  const { conversationId, turnId, fence, stepId } = input;
  const rows = input.messages.map((message) => messageRow(message, conversationId, store.maxBytes));
  checkDistinct(rows);
  const { form, total, values } = rowParameters(rows);
  const id = storedText(conversationId);
  const { reason } = input;
  const metrics = boundedJson(packedMetrics(input.metrics, { turnId, reason }), store.maxBytes);
  const calls = storedCalls(store, input.providerCalls);
  if (holdsResponses(input.messages) || rows.some(hasFiles)) {
    return store.database.transaction((connection) =>
      sealSlowly(store, connection, owner, input, { rows, metrics, calls }),
    );
  }
  const [, answers = []] = await store.database.batch([
    lockForChange(owner, conversationId),
    {
      name: `seal_${form}`,
      text: sealTexts[form],
      values: [
        id,
        owner,
        storedText(turnId),
        fence,
        stepMark(stepId, turnId),
        total,
        storedText(reason),
        metrics,
        calls,
        input.metrics.contextSize ?? null,
        ...values,
      ],
    },
  ]);
  const [answer] = answers;
  if (answer === undefined) {
    return store.database.transaction((connection) =>
      sealSlowly(store, connection, owner, input, { rows, metrics, calls }),
    );
  }
  const lastSeq = Number(answer.last_seq);
  return {
    firstSeq: Number(answer.first_seq),
    lastSeq,
    entries: placed(rows, lastSeq - total + 1, { turnId, ...omitUndefined({ stepId }) }),
    queue: queueState([], answer.queue_paused === true),
    status: answer.status === "closed" ? "closed" : "idle",
  };
}

/** Returns the data of the event that reports a seal, by expressions. */
function sealedData(data: Record<keyof TurnSealedData, string>): Record<keyof TurnSealedData, string> {
  return data;
}

const sealTexts = rowStatements(
  11,
  "c.log",
  (given) => `
WITH ended AS (
  UPDATE parley.conversation_head h SET turn_id = NULL, node = '', stop_requested_at = NULL, started_at = NULL,
    next_seq = h.next_seq + $6::int4, sealed_seq = h.next_seq + $6::int4 - 1,
    active_at = greatest(h.active_at, ${nowIf("$6::int4 > 0")})
  FROM parley.conversation c
  WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
    AND h.log = c.log AND h.turn_id = $3 AND h.fence = $4 AND h.waiting_since IS NULL
    AND NOT EXISTS (${given.present})
    AND NOT EXISTS (SELECT FROM parley.queued_message q WHERE q.log = c.log)
    AND NOT EXISTS (
      SELECT FROM parley.input_request r WHERE r.log = h.log AND r.turn = h.turn_count AND NOT r.logged
    )
  RETURNING h.log, h.turn_count, h.next_seq - $6::int4 AS first_seq, h.sealed_seq, h.active_at
), written AS (
  ${given.insert("ended")}
), journal AS (
  DELETE FROM parley.turn_journal j USING ended WHERE j.log = ended.log
), turn AS (
  UPDATE parley.conversation_turn t SET status = 'sealed', reason = $7, steps = NULL, metrics = $8::json,
    provider_calls = $9::json, last_seq = ended.sealed_seq, sealed_at = ${nowMs}, sealed_fence = $4
  FROM ended WHERE t.log = ended.log AND t.ordinal = ended.turn_count
  RETURNING t.first_seq, t.last_seq
), changed AS (
  UPDATE parley.conversation c SET ${touched}, context_size = coalesce($10::float8, c.context_size),
    last_activity_at = greatest(c.last_activity_at, ended.active_at)
  FROM ended WHERE c.log = ended.log
  RETURNING c.status, c.queue_paused, c.title
), ${reportClauses("turn.sealed", {
    owner: "$2",
    log: "ended.log",
    data: sealedData({
      conversationId: "$1::text",
      title: "changed.title",
      turnId: "$3::text",
      reason: "$7::text",
      firstSeq: "turn.first_seq",
      lastSeq: "turn.last_seq",
    }),
    from: "ended, turn, changed",
  })}
SELECT turn.first_seq, turn.last_seq, changed.status, changed.queue_paused FROM turn, changed`,
);

async function sealSlowly(
  store: StoreContext,
  connection: Connection,
  owner: string,
  input: SealInput,
  sealing: Sealing,
): Promise<SealResult> {
  const { conversationId, turnId } = input;
  const head = await requireHead(connection, owner, conversationId);
  const before = await sealedBefore(connection, head, input, sealing.rows);
  if (before !== undefined) return before;
  checkHeld(head, turnId, input.fence);
  checkIsTurn(head, turnId);
  await checkTurnId(connection, head, input.next.turnId);
  const written = await writeSeal(store, connection, head, input, sealing);
  const ended = await endLease(store, connection, written.head, input.next);
  const firstSeq = await markSealed(connection, written.head, input, sealing, ended.nextTurnId);
  return {
    firstSeq,
    lastSeq: written.head.nextSeq - 1,
    entries: written.entries,
    ...omitUndefined({ next: ended.next }),
    queue: ended.queue,
    status: statusAfter(head, ended.nextTurnId !== undefined),
  };
}

/** Writes the last rows of a turn, with an answer to every request that has none in the log. */
async function writeSeal(
  store: StoreContext,
  connection: Connection,
  head: Head,
  input: Omit<SealInput, "conversationId" | "next">,
  sealing: Sealing,
): Promise<{ head: Head; entries: HistoryEntry[] }> {
  const { turnId, stepId } = input;
  const known = await writtenRows(connection, head, turnId, sealing.rows);
  const given = await withResponses(store, connection, head, sealing.rows);
  const via = input.via ?? (input.reason === "aborted" ? "stop" : "end");
  const closing = (await closingMessages(connection, head, via, new Date())).map((message) =>
    messageRow(message, head.conversationId, store.maxBytes),
  );
  const rows = [...closing, ...given];
  const fresh = rows.filter((row) => !known.has(row.message.id));

  const entries = new Map<string, HistoryEntry>(known);
  let next = head.nextSeq;
  for (const row of fresh) {
    const place = { firstSeq: next, turnId, ...omitUndefined({ stepId }) };
    entries.set(row.message.id, entryAt(row, place));
    next += row.parts;
  }
  if (fresh.length > 0) {
    await connection.batch([
      ...insertRows(head, fresh, {
        firstSeq: head.nextSeq,
        turn: head.turnCount,
        step: stepMark(stepId, turnId),
      }),
      {
        text: `UPDATE parley.conversation_head SET active_at = greatest(active_at, ${nowMs}) WHERE log = $1`,
        values: [head.log],
      },
    ]);
  }
  return { head: { ...head, nextSeq: next, sealedSeq: next - 1 }, entries: ordered(rows, entries) };
}

/** Marks the turn as sealed. Returns its first seq. */
async function markSealed(
  connection: Connection,
  head: Head,
  input: Omit<SealInput, "conversationId" | "next">,
  sealing: Sealing,
  nextTurnId: string | undefined,
): Promise<number> {
  const [turns = []] = await connection.batch([
    {
      text: `
UPDATE parley.conversation_turn SET status = 'sealed', reason = $3, steps = NULL, metrics = $4::json,
  provider_calls = $5::json, last_seq = $6, sealed_at = ${nowMs}, sealed_fence = $7, next_turn_id = $8
WHERE log = $1 AND ordinal = $2 RETURNING first_seq`,
      values: [
        head.log,
        head.turnCount,
        storedText(input.reason),
        sealing.metrics,
        sealing.calls,
        head.nextSeq - 1,
        input.fence,
        nextTurnId === undefined ? null : storedText(nextTurnId),
      ],
    },
    {
      text: "UPDATE parley.conversation SET context_size = coalesce($2::float8, context_size) WHERE log = $1",
      values: [head.log, input.metrics.contextSize ?? null],
    },
    takeChangeNumber(head.owner),
    { name: "report_seal", text: reportSealText, values: [head.log, head.turnCount, head.owner] },
  ]);
  return Number(turns[0]?.first_seq);
}

const reportSealText = `WITH ${reportClauses("turn.sealed", {
  owner: "$3",
  log: "t.log",
  data: sealedData({
    conversationId: "c.id",
    title: "c.title",
    turnId: "t.id",
    reason: "t.reason",
    firstSeq: "t.first_seq",
    lastSeq: "t.last_seq",
  }),
  from: "parley.conversation_turn t, parley.conversation c",
  where: "t.log = $1 AND t.ordinal = $2 AND c.log = $1",
})}
SELECT count(*)::int4 AS reported FROM reported`;

/**
 * Seals a turn that waits, for the message that replaces it, under the lock of its conversation. Returns the head
 * without the turn.
 */
export async function sealWaiting(
  store: StoreContext,
  connection: Connection,
  head: Head,
  input: Omit<SealInput, "conversationId" | "next">,
): Promise<{ head: Head; sealed: SealResult }> {
  const { turnId, fence, reason } = input;
  checkHeld(head, turnId, fence);
  const rows = input.messages.map((message) => messageRow(message, head.conversationId, store.maxBytes));
  checkDistinct(rows);
  const sealing = {
    rows,
    metrics: boundedJson(packedMetrics(input.metrics, { turnId, reason }), store.maxBytes),
    calls: storedCalls(store, input.providerCalls),
  };
  const written = await writeSeal(store, connection, head, input, sealing);
  const { nextSeq } = written.head;
  await connection.batch([
    {
      name: "end_waiting",
      text: `
UPDATE parley.conversation_head SET turn_id = NULL, node = '', stop_requested_at = NULL, started_at = NULL,
  waiting_since = NULL, next_seq = $2, sealed_seq = $3 WHERE log = $1`,
      values: [head.log, nextSeq, nextSeq - 1],
    },
  ]);
  const firstSeq = await markSealed(connection, written.head, input, sealing, undefined);
  const queue = await readQueue(connection, head);
  return {
    head: { ...written.head, turnId: undefined, node: "", waiting: false, stopRequested: false },
    sealed: {
      firstSeq,
      lastSeq: nextSeq - 1,
      entries: written.entries,
      queue: queueState(queue, head.queuePaused),
      status: statusAfter(head, false),
    },
  };
}

/** Answers a repeated seal: writes nothing, and names the next turn as long as its node still has it. */
async function sealedBefore(
  connection: Connection,
  head: Head,
  input: SealInput,
  rows: readonly MessageRow[],
): Promise<SealResult | undefined> {
  const { conversationId, turnId } = input;
  const [turn] = await connection.query({
    text: `SELECT first_seq, last_seq, sealed_fence, next_turn_id FROM parley.conversation_turn
      WHERE ${idIs("id", "$1")} AND log + 0 = $2 AND status = 'sealed'`,
    values: [storedText(turnId), head.log],
  });
  if (turn === undefined) return undefined;
  if (turn.sealed_fence !== input.fence) {
    throw new ParleyError("stale_fence", "The turn is sealed", { details: { conversationId, turnId } });
  }
  const nextTurnId = typeof turn.next_turn_id === "string" ? originalText(turn.next_turn_id) : undefined;
  const next =
    nextTurnId === undefined ? undefined : await stillOpened(connection, head, nextTurnId, input.next.node);
  const known = await writtenRows(connection, head, turnId, rows);
  const entries = ordered(rows, known);
  const closed = await closingEntries(connection, head, {
    id: turnId,
    firstSeq: Number(turn.first_seq),
    beforeSeq: entries[0]?.firstSeq ?? Number(turn.last_seq) + 1,
  });
  const queue = await readQueue(connection, head);
  return {
    firstSeq: Number(turn.first_seq),
    lastSeq: Number(turn.last_seq),
    entries: [...closed, ...entries],
    ...omitUndefined({ next }),
    queue: queueState(queue, head.queuePaused),
    status: statusAfter(head, head.turnId !== undefined),
  };
}

function statusAfter(head: Head, running: boolean): ConversationStatus {
  if (head.closed) return "closed";
  return running ? "active" : "idle";
}
