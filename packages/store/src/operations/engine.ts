import {
  type Conversation,
  type ConversationMessage,
  omitUndefined,
  requireConversationId,
  titleOf,
} from "@parley/core/messages";
import type { ListConversationsOptions, ListMessagesOptions } from "@parley/core/ports";
import type { Connection } from "../database.js";
import { entriesOf, type MessageRow, messageRow, readMessage } from "../message-row.js";
import type { StoreContext } from "../store-context.js";
import { originalJson, originalText, storedText } from "../stored-text.js";
import { appendAtOnce } from "./append-at-once.js";
import { createConversationRow } from "./conversations/create-conversation.js";
import { set } from "./conversations/settings.js";
import { takeChangeNumber } from "./numbers.js";
import { lineage } from "./reading/lineage.js";
import { listStatement } from "./reading/list-messages.js";
import { checkCreatedAt, invalid, notFound, turnActive } from "./refusals.js";
import { activeId, type Head, nowMs, requireHead, touched } from "./turns/head.js";
import { insertRows } from "./turns/open-turn.js";

const conversationColumns = `c.id, c.title, c.metadata::text AS metadata,
  date_part('epoch', c.created_at) * 1000 AS created_ms, date_part('epoch', c.updated_at) * 1000 AS updated_ms`;

function conversationOf(row: Record<string, unknown>): Conversation {
  const title = originalText(String(row.title));
  return {
    id: String(row.id),
    createdAt: new Date(Math.round(Number(row.created_ms))),
    updatedAt: new Date(Math.round(Number(row.updated_ms))),
    ...(title === "" ? {} : { title }),
    ...(typeof row.metadata === "string"
      ? { metadata: originalJson(row.metadata) as Record<string, unknown> }
      : {}),
  };
}

async function find(connection: Connection, owner: string, id: string): Promise<Conversation | null> {
  const [row] = await connection.query({
    text: `SELECT ${conversationColumns} FROM parley.conversation c
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'`,
    values: [storedText(id), owner],
  });
  return row === undefined ? null : conversationOf(row);
}

export function createConversation(
  store: StoreContext,
  owner: string,
  input: { id?: string; title?: string; metadata?: Record<string, unknown> },
): Promise<Conversation> {
  const id = input.id ?? store.ids.next();
  const settings = input.metadata === undefined ? {} : { metadata: input.metadata };
  return store.database.transaction(async (connection) => {
    await createConversationRow(store, connection, { id, owner, settings, title: input.title ?? "" });
    const made = await find(connection, owner, id);
    if (made === null) throw notFound(id);
    return made;
  });
}

export function getConversation(
  store: StoreContext,
  owner: string,
  id: string,
): Promise<Conversation | null> {
  return find(store.database, owner, id);
}

export async function updateConversation(
  store: StoreContext,
  owner: string,
  id: string,
  updates: Partial<Pick<Conversation, "title" | "metadata">>,
): Promise<Conversation | null> {
  if ((await find(store.database, owner, id)) === null) return null;
  const { title, metadata } = updates;
  await set(store, owner, id, {
    ...omitUndefined({ title, metadata }),
  });
  return find(store.database, owner, id);
}

export async function listConversations(
  store: StoreContext,
  owner: string,
  options: ListConversationsOptions = {},
): Promise<Conversation[]> {
  const rows = await store.database.query({
    text: `SELECT ${conversationColumns} FROM parley.conversation c
      WHERE c.owner = $1 AND c.archive_of IS NULL AND c.status <> 'removed' AND c.temporary IS NULL
        AND ($2::timestamptz IS NULL OR c.updated_at < $2::timestamptz)
      ORDER BY c.changed_at DESC LIMIT $3::int4`,
    values: [
      owner,
      options.before?.toISOString() ?? null,
      Math.max(0, Math.min(options.limit ?? 50, 1_000_000)),
    ],
  });
  return rows.map(conversationOf);
}

/**
 * Appends rows outside turns, sealed at once; no other writer appends while a turn runs. Heads are locked in the order
 * of ids, and everything is checked before the first row, so that a refusal leaves nothing behind.
 */
export async function appendMessages(
  store: StoreContext,
  owner: string,
  messages: readonly ConversationMessage[],
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map((message) => {
    requireConversationId(message);
    checkCreatedAt(message);
    return messageRow(message, message.conversationId, store.maxBytes);
  });
  if (await appendAtOnce(store, owner, rows)) return;
  await store.database.transaction((connection) => appendRows(connection, owner, rows));
}

/** Appends rows to the conversations that their messages name. */
export async function appendRows(
  connection: Connection,
  owner: string,
  rows: readonly MessageRow[],
): Promise<void> {
  const groups = new Map<string, MessageRow[]>();
  for (const row of rows) {
    const { conversationId } = row.message;
    groups.set(conversationId, [...(groups.get(conversationId) ?? []), row]);
  }
  const fresh = new Map<string, { head: Head; rows: MessageRow[] }>();
  const seen = new Map<string, string>();
  for (const conversationId of [...groups.keys()].sort()) {
    const head = await requireHead(connection, owner, conversationId);
    const group = groups.get(conversationId) ?? [];
    const known = await usedIds(connection, owner, conversationId, group);
    const added: MessageRow[] = [];
    for (const row of group) {
      const before = seen.get(row.id);
      if (before === conversationId || known.get(row.id) === "here") continue;
      if (before !== undefined || known.get(row.id) === "elsewhere") {
        throw invalid("The id of this message is used in another conversation", { id: row.message.id });
      }
      if (activeId(head) !== undefined) throw turnActive(head);
      seen.set(row.id, conversationId);
      added.push(row);
    }
    if (added.length > 0) fresh.set(conversationId, { head, rows: added });
  }
  for (const { head, rows: added } of fresh.values()) {
    const total = added.reduce((sum, row) => sum + row.parts, 0);
    await connection.batch([
      ...insertRows(head, added, { firstSeq: head.nextSeq }),
      {
        name: "append_head",
        text: `UPDATE parley.conversation_head SET next_seq = next_seq + $2::int4, sealed_seq = next_seq + $2::int4 - 1,
          active_at = greatest(active_at, ${nowMs}) WHERE log = $1`,
        values: [head.log, total],
      },
      takeChangeNumber(owner),
      {
        name: "append_touch",
        text: `UPDATE parley.conversation SET ${touched}, last_activity_at = greatest(last_activity_at, ${nowMs}),
          title = CASE WHEN title = '' THEN $2 ELSE title END WHERE log = $1`,
        values: [head.log, storedText(titleOf(added.map(({ message }) => message)))],
      },
    ]);
  }
}

/** Finds the message ids that are used already: in this log (own or inherited rows) or in another one of the owner. */
async function usedIds(
  connection: Connection,
  owner: string,
  conversationId: string,
  rows: readonly MessageRow[],
): Promise<Map<string, "here" | "elsewhere">> {
  const found = await connection.query({
    name: "used_ids",
    text: `${lineage()}
SELECT m.id, bool_or(l.log IS NOT NULL) AS here
FROM unnest($3::text[], $4::int8[]) AS wanted(id, key)
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message r WHERE r.id_key = wanted.key AND r.id = wanted.id OFFSET 0
) AS m
JOIN parley.conversation c ON c.log = m.log AND c.owner = $2
LEFT JOIN lineage l ON l.log = m.log AND m.first_seq <= l.through
WHERE (l.log IS NOT NULL OR c.status <> 'removed')
GROUP BY m.id`,
    values: [storedText(conversationId), owner, rows.map((row) => row.id), rows.map((row) => row.key)],
  });
  return new Map(found.map((row) => [String(row.id), row.here === true ? "here" : "elsewhere"]));
}

export async function listMessages(
  store: StoreContext,
  owner: string,
  id: string,
  options: ListMessagesOptions = {},
): Promise<ConversationMessage[]> {
  const newestFirst = options.ascending === false;
  const rows = await store.database.query(listStatement(id, owner, { limit: options.limit, newestFirst }));
  const messages = rows.map((row) => entriesOf(readMessage(row), id).map((entry) => entry.message));
  return newestFirst ? messages.flatMap((group) => group.reverse()) : messages.flat();
}
