import { isStoredFile } from "@parley/core/messages";
import type {
  DefaultModel,
  NextTurn,
  OpenedTurn,
  QueueEntry,
  QueueState,
  TurnChoices,
} from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import { idIs } from "../../id-is.js";
import {
  entriesOf,
  entryAt,
  hasFiles,
  type MessageRow,
  messageColumns,
  messageRow,
  readMessage,
  rowLists,
} from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { deliveredRefStatements, refStatements } from "../files/file-refs.js";
import { takeChangeNumber } from "../numbers.js";
import { invalid } from "../refusals.js";
import { activeId, type Head, nowMs, returnedMs, touched, touchedWith } from "./head.js";
import {
  type ChoiceColumns,
  choicesOf,
  choiceValues,
  queueState,
  rareChoiceValues,
  readQueue,
} from "./queue-state.js";

/**
 * Writes rows behind `firstSeq` and what they refer to. The caller holds the lock and advances the head. One `unnest`
 * for any number of rows: a statement per row costs a bind and an execution each, VALUES lists a plan per length.
 */
export function insertRows(
  head: Pick<Head, "log" | "owner">,
  rows: readonly MessageRow[],
  place: {
    firstSeq: number;
    /** Ordinal of their turn; none outside of turns. */
    turn?: number | undefined;
    step?: string | null;
    covers?: { fromSeq: number; toSeq: number };
    /** Hash of the message whose row is its receipt. */
    bodyHash?: string | undefined;
  },
): Statement[] {
  const { values } = rowLists(rows);
  return [
    {
      name: "insert_rows",
      text: insertRowsText,
      values: [
        head.log,
        place.firstSeq,
        place.turn ?? null,
        place.step ?? null,
        place.covers?.fromSeq ?? null,
        place.covers?.toSeq ?? null,
        ...values,
        place.bodyHash ?? null,
      ],
    },
    ...(rows.some(hasFiles) ? refStatements(head, behind(rows, place.firstSeq)) : []),
  ];
}

/** Returns rows with the seqs that they get, one behind the other. */
function behind(rows: readonly MessageRow[], firstSeq: number) {
  let next = firstSeq;
  return rows.map((row) => {
    const placed = { row, firstSeq: next };
    next += row.parts;
    return placed;
  });
}

const insertRowsText = `
INSERT INTO parley.conversation_message
  (log, id, role, type, content, created_at, resource_id, first_seq, part_count, turn, step, covers_from,
  covers_to, body_hash, id_key, tokens, token_rule)
SELECT $1::int8, g.id, g.role, g.type, g.content::jsonb, g.created_at, g.resource_id, $2::int4 + g.start, g.parts,
  $3::int4, $4, $5::int4, $6::int4, $18, g.id_key, g.tokens, g.token_rule
FROM unnest($7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::text[], $13::int4[], $14::int4[],
  $15::int8[], $16::int4[], $17::int2[])
  AS g(id, role, type, content, created_at, resource_id, start, parts, id_key, tokens, token_rule)`;

/** Opens a turn with its user rows. The caller holds the lock of a conversation without a lease. */
export async function openTurn(
  connection: Connection,
  head: Head,
  input: DefaultModel & {
    turnId: string;
    node: string;
    choices: TurnChoices;
    rows: readonly MessageRow[];
    bodyHash?: string;
  },
): Promise<OpenedTurn> {
  const { turnId, rows } = input;
  const model = input.choices.model ?? head.model ?? head.lastModel ?? input.defaultModel;
  const choices = model === undefined ? input.choices : { ...input.choices, model };
  const firstSeq = head.nextSeq;
  const total = rowLists(rows).total;
  const { log } = head;
  const [opened] = await connection.batch([
    {
      name: "open_turn_head",
      text: `
UPDATE parley.conversation_head SET turn_id = $2, node = $3, fence = fence + 1, turn_count = turn_count + 1,
  next_seq = next_seq + $4, stop_requested_at = NULL, started_at = ${nowMs}, active_at = greatest(active_at, ${nowMs})
WHERE log = $1 RETURNING fence, ${returnedMs("started_at")} AS started_ms`,
      values: [log, storedText(turnId), storedText(input.node), total],
    },
    ...insertRows(head, rows, { firstSeq, turn: head.turnCount + 1, bodyHash: input.bodyHash }),
    {
      name: "open_turn",
      text: `
INSERT INTO parley.conversation_turn
  (log, id, ordinal, status, model, effort, instructions, first_seq, last_seq, started_at, tools,
  other_choices)
SELECT log, $2, turn_count, 'running', $3, $4, $5, $6, $7, started_at, $8::json, $9::json
FROM parley.conversation_head WHERE log = $1`,
      values: [
        log,
        storedText(turnId),
        ...choiceValues(choices),
        firstSeq,
        firstSeq + total - 1,
        ...rareChoiceValues(choices),
      ],
    },
    {
      name: "open_turn_model",
      text: "UPDATE parley.conversation SET last_model = $2 WHERE log = $1 AND last_model IS DISTINCT FROM $2",
      values: [log, choiceValues(choices)[0]],
    },
  ]);
  let next = firstSeq;
  return {
    log,
    turnId,
    fence: Number(opened?.[0]?.fence),
    choices,
    entries: rows.map((row) => {
      const entry = entryAt(row, { firstSeq: next, turnId });
      next += row.parts;
      return entry;
    }),
    startedAt: Math.round(Number(opened?.[0]?.started_ms)),
  };
}

/** Refuses an id under which no turn can be opened: turn ids are used once. */
export async function checkTurnId(connection: Connection, head: Head, turnId: string): Promise<void> {
  if (activeId(head) !== turnId) {
    const [row] = await connection.query({
      name: "find_turn_id",
      text: findTurnIdText,
      values: [storedText(turnId), head.log],
    });
    if (row === undefined) return;
  }
  throw invalid("The id of this turn was used before", { turnId });
}

/** Selects whether the log `$2` has a turn `$1`. */
export const findTurnIdText = `
SELECT 1 AS used FROM parley.conversation_turn WHERE ${idIs("id", "$1")} AND log + 0 = $2`;

/** Takes entries out of the queue for delivery in a turn. */
export async function deliver(
  connection: Connection,
  { log }: Pick<Head, "log">,
  entries: readonly QueueEntry[],
  turnId: string,
): Promise<void> {
  const values = [log, entries.map((entry) => storedText(entry.id))];
  await connection.batch([
    {
      name: "deliver_queue",
      text: "DELETE FROM parley.queued_message WHERE log = $1 AND id = ANY($2::text[])",
      values,
    },
    {
      name: "deliver_receipts",
      text: "UPDATE parley.receipt SET turn_id = $3 WHERE log = $1 AND message_id = ANY($2::text[])",
      values: [...values, storedText(turnId)],
    },
    ...deliveredRefStatements(
      log,
      entries.filter(({ message }) => message.content.some(isStoredFile)).map(({ id }) => id),
    ),
  ]);
}

/** Opens a turn with waiting entries: the steers together, else the first entry. Does nothing if the list is empty. */
export async function openNextTurn(
  store: StoreContext,
  connection: Connection,
  head: Head,
  queue: readonly QueueEntry[],
  next: DefaultModel & { turnId: string; node: string },
): Promise<{ opened: OpenedTurn; rest: QueueEntry[] } | undefined> {
  const steers = queue.filter((entry) => entry.mode === "steer");
  const entries = steers.length > 0 ? steers : queue.slice(0, 1);
  if (entries.length === 0) return undefined;
  await deliver(connection, head, entries, next.turnId);
  const opened = await openTurn(connection, head, {
    ...next,
    choices: Object.assign({}, ...entries.map((entry) => entry.choices)) as TurnChoices,
    rows: entries.map((entry) => messageRow(entry.message, head.conversationId, store.maxBytes)),
  });
  return { opened, rest: queue.filter((entry) => !entries.includes(entry)) };
}

/**
 * Ends the lease and lets the queue continue. If this node does not want the next turn, it opens without a holder, so
 * that the next node that claims leases finds it: no waiting entry is left behind. `nextSeq` and `sealedSeq` are those
 * that the caller's rows have led to.
 */
export async function endLease(
  store: StoreContext,
  connection: Connection,
  head: Head,
  next: NextTurn,
): Promise<{ next?: OpenedTurn; nextTurnId?: string; queue: QueueState }> {
  const { log } = head;
  const queue = await readQueue(connection, head);
  // A stop that was acknowledged must not be answered by the next turn.
  const pause = next.pauseQueue || head.stopRequested;
  const paused = head.queuePaused || (pause && queue.length > 0);
  await connection.batch([
    {
      name: "end_lease",
      text: `
UPDATE parley.conversation_head SET turn_id = NULL, compaction_id = NULL, node = '', stop_requested_at = NULL,
  started_at = NULL, waiting_since = NULL, next_seq = $2, sealed_seq = $3 WHERE log = $1`,
      values: [log, head.nextSeq, head.sealedSeq],
    },
    {
      name: "end_lease_journal",
      text: "DELETE FROM parley.turn_journal WHERE log = $1",
      values: [log],
    },
  ]);
  const following = paused
    ? undefined
    : await openNextTurn(store, connection, head, queue, { ...next, node: next.openNext ? next.node : "" });
  await connection.batch([
    takeChangeNumber(head.owner),
    {
      name: "end_lease_touch",
      text: `
UPDATE parley.conversation c SET queue_paused = $2, ${touchedWith("h")}
FROM parley.conversation_head h WHERE c.log = $1 AND h.log = $1`,
      values: [log, paused],
    },
  ]);
  if (following === undefined) return { queue: queueState(queue, paused) };
  const { opened, rest } = following;
  return {
    ...(next.openNext ? { next: opened } : {}),
    nextTurnId: opened.turnId,
    queue: queueState(rest, paused),
  };
}

/** Finds a turn that an earlier, repeated call opened, as long as the caller still holds it as it was opened. */
export async function stillOpened(
  connection: Connection,
  head: Head,
  turnId: string,
  node: string,
): Promise<OpenedTurn | undefined> {
  if (head.turnId !== turnId || head.node !== node) return undefined;
  const values = [head.log, head.turnCount];
  const [turns = [], rows = []] = await connection.batch([
    {
      text: `SELECT model, effort, instructions, tools::text AS tools, other_choices::text AS other_choices,
          date_part('epoch', started_at) * 1000 AS started_ms
        FROM parley.conversation_turn WHERE log = $1 AND ordinal = $2`,
      values,
    },
    {
      text: `SELECT ${messageColumns} FROM parley.conversation_turn t
        JOIN parley.conversation_message m ON m.log = t.log AND m.first_seq BETWEEN t.first_seq AND t.last_seq
        WHERE t.log = $1 AND t.ordinal = $2 ORDER BY m.first_seq`,
      values,
    },
  ]);
  const [turn] = turns;
  if (turn === undefined) return undefined;
  const entries = rows.flatMap((row) => entriesOf(readMessage(row), head.conversationId));
  const opening = entries.findIndex((entry) => entry.message.role !== "user");
  return {
    log: head.log,
    turnId,
    fence: head.fence,
    choices: readChoices(turn),
    entries: entries.slice(0, opening === -1 ? entries.length : opening),
    startedAt: Math.round(Number(turn.started_ms)),
  };
}

/** Reads choices from the columns of a row, whose texts are as stored. */
export function readChoices(row: Record<string, unknown>): TurnChoices {
  const text = (value: unknown) => (typeof value === "string" ? originalText(value) : null);
  const json = (value: unknown) => (typeof value === "string" ? originalJson(value) : null);
  return choicesOf({
    model: text(row.model),
    effort: text(row.effort),
    instructions: text(row.instructions),
    tools: json(row.tools) as ChoiceColumns["tools"],
    other_choices: json(row.other_choices) as ChoiceColumns["other_choices"],
  });
}

/** Marks a change of the conversation, after all other changes of its row. */
export function touchStatements({ log, owner }: Pick<Head, "log" | "owner">): Statement[] {
  return [
    takeChangeNumber(owner),
    { name: "touch", text: `UPDATE parley.conversation SET ${touched} WHERE log = $1`, values: [log] },
  ];
}
