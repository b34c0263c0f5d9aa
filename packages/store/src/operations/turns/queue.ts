import { invalidField, ParleyError } from "@parley/core/errors";
import type { ConversationMessage } from "@parley/core/messages";
import type { OpenedTurn, QueueEntry, QueueOperation, QueueState, TurnChoices } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { hasFiles, messageRow } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { deliveredRefStatements, queuedRefStatements, removedQueueRefs } from "../files/file-refs.js";
import { takeChangeNumber } from "../numbers.js";
import { messageConflict, notFound } from "../refusals.js";
import { activeId, type Head, requireHead, touchedWith } from "./head.js";
import { checkTurnId, openNextTurn, stillOpened } from "./open-turn.js";
import { choiceValues, queueEntries, queueJson, queueState, readQueue } from "./queue-state.js";
import { deliveredTo } from "./receipts.js";

/** Changes the queue, under the lock that every delivery takes too: an edit comes before it, or is refused. */
export async function operateQueue(
  store: StoreContext,
  owner: string,
  id: string,
  operation: QueueOperation,
): Promise<QueueState & { started?: OpenedTurn }> {
  if (operation.op === "list") return listQueue(store, owner, id);
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, id);
    if (head.archive) throw new ParleyError("conversation_closed");
    const queue = await readQueue(connection, head);
    switch (operation.op) {
      case "edit":
        return edit(store, connection, head, queue, operation);
      case "remove":
        return removeEntry(connection, head, queue, operation.id);
      case "pause":
        await changed(connection, head, true);
        return queueState(queue, true);
      case "resume":
        return resume(store, connection, head, queue, operation);
    }
  });
}

async function listQueue(store: StoreContext, owner: string, id: string): Promise<QueueState> {
  const [row] = await store.database.query({
    name: "list_queue",
    text: `SELECT c.queue_paused, ${queueJson("c.log")} AS queue FROM parley.conversation c
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'`,
    values: [storedText(id), owner],
  });
  if (row === undefined) throw notFound(id);
  return queueState(queueEntries(row.queue, id), row.queue_paused === true);
}

async function changed(
  connection: Connection,
  { log, owner }: Head,
  paused: boolean,
  opened = false,
): Promise<void> {
  await connection.batch([
    takeChangeNumber(owner),
    {
      text: `
UPDATE parley.conversation c SET queue_paused = $2, status = CASE WHEN $3::bool THEN 'open' ELSE c.status END,
  ${touchedWith("h")}
FROM parley.conversation_head h WHERE c.log = $1 AND h.log = $1`,
      values: [log, paused, opened],
    },
  ]);
}

async function resume(
  store: StoreContext,
  connection: Connection,
  head: Head,
  queue: QueueEntry[],
  operation: QueueOperation & { op: "resume" },
): Promise<QueueState & { started?: OpenedTurn }> {
  const before = await stillOpened(connection, head, operation.turnId, operation.node);
  if (before !== undefined) return { ...queueState(queue, head.queuePaused), started: before };
  const idle = activeId(head) === undefined;
  if (idle && queue.length > 0) await checkTurnId(connection, head, operation.turnId);
  const following = idle ? await openNextTurn(store, connection, head, queue, operation) : undefined;
  await changed(connection, head, false, following !== undefined);
  if (following === undefined) return queueState(queue, false);
  return { ...queueState(following.rest, false), started: following.opened };
}

async function removeEntry(
  connection: Connection,
  head: Head,
  queue: QueueEntry[],
  entryId: string,
): Promise<QueueState> {
  if (!queue.some((entry) => entry.id === entryId)) {
    // Taken out before: the call is repeated.
    const delivered = await deliveredTo(connection, head, entryId);
    if (delivered !== "nowhere") throw refusal(entryId, delivered);
  }
  await connection.batch([
    {
      text: "DELETE FROM parley.queued_message WHERE log = $1 AND id = $2",
      values: [head.log, storedText(entryId)],
    },
    ...removedQueueRefs(head, entryId),
  ]);
  const rest = queue.filter((entry) => entry.id !== entryId);
  const paused = head.queuePaused && rest.length > 0;
  await changed(connection, head, paused);
  return queueState(rest, paused);
}

async function edit(
  store: StoreContext,
  connection: Connection,
  head: Head,
  queue: QueueEntry[],
  operation: QueueOperation & { op: "edit" },
): Promise<QueueState> {
  const entry = await waiting(connection, head, queue, operation.id);
  const { before, text } = operation;
  const edited: QueueEntry = {
    ...entry,
    message: text === undefined ? entry.message : withText(entry.message, text),
    mode: operation.mode ?? entry.mode,
    choices: withChoices(entry.choices, operation),
  };
  checkSteer(edited);
  let order = queue.map((other) => (other === entry ? edited : other));
  if (before !== undefined && before !== entry.id) {
    const others = queue.filter((other) => other !== entry);
    const place =
      before === null
        ? others.length
        : others.indexOf(await waiting(connection, head, queue, before, "before"));
    order = others.toSpliced(place, 0, edited);
  }
  const row = messageRow(edited.message, head.conversationId, store.maxBytes);
  const { log } = head;
  await connection.batch([
    {
      text: `UPDATE parley.queued_message SET mode = $3, model = $4, effort = $5, instructions = $6, content = $7::jsonb,
        type = $8, part_count = $9 WHERE log = $1 AND id = $2`,
      values: [log, row.id, edited.mode, ...choiceValues(edited.choices), row.content, row.type, row.parts],
    },
    {
      text: `UPDATE parley.queued_message q SET rank = g.rank
        FROM unnest($2::text[]) WITH ORDINALITY AS g(id, rank) WHERE q.log = $1 AND q.id = g.id`,
      values: [log, order.map((each) => storedText(each.id))],
    },
    // A new text may move the other parts.
    ...(hasFiles(row) ? [...deliveredRefStatements(log, [entry.id]), ...queuedRefStatements(head, row)] : []),
  ]);
  await changed(connection, head, head.queuePaused);
  return queueState(order, head.queuePaused);
}

/** Returns the entry, if it still waits. One that was delivered can no longer be changed. */
async function waiting(
  connection: Connection,
  head: Head,
  queue: readonly QueueEntry[],
  entryId: string,
  name = "messageId",
): Promise<QueueEntry> {
  const entry = queue.find((each) => each.id === entryId);
  if (entry !== undefined) return entry;
  throw refusal(entryId, await deliveredTo(connection, head, entryId), name);
}

function refusal(
  messageId: string,
  delivered: "turn" | "nowhere" | "unknown",
  name = "messageId",
): ParleyError {
  if (delivered === "turn") return messageConflict(messageId, "The message was delivered meanwhile");
  return invalidField(name, "no such message waits");
}

/** Replaces the text of a message, before everything else that it holds. */
function withText(message: ConversationMessage, text: string): ConversationMessage {
  const others = message.content.filter((part) => part.type !== "text");
  return { ...message, content: [{ type: "text", text }, ...others] };
}

/** Refuses to let a message with tools or a request for data join a running turn: those are set for the whole turn. */
function checkSteer({ mode, choices }: QueueEntry): void {
  const name = choices.tools !== undefined ? "tools" : choices.output !== undefined ? "output" : undefined;
  if (mode === "steer" && name !== undefined) {
    throw invalidField(
      "mode",
      `the message has ${name} for a turn of its own, so it cannot join a running one`,
    );
  }
}

function withChoices(choices: TurnChoices, operation: QueueOperation & { op: "edit" }): TurnChoices {
  const changes: TurnChoices = { ...choices };
  if (operation.model === null) delete changes.model;
  else if (operation.model !== undefined) changes.model = operation.model;
  if (operation.reasoningEffort === null) delete changes.reasoningEffort;
  else if (operation.reasoningEffort !== undefined) changes.reasoningEffort = operation.reasoningEffort;
  return changes;
}
