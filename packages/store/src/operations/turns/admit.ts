import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { AdmitInput, AdmitOutcome } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { idIs } from "../../id-is.js";
import { idKey, messageIs } from "../../id-key.js";
import { entryAt, type MessageRow, messageRow } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { createConversationRow } from "../conversations/create-conversation.js";
import { checkConversationId, messageConflict, turnActive } from "../refusals.js";
import { activeId, type Head, lockHead, lockText, nowMs, touched } from "./head.js";
import { checkTurnId, openTurn } from "./open-turn.js";
import { choiceValues, queueState, readQueue } from "./queue-state.js";
import { knownAdmission } from "./receipts.js";

/**
 * Admission to an idle conversation, the case that matters, is one round trip: the lock, then one statement that
 * checks everything under it and writes everything or nothing. Instead, statements one by one would take six round
 * trips under the lock; one statement that also takes the lock would look for the receipt in a snapshot from before
 * it waited, and miss the same message admitted meanwhile. Whatever the fast way does not write, the slow way decides.
 */
export async function admit(store: StoreContext, owner: string, input: AdmitInput): Promise<AdmitOutcome> {
  checkConversationId(input.conversationId);
  const row = messageRow(input.message, input.conversationId, store.maxBytes);
  const id = storedText(input.conversationId);
  const [, answers = []] = await store.database.batch([
    { name: "lock_head", text: lockText, values: [id, owner] },
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
  UPDATE conversation_head h SET turn_id = $4, node = $3, fence = h.fence + 1, turn_count = h.turn_count + 1,
    next_seq = h.next_seq + $12::int4, stop_requested_at = NULL, started_at = ${nowMs},
    active_at = greatest(h.active_at, ${nowMs})
  FROM conversation c
  WHERE h.conversation_id = $1 AND h.owner = $2 AND h.turn_id IS NULL AND h.compaction_id IS NULL
    AND c.id = $1 AND c.archive_of IS NULL
    AND NOT EXISTS (SELECT FROM receipt r WHERE r.conversation_id = $1 AND r.message_id = $5)
    AND NOT EXISTS (SELECT FROM conversation_message m WHERE ${messageIs("$5", "$17", "$1")})
    AND NOT EXISTS (SELECT FROM conversation_turn t WHERE ${idIs("t.id", "$4")} AND t.log + 0 = h.log)
  RETURNING h.log, h.fence, h.turn_count, h.next_seq - $12::int4 AS first_seq, h.started_at,
    coalesce($13, c.model, c.last_model, $18) AS model
), message AS (
  INSERT INTO conversation_message
    (log, thread_id, id, role, type, content, created_at, resource_id, first_seq, part_count, turn, body_hash,
    id_key)
  SELECT log, $1, $5, $7, $8, $9::jsonb, $10::timestamptz, $11, first_seq, $12::int4, turn_count, $6, $17::int8
  FROM opened
), turn AS (
  INSERT INTO conversation_turn
    (log, id, ordinal, status, model, effort, instructions, first_seq, last_seq, started_at)
  SELECT log, $4, turn_count, 'running', model, $14, $15, first_seq, first_seq + $12::int4 - 1, started_at FROM opened
), changed AS (
  UPDATE conversation c SET status = 'open', title = CASE WHEN c.title = '' THEN $16 ELSE c.title END, ${touched},
    last_activity_at = greatest(c.last_activity_at, opened.started_at), last_model = opened.model
  FROM opened WHERE c.id = $1
)
SELECT fence, first_seq, date_part('epoch', started_at) * 1000 AS started_ms, model FROM opened`;

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
      const known = await knownAdmission(connection, conversationId, input);
      if (known !== undefined) return known;
      await checkAdmission(connection, head, input);
      return admitInto(connection, head, input, row, false);
    }
    const settings = input.settings ?? {};
    const created = await createConversationRow(store, connection, {
      id: conversationId,
      owner,
      settings,
      title: settings.title ?? "",
    });
    if (!created) continue;
    const fresh = await lockHead(connection, owner, conversationId);
    if (fresh !== undefined) return admitInto(connection, fresh, input, row, true);
  }
}

async function checkAdmission(connection: Connection, head: Head, input: AdmitInput): Promise<void> {
  if (head.archive) throw new ParleyError("conversation_closed", "An archive takes no messages");
  const messageId = storedText(input.message.id);
  const [written] = await connection.query({
    name: "find_message",
    text: `SELECT 1 AS written FROM conversation_message m WHERE ${messageIs("$2", "$1", "$3")}`,
    values: [idKey(messageId), messageId, storedText(head.conversationId)],
  });
  if (written !== undefined) throw messageConflict(input.message.id);
  if (activeId(head) === undefined) await checkTurnId(connection, head, input.turnId);
  else if (input.ifBusy === "reject") throw turnActive(head);
}

/** Admits a message that was checked, to a conversation that is locked. */
export async function admitInto(
  connection: Connection,
  head: Head,
  input: Omit<AdmitInput, "conversationId">,
  row: MessageRow,
  created: boolean,
): Promise<AdmitOutcome> {
  const id = storedText(head.conversationId);
  const bodyHash = storedText(input.bodyHash);
  const changed = {
    name: "admit_touch",
    text: `
UPDATE conversation c SET status = 'open', title = CASE WHEN c.title = '' THEN $2 ELSE c.title END,
  changed_at = conversation_changed(c.owner), updated_at = greatest(c.updated_at, ${nowMs}),
  last_activity_at = greatest(c.last_activity_at, h.active_at)
FROM conversation_head h WHERE c.id = $1 AND h.conversation_id = $1`,
    values: [id, storedText(input.title)],
  };
  if (activeId(head) === undefined) {
    const turn = await openTurn(connection, head, { ...input, rows: [row], bodyHash });
    await connection.query(changed);
    return { kind: "started", turn, created };
  }
  const queue = await readQueue(connection, head.conversationId);
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
INSERT INTO queued_message (conversation_id, id, rank, mode, model, effort, instructions, role, type, content,
  created_at, resource_id, part_count, queued_at)
VALUES ($1, $2, (SELECT coalesce(max(rank), 0) + 1 FROM queued_message WHERE conversation_id = $1), $3, $4, $5, $6,
  $7, $8, $9::jsonb, $10::timestamptz, $11, $12, ${nowMs})
RETURNING date_part('epoch', queued_at) * 1000 AS queued_ms`,
      values: [
        id,
        row.id,
        input.mode,
        ...choiceValues(input.choices),
        row.role,
        row.type,
        row.content,
        row.createdAt,
        row.resourceId,
        row.parts,
      ],
    },
    {
      name: "insert_receipt",
      text: "INSERT INTO receipt (conversation_id, message_id, body_hash, outcome) VALUES ($1, $2, $3, 'queued')",
      values: [id, row.id, bodyHash],
    },
    changed,
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
    queue: queueState([...queue, entry], head.queuePaused),
    ...omitUndefined({ turnId: head.turnId }),
  };
}
