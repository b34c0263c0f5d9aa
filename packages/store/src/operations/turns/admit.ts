import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { AdmitInput, AdmitOutcome } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { idIs } from "../../id-is.js";
import { idKey, messageIs } from "../../id-key.js";
import { entryAt, hasFiles, type MessageRow, messageRow } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { createConversationRow } from "../conversations/create-conversation.js";
import { queuedRefStatements } from "../files/file-refs.js";
import { openRequests } from "../input/decisions.js";
import { takeChangeNumber } from "../numbers.js";
import { checkConversationId, messageConflict, turnActive } from "../refusals.js";
import {
  activeId,
  type Head,
  lockForChange,
  lockHead,
  nowMs,
  returnedMs,
  touched,
  touchedWith,
} from "./head.js";
import { checkTurnId, insertRows, openTurn } from "./open-turn.js";
import { choiceValues, hasRareChoices, queueState, rareChoiceValues, readQueue } from "./queue-state.js";
import { knownAdmission } from "./receipts.js";
import { sealWaiting } from "./seal.js";

/**
 * Admits a message. For an idle conversation, the case that matters, this is one round trip: the lock, then one
 * statement that checks everything under it and writes everything or nothing. Separate statements would take six round
 * trips under the lock; one statement that also takes the lock would search for the receipt in a snapshot from before
 * it waited, and miss the same message admitted meanwhile. If the fast path does not write, the slow path decides.
 */
export async function admit(store: StoreContext, owner: string, input: AdmitInput): Promise<AdmitOutcome> {
  checkConversationId(input.conversationId);
  const row = messageRow(input.message, input.conversationId, store.maxBytes);
  const id = storedText(input.conversationId);
  if (hasRareChoices(input.choices) || input.before !== undefined || hasFiles(row)) {
    return store.database.transaction((connection) => admitSlowly(store, connection, owner, input, row));
  }
  const [, answers = []] = await store.database.batch([
    lockForChange(owner, input.conversationId),
    {
      name: "admit",
      text: admitText,
      values: [
        id,
        owner,
        storedText(input.node),
        storedText(input.turnId),
        row.id,
        storedText(input.bodyHash),
        row.role,
        row.type,
        row.content,
        row.createdAt,
        row.resourceId,
        row.parts,
        ...choiceValues(input.choices),
        storedText(input.title),
        row.key,
        input.defaultModel === undefined ? null : storedText(input.defaultModel),
        row.tokens?.count ?? null,
        row.tokens?.rule ?? null,
      ],
    },
  ]);
  const [answer] = answers;
  if (answer === undefined) {
    return store.database.transaction((connection) => admitSlowly(store, connection, owner, input, row));
  }
  const { turnId, choices } = input;
  return {
    kind: "started",
    turn: {
      log: Number(answer.log),
      turnId,
      fence: Number(answer.fence),
      choices: typeof answer.model === "string" ? { ...choices, model: originalText(answer.model) } : choices,
      entries: [entryAt(row, { firstSeq: Number(answer.first_seq), turnId })],
      startedAt: Math.round(Number(answer.started_ms)),
    },
    created: false,
  };
}

const admitText = `
WITH opened AS (
  UPDATE parley.conversation_head h SET turn_id = $4, node = $3, fence = h.fence + 1, turn_count = h.turn_count + 1,
    next_seq = h.next_seq + $12::int4, stop_requested_at = NULL, started_at = ${nowMs},
    active_at = greatest(h.active_at, ${nowMs})
  FROM parley.conversation c
  WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' AND c.archive_of IS NULL
    AND h.log = c.log AND h.turn_id IS NULL AND h.compaction_id IS NULL
    AND NOT EXISTS (SELECT FROM parley.receipt r WHERE r.log = c.log AND r.message_id = $5)
    AND NOT EXISTS (SELECT FROM parley.conversation_message m WHERE ${messageIs("$5", "$17", "c.log")})
    AND NOT EXISTS (SELECT FROM parley.conversation_turn t WHERE ${idIs("t.id", "$4")} AND t.log + 0 = h.log)
  RETURNING h.log, h.fence, h.turn_count, h.next_seq - $12::int4 AS first_seq, h.started_at,
    coalesce($13, c.model, c.last_model, $18) AS model
), message AS (
  INSERT INTO parley.conversation_message
    (log, id, role, type, content, created_at, resource_id, first_seq, part_count, turn, body_hash,
    id_key, tokens, token_rule)
  SELECT log, $5, $7, $8, $9::jsonb, $10::timestamptz, $11, first_seq, $12::int4, turn_count, $6, $17::int8, $19::int4,
    $20::int2
  FROM opened
), turn AS (
  INSERT INTO parley.conversation_turn
    (log, id, ordinal, status, model, effort, instructions, first_seq, last_seq, started_at)
  SELECT log, $4, turn_count, 'running', model, $14, $15, first_seq, first_seq + $12::int4 - 1, started_at FROM opened
), changed AS (
  UPDATE parley.conversation c SET status = 'open', title = CASE WHEN c.title = '' THEN $16 ELSE c.title END, ${touched},
    last_activity_at = greatest(c.last_activity_at, opened.started_at), last_model = opened.model
  FROM opened WHERE c.log = opened.log
)
SELECT log::float8 AS log, fence, first_seq, date_part('epoch', started_at) * 1000 AS started_ms, model FROM opened`;

async function admitSlowly(
  store: StoreContext,
  connection: Connection,
  owner: string,
  input: AdmitInput,
  row: MessageRow,
): Promise<AdmitOutcome> {
  const { conversationId } = input;
  for (;;) {
    const head = await lockHead(connection, owner, conversationId);
    if (head !== undefined) {
      const known = await knownAdmission(connection, head, input);
      if (known !== undefined) return known;
      await checkAdmission(connection, head, input);
      if (!head.waiting || input.sealWaiting === undefined) {
        return admitInto(store, connection, head, input, row, false);
      }
      const ended = await sealWaiting(store, connection, head, input.sealWaiting);
      const outcome = await admitInto(store, connection, ended.head, input, row, false);
      if (outcome.kind !== "started") return outcome;
      return { ...outcome, ended: { turnId: input.sealWaiting.turnId, sealed: ended.sealed } };
    }
    const settings = input.settings ?? {};
    const created = await createConversationRow(store, connection, {
      id: conversationId,
      owner,
      settings,
      title: settings.title ?? "",
      reported: { title: settings.title ?? input.title },
    });
    if (!created) continue;
    const fresh = await lockHead(connection, owner, conversationId);
    if (fresh !== undefined) return admitInto(store, connection, fresh, input, row, true);
  }
}

async function checkAdmission(connection: Connection, head: Head, input: AdmitInput): Promise<void> {
  if (head.archive) throw new ParleyError("conversation_closed", "An archive takes no messages");
  const messageId = storedText(input.message.id);
  const [written] = await connection.query({
    name: "find_message",
    text: `SELECT 1 AS written FROM parley.conversation_message m WHERE ${messageIs("$2", "$1", "$3")}`,
    values: [idKey(messageId), messageId, head.log],
  });
  if (written !== undefined) throw messageConflict(input.message.id);
  const isEnded = head.waiting && input.sealWaiting !== undefined;
  if (activeId(head) === undefined || isEnded) await checkTurnId(connection, head, input.turnId);
  else if (input.ifBusy === "reject") throw turnActive(head, await openRequests(connection, head));
}

/** Admits a message that was checked, to a conversation that is locked. */
export async function admitInto(
  store: StoreContext,
  connection: Connection,
  head: Head,
  input: Omit<AdmitInput, "conversationId">,
  row: MessageRow,
  created: boolean,
): Promise<AdmitOutcome> {
  const { log } = head;
  const bodyHash = storedText(input.bodyHash);
  const changed = [
    takeChangeNumber(head.owner),
    {
      name: "admit_touch",
      text: `
UPDATE parley.conversation c SET status = 'open', title = CASE WHEN c.title = '' THEN $2 ELSE c.title END,
  ${touchedWith("h")}
FROM parley.conversation_head h WHERE c.log = $1 AND h.log = $1`,
      values: [log, storedText(input.title)],
    },
  ];
  if (activeId(head) === undefined) {
    const behind = await writeBefore(store, connection, head, input.before);
    const turn = await openTurn(connection, behind, { ...input, rows: [row], bodyHash });
    await connection.batch(changed);
    return { kind: "started", turn, created };
  }
  if (input.before !== undefined) throw turnActive(head);
  const queue = await readQueue(connection, head);
  if (queue.length >= input.queueLength) {
    const { queueLength } = input;
    throw new ParleyError("queue_full", `${queueLength} messages wait already, the limit (queueLength)`, {
      details: { queueLength },
    });
  }
  const [queued] = await connection.batch([
    {
      name: "enqueue",
      text: `
WITH last AS MATERIALIZED (
  SELECT coalesce(max(q.rank), 0) AS rank FROM parley.queued_message q WHERE q.log = $1::int8
), queued AS (
  INSERT INTO parley.queued_message (log, id, rank, mode, model, effort, instructions, role, type, content,
    created_at, resource_id, part_count, queued_at, tools, other_choices)
  SELECT $1::int8, $2, last.rank + 1, $3, $4, $5, $6, $7, $8, $9::jsonb, $10::timestamptz, $11, $12::int4,
    ${nowMs}, $13::json, $14::json
  FROM last RETURNING queued_at
)
SELECT ${returnedMs("queued_at")} AS queued_ms FROM queued`,
      values: [
        log,
        row.id,
        input.mode,
        ...choiceValues(input.choices),
        row.role,
        row.type,
        row.content,
        row.createdAt,
        row.resourceId,
        row.parts,
        ...rareChoiceValues(input.choices),
      ],
    },
    {
      name: "insert_receipt",
      text: "INSERT INTO parley.receipt (log, message_id, body_hash, outcome) VALUES ($1, $2, $3, 'queued')",
      values: [log, row.id, bodyHash],
    },
    ...queuedRefStatements(head, row),
    ...changed,
  ]);
  const entry = {
    id: input.message.id,
    message: row.message,
    mode: input.mode,
    queuedAt: Math.round(Number(queued?.[0]?.queued_ms)),
    choices: input.choices,
  };
  return {
    kind: "queued",
    log,
    queue: queueState([...queue, entry], head.queuePaused),
    ...omitUndefined({ turnId: head.turnId }),
  };
}

/** Writes rows outside turns, sealed at once. Returns the head behind them. */
async function writeBefore(
  store: StoreContext,
  connection: Connection,
  head: Head,
  messages: AdmitInput["before"] = [],
): Promise<Head> {
  if (messages.length === 0) return head;
  const rows = messages.map((message) => messageRow(message, head.conversationId, store.maxBytes));
  const total = rows.reduce((sum, row) => sum + row.parts, 0);
  await connection.batch([
    ...insertRows(head, rows, { firstSeq: head.nextSeq }),
    {
      text: `UPDATE parley.conversation_head SET next_seq = next_seq + $2::int4, sealed_seq = next_seq + $2::int4 - 1
        WHERE log = $1`,
      values: [head.log, total],
    },
  ]);
  const nextSeq = head.nextSeq + total;
  return { ...head, nextSeq, sealedSeq: nextSeq - 1 };
}
