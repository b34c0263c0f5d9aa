import type { CommitInput, CommitResult, HistoryEntry, QueueEntry } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import {
  entriesOf,
  entryAt,
  hasFiles,
  type MessageRow,
  messageColumns,
  messageRow,
  readMessage,
  rowLists,
  rowsById,
  stepMark,
} from "../../message-row.js";
import { storedCalls, storedSteps } from "../../provider-calls.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { commitInputs, holdsResponses, logResponses } from "../input/decisions.js";
import { takeChangeNumber } from "../numbers.js";
import { invalid, messageConflict, staleFence } from "../refusals.js";
import { rowParameters, rowStatements } from "../row-parameters.js";
import { checkHeld, type Head, lockText, nowIf, requireHead, touchedWith } from "./head.js";
import { deliver, insertRows } from "./open-turn.js";
import { queueState, readQueue } from "./queue-state.js";

/**
 * Commits a step in one round trip: the lock, then one statement that checks the fence and writes everything or
 * nothing. The lock is a separate statement because the journal is dropped in the second one: a flush that held the
 * lock has committed by then, and a statement that had waited for it itself would not see, and so leave, its rows. Rows
 * that exist already and waiting entries, which may have to be promoted, take the slow path.
 */
export async function commitStep(
  store: StoreContext,
  owner: string,
  input: CommitInput,
): Promise<CommitResult> {
  const { conversationId, turnId, fence, stepId } = input;
  const rows = input.messages.map((message) => messageRow(message, conversationId, store.maxBytes));
  checkDistinct(rows);
  const id = storedText(conversationId);
  const steps = storedSteps(store, input.steps, turnId);
  const calls = storedCalls(store, input.providerCalls);
  const isAsking = input.inputs !== undefined || input.wait === true;
  if (isAsking || holdsResponses(input.messages) || rows.some(hasFiles)) {
    return store.database.transaction((connection) =>
      commitSlowly(store, connection, owner, input, rows, { steps, calls }),
    );
  }
  const { form, total, values } = rowParameters(rows);
  const [, answers = []] = await store.database.batch([
    { name: "lock_head", text: lockText, values: [id, owner] },
    {
      name: `commit_${form}`,
      text: commitTexts[form],
      values: [
        id,
        owner,
        storedText(turnId),
        fence,
        stepMark(stepId, turnId),
        total,
        steps,
        calls,
        ...values,
      ],
    },
  ]);
  const [answer] = answers;
  if (answer === undefined) {
    return store.database.transaction((connection) =>
      commitSlowly(store, connection, owner, input, rows, { steps, calls }),
    );
  }
  return {
    entries: placed(rows, Number(answer.first_seq), { turnId, stepId }),
    promoted: [],
    queue: queueState([], answer.queue_paused === true),
    stopRequested: answer.stopping === true,
    responses: [],
  };
}

const commitTexts = rowStatements(
  9,
  "c.log",
  (given) => `
WITH counted AS (
  UPDATE parley.conversation_head h SET next_seq = h.next_seq + $6::int4,
    active_at = greatest(h.active_at, ${nowIf("$6::int4 > 0")})
  FROM parley.conversation c
  WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
    AND h.log = c.log AND h.turn_id = $3 AND h.fence = $4 AND h.waiting_since IS NULL
    AND NOT EXISTS (${given.present})
    AND NOT EXISTS (SELECT FROM parley.queued_message q WHERE q.log = c.log)
  RETURNING h.log, h.turn_count, h.next_seq - $6::int4 AS first_seq,
    h.stop_requested_at IS NOT NULL AS stopping, c.queue_paused
), written AS (
  ${given.insert("counted")}
), journal AS (
  DELETE FROM parley.turn_journal j USING counted WHERE j.log = counted.log
), turn AS (
  UPDATE parley.conversation_turn t SET steps = $7::json, provider_calls = $8::json,
    last_seq = counted.first_seq + $6::int4 - 1
  FROM counted WHERE t.log = counted.log AND t.ordinal = counted.turn_count
)
SELECT first_seq, stopping, queue_paused FROM counted`,
);

async function commitSlowly(
  store: StoreContext,
  connection: Connection,
  owner: string,
  input: CommitInput,
  given: readonly MessageRow[],
  kept: { readonly steps: string | null; readonly calls: string | null },
): Promise<CommitResult> {
  const { conversationId, turnId, stepId } = input;
  const head = await requireHead(connection, owner, conversationId);
  checkHeld(head, turnId, input.fence);
  checkIsTurn(head, turnId);
  const { log } = head;
  const known = await writtenRows(connection, head, turnId, given);
  const repeated = given.length > 0 && given.every((row) => known.has(row.message.id));
  // No node holds a turn that waits: only the commit that made it wait may be repeated.
  if (head.waiting && !repeated) throw staleFence(conversationId, turnId);
  const rows = repeated ? given : await withResponses(store, connection, head, given);
  const fresh = rows.filter((row) => !known.has(row.message.id));

  const entries = new Map(known);
  let next = head.nextSeq;
  for (const row of fresh) {
    entries.set(row.message.id, entryAt(row, { firstSeq: next, turnId, stepId }));
    next += row.parts;
  }
  const queue = await readQueue(connection, head);
  const promotes = !repeated && input.promoteSteers && !head.queuePaused && !head.stopRequested;
  const steers = promotes ? queue.filter((entry) => entry.mode === "steer") : [];
  const steerRows = steers.map((entry) => messageRow(entry.message, conversationId, store.maxBytes));
  const promoted = repeated
    ? await promotedBehind(connection, head, entries.get(rows.at(-1)?.message.id ?? ""))
    : placed(steerRows, next, { turnId });
  const last = repeated ? next - 1 : next + rowLists(steerRows).total - 1;

  await connection.batch([
    ...(fresh.length === 0
      ? []
      : [
          ...insertRows(head, fresh, {
            firstSeq: head.nextSeq,
            turn: head.turnCount,
            step: stepMark(stepId, turnId),
          }),
        ]),
    ...(steers.length === 0 ? [] : insertRows(head, steerRows, { firstSeq: next, turn: head.turnCount })),
    {
      text: `UPDATE parley.conversation_head SET next_seq = $2,
        active_at = greatest(active_at, ${nowIf("$3::bool")}) WHERE log = $1`,
      values: [log, last + 1, last + 1 > head.nextSeq],
    },
    {
      text: "DELETE FROM parley.turn_journal WHERE log = $1",
      values: [log],
    },
    {
      text: `UPDATE parley.conversation_turn SET steps = $3::json, provider_calls = $4::json, last_seq = $5
        WHERE log = $1 AND ordinal = $2`,
      values: [log, head.turnCount, kept.steps, kept.calls, last],
    },
  ]);
  if (steers.length > 0) {
    await deliver(connection, head, steers, turnId);
    await connection.batch([
      takeChangeNumber(owner),
      {
        text: `UPDATE parley.conversation c SET ${touchedWith("h")}
          FROM parley.conversation_head h WHERE c.log = $1 AND h.log = $1`,
        values: [log],
      },
    ]);
  }
  const isAsking = input.inputs !== undefined || input.wait === true;
  return {
    entries: ordered(rows, entries),
    promoted,
    queue: queueState(without(queue, steers), head.queuePaused),
    stopRequested: head.stopRequested,
    ...(isAsking ? await commitInputs(store, connection, head, input) : { responses: [] }),
  };
}

/** Returns the rows with the responses that are in force, which are in the log from now on. */
export async function withResponses(
  store: StoreContext,
  connection: Connection,
  head: Head,
  rows: readonly MessageRow[],
): Promise<readonly MessageRow[]> {
  const messages = rows.map(({ message }) => message);
  const written = await logResponses(connection, head, messages);
  if (written === messages) return rows;
  return rows.map((row, index) => {
    const message = written[index];
    return message === undefined || message === row.message
      ? row
      : messageRow(message, head.conversationId, store.maxBytes);
  });
}

function without(queue: readonly QueueEntry[], taken: readonly QueueEntry[]): QueueEntry[] {
  return queue.filter((entry) => !taken.includes(entry));
}

export function ordered(
  rows: readonly MessageRow[],
  entries: ReadonlyMap<string, HistoryEntry>,
): HistoryEntry[] {
  return rows.map((row) => entries.get(row.message.id)).filter((entry) => entry !== undefined);
}

/** Refuses a compaction's lease. It is held like a turn's, but there is nothing to commit or to seal in it. */
export function checkIsTurn(head: Head, turnId: string): void {
  if (head.turnId !== turnId) throw invalid("A compaction has no steps and no seal", { turnId });
}

/** Refuses the same id twice in one list: it would be two rows. */
export function checkDistinct(rows: readonly MessageRow[]): void {
  const ids = new Set<string>();
  for (const { id, message } of rows) {
    if (ids.has(id)) throw invalid("Two messages have the same id", { messageId: message.id });
    ids.add(id);
  }
}

/** Returns entries of rows that follow each other from `firstSeq` on. */
export function placed(
  rows: readonly MessageRow[],
  firstSeq: number,
  place: { turnId: string; stepId?: string },
): HistoryEntry[] {
  let next = firstSeq;
  return rows.map((row) => {
    const entry = entryAt(row, { turnId: place.turnId, stepId: place.stepId, firstSeq: next });
    next += row.parts;
    return entry;
  });
}

/** Finds those of the rows that an earlier call has written, by message id. An id of another turn is a conflict. */
export async function writtenRows(
  connection: Connection,
  { log, conversationId }: Pick<Head, "log" | "conversationId">,
  turnId: string,
  rows: readonly MessageRow[],
): Promise<Map<string, HistoryEntry>> {
  const found = new Map<string, HistoryEntry>();
  if (rows.length === 0) return found;
  const read = await connection.query({
    name: "find_rows",
    text: `SELECT ${messageColumns} FROM ${rowsById("$2", "$3", "$1")}`,
    values: [log, rows.map((row) => row.id), rows.map((row) => row.key)],
  });
  for (const entry of read.flatMap((row) => entriesOf(readMessage(row), conversationId))) {
    if (entry.turnId !== turnId) {
      throw messageConflict(entry.message.id, "The id of this message was used in another turn");
    }
    found.set(entry.message.id, entry);
  }
  return found;
}

/**
 * Returns the rows that a commit promoted: they are right behind its own rows, in the same turn and outside any step.
 */
async function promotedBehind(
  connection: Connection,
  head: Head,
  last: HistoryEntry | undefined,
): Promise<HistoryEntry[]> {
  const rows = await connection.query({
    text: `SELECT ${messageColumns} FROM parley.conversation_message m
      WHERE m.log = $1 AND m.first_seq > $2 AND m.first_seq < coalesce((
        SELECT min(n.first_seq) FROM parley.conversation_message n
        WHERE n.log = $1 AND n.first_seq > $2
          AND (n.turn IS DISTINCT FROM $3 OR n.step IS NOT NULL OR n.covers_from IS NOT NULL)), 2147483647)
      ORDER BY m.first_seq`,
    values: [head.log, last?.lastSeq ?? 0, head.turnCount],
  });
  return rows.flatMap((row) => entriesOf(readMessage(row), head.conversationId));
}
