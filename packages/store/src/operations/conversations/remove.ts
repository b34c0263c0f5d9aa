import type { Connection, Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { noticeStatement } from "../reading/notices.js";

/**
 * Takes a conversation away, with its archives and, with `cascade`, all that continues it. What is removed loses its
 * head, which every other operation locks first, and so is unknown from then on. A log that a fork still shares stays
 * without a name, cut behind the last seq that someone shares; it goes with its last fork.
 */
export function remove(
  store: StoreContext,
  owner: string,
  id: string,
  options: { cascade: boolean },
): Promise<string[]> {
  return store.database.transaction(async (connection) => {
    if ((await lockHeads(connection, owner, [storedText(id)])).length === 0) return [];
    const gone = [storedText(id)];
    // The logs to go on from: also those without a name, for what continues them may still live.
    let level = [storedText(id)];
    while (level.length > 0) {
      // Behind the lock of a log nobody forks it any more, so its children are all there.
      const children = await connection.query({
        text: `SELECT id, status FROM conversation WHERE parent_id = ANY($1::text[]) AND ($2::bool OR archive_of = parent_id)
          ORDER BY id`,
        values: [level, options.cascade],
      });
      level = children.map((child) => String(child.id));
      const named = children.filter((child) => child.status !== "removed").map((child) => String(child.id));
      gone.push(...(await lockHeads(connection, owner, named)));
    }
    const values = [gone];
    await connection.batch([
      ...forgetStatements(owner, gone),
      ...["conversation_head", "receipt", "queued_message", "turn_journal"].map((table) => ({
        text: `DELETE FROM ${table} WHERE conversation_id = ANY($1::text[])`,
        values,
      })),
      { text: "UPDATE conversation SET status = 'removed' WHERE id = ANY($1::text[])", values },
      noticeStatement(owner, "removed", { conversationIds: gone.map(originalText) }),
    ]);
    // Leaves before what they continue, so that a chain without living forks goes as a whole.
    for (const each of gone.toReversed()) await shrink(connection, each);
    return gone;
  });
}

/**
 * Takes the titles out of the search index. Holds the row of the owner from here on: nobody adds to the index what is
 * about to go.
 */
function forgetStatements(owner: string, gone: readonly string[]): Statement[] {
  const logs = "SELECT log FROM conversation_head WHERE conversation_id = ANY($1::text[])";
  return [
    { text: "SELECT 1 AS locked FROM search_owner WHERE owner = $1 FOR UPDATE", values: [owner] },
    { text: `DELETE FROM search_entry WHERE first_seq = 0 AND log IN (${logs})`, values: [gone] },
    {
      text: `UPDATE search_owner SET open = ARRAY(SELECT unnest(open) EXCEPT ${logs})
        WHERE owner = $2 AND open && ARRAY(${logs})`,
      values: [gone, owner],
    },
  ];
}

async function lockHeads(connection: Connection, owner: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await connection.query({
    text: `SELECT conversation_id FROM conversation_head WHERE conversation_id = ANY($1::text[]) AND owner = $2
      ORDER BY conversation_id FOR UPDATE`,
    values: [ids, owner],
  });
  return rows.map((row) => String(row.conversation_id));
}

/**
 * Drops from a log without a name what no fork sees, and the log itself when nobody continues it. The row is locked
 * before its children are counted: of two that take the last two forks away, the second must see that none is left.
 */
async function shrink(connection: Connection, id: string): Promise<void> {
  const [log] = await connection.query({
    text: "SELECT parent_id, log FROM conversation WHERE id = $1 AND status = 'removed' FOR UPDATE",
    values: [id],
  });
  if (log === undefined) return;
  const [children] = await connection.query({
    text: "SELECT max(parent_seq) AS shared FROM conversation WHERE parent_id = $1",
    values: [id],
  });
  const shared = children?.shared;
  const last = typeof shared === "number" ? shared : -1;
  const values = [Number(log.log), last];
  await connection.batch([
    { text: "DELETE FROM conversation_message WHERE log = $1 AND first_seq > $2", values },
    { text: "DELETE FROM search_entry WHERE log = $1 AND first_seq > $2", values },
    { text: "DELETE FROM conversation_turn WHERE log = $1 AND last_seq > $2", values },
    { text: "DELETE FROM compaction WHERE conversation_id = $1 AND seq > $2", values: [id, last] },
  ]);
  if (typeof shared === "number") return;
  await connection.query({ text: "DELETE FROM conversation WHERE id = $1", values: [id] });
  if (typeof log.parent_id === "string") await shrink(connection, log.parent_id);
}
