import type { ConversationSettings } from "@parley/core/ports";
import type { Connection, StatementValue } from "../../database.js";
import { boundedJson } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { checkConversationId, notFound } from "../refusals.js";
import { nowMs } from "../turns/head.js";

export interface NewConversation {
  readonly id: string;
  readonly owner: string;
  readonly title: string;
  readonly settings: ConversationSettings;
  readonly createdAt?: Date;
}

/** Settings as the values of model, effort, instructions, compact_threshold and metadata. */
function settingValues(store: StoreContext, settings: ConversationSettings): StatementValue[] {
  const { model, reasoningEffort, instructions, compactThreshold, metadata } = settings;
  return [
    model === undefined ? null : storedText(model),
    reasoningEffort === undefined ? null : storedText(reasoningEffort),
    instructions === undefined ? null : storedText(instructions),
    compactThreshold ?? null,
    metadata === undefined ? null : boundedJson(metadata, store.maxBytes),
  ];
}

/**
 * Makes a conversation with its head. False where the owner has one with that id already; an id of another owner is
 * refused as unknown. Two that make the same one at once meet in the primary key: the second waits for the first.
 */
export async function createConversationRow(
  store: StoreContext,
  connection: Connection,
  input: NewConversation,
): Promise<boolean> {
  checkConversationId(input.id);
  for (;;) {
    const [made] = await connection.query({
      name: "create_conversation",
      text: createText,
      values: [
        input.id,
        input.owner,
        storedText(input.title),
        ...settingValues(store, input.settings),
        input.createdAt?.toISOString() ?? null,
      ],
    });
    if (made !== undefined) return true;
    const [existing] = await connection.query({
      name: "find_conversation",
      text: "SELECT owner, status FROM conversation WHERE id = $1",
      values: [input.id],
    });
    if (existing?.status === "removed") await vacateId(connection, input.id, store.ids.next());
    else if (existing !== undefined) {
      if (existing.owner !== input.owner) throw notFound(input.id);
      return false;
    }
  }
}

// The id is looked for first although a conflict would tell: an insert that comes to nothing uses up a number.
const createText = `
WITH made AS (
  INSERT INTO conversation (id, owner, title, status, model, effort, instructions, compact_threshold, metadata,
    created_at, last_activity_at, updated_at, changed_at)
  SELECT $1, $2, $3, 'open', $4, $5, $6, $7, $8::jsonb, coalesce($9::timestamptz, t.at), t.at, t.at,
    conversation_changed($2)
  FROM (SELECT ${nowMs} AS at) t
  WHERE NOT EXISTS (SELECT FROM conversation WHERE id = $1)
  ON CONFLICT (id) DO NOTHING
  RETURNING id, log, owner, last_activity_at
)
INSERT INTO conversation_head (conversation_id, log, owner, next_seq, sealed_seq, active_at)
SELECT id, log, owner, 1, 0, last_activity_at FROM made RETURNING 1 AS made`;

/**
 * Gives a removed log, which forks still share, another key, so that its id can be used again. The new key holds a
 * character that no id has, and ends with the id that the forks continue to show as their parent's.
 */
async function vacateId(connection: Connection, id: string, unique: string): Promise<void> {
  const [locked] = await connection.query({
    text: "SELECT 1 AS locked FROM conversation WHERE id = $1 AND status = 'removed' FOR UPDATE",
    values: [id],
  });
  if (locked === undefined) return;
  const values = [id, `~${unique}~${id}`];
  const columns = [
    ["compaction", "conversation_id"],
    ["conversation", "parent_id"],
    ["conversation", "id"],
  ];
  await connection.batch([
    {
      text: `UPDATE conversation_message SET thread_id = $2
        WHERE log = (SELECT log FROM conversation WHERE id = $1)`,
      values,
    },
    ...columns.map(([table, column]) => ({
      text: `UPDATE ${table} SET ${column} = $2 WHERE ${column} = $1`,
      values,
    })),
  ]);
}

/** The id under which a parent was known, whatever key it has now. */
export function publicId(id: string): string {
  return id.startsWith("~") ? id.slice(id.indexOf("~", 1) + 1) : id;
}
