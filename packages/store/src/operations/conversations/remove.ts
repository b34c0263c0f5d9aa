import type { RemovedConversation } from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { removedQueuesRefs, removedRefs } from "../files/file-refs.js";
import { noticeStatements } from "../reading/notices.js";
import { lockText } from "../turns/head.js";
import { keepUsage } from "../usage/add-usage.js";
import { isUnused } from "./find-unused.js";

/**
 * Removes a conversation with its archives and, with `cascade`, everything that continues it. What is removed loses its
 * head, which every other operation locks first, and is unknown from then on. A log that a fork still shares stays
 * without a name, cut after the last seq that is shared; it is removed with its last fork.
 */
export function remove(
  store: StoreContext,
  owner: string,
  id: string,
  options: { cascade: boolean; unusedForMs?: number; temporary?: boolean },
): Promise<RemovedConversation[]> {
  return store.database.transaction(async (connection) => {
    const values = [storedText(id), owner];
    const [, found = []] = await connection.batch([
      { name: "lock_head", text: lockText, values },
      {
        text: `SELECT c.log::float8 AS log FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
          WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' AND ($3::float8 IS NULL OR ${isUnused("$3")})
            AND (c.temporary IS NOT NULL OR NOT $4::bool)`,
        values: [...values, options.unusedForMs ?? null, options.temporary === true],
      },
    ]);
    const [first] = found;
    if (first === undefined) return [];
    const gone = [{ id, log: Number(first.log) }];
    // Logs to continue from, including those without a name: conversations that continue them may still exist.
    let level = [Number(first.log)];
    while (level.length > 0) {
      // While a log is locked it cannot be forked, so all its children are visible.
      const children = await connection.query({
        text: `SELECT log::float8 AS log, id, status FROM parley.conversation
          WHERE parent = ANY($1::int8[]) AND ($2::bool OR archive_of = parent) ORDER BY log`,
        values: [level, options.cascade],
      });
      level = children.map((child) => Number(child.log));
      const named = children
        .filter((child) => child.status !== "removed")
        .map((child) => ({ id: String(child.id), log: Number(child.log) }));
      const locked = await lockHeads(connection, owner, named);
      gone.push(...named.filter(({ log }) => locked.has(log)));
    }
    const logs = gone.map(({ log }) => log);
    await connection.batch([
      ...removedQueuesRefs(owner, logs),
      ...forgetStatements(owner, logs),
      ...[
        "conversation_head",
        "receipt",
        "queued_message",
        "turn_journal",
        "input_request",
        "input_grant",
        "outbox",
        "branch_pointer",
      ].map((table) => ({
        text: `DELETE FROM parley.${table} WHERE log = ANY($1::int8[])`,
        values: [logs],
      })),
      {
        text: "UPDATE parley.conversation SET status = 'removed' WHERE log = ANY($1::int8[]) AND owner = $2",
        values: [logs, owner],
      },
      ...noticeStatements(owner, "removed", { conversationIds: gone.map((each) => each.id) }),
    ]);
    // Leaves before what they continue, so that a chain without living forks is removed completely.
    for (const log of logs.toReversed()) await shrink(connection, { log, owner });
    return gone;
  });
}

/**
 * Removes the titles from the search index. Locks the row of the owner, so that no transaction adds to the index what
 * is about to be removed.
 */
function forgetStatements(owner: string, logs: readonly number[]): Statement[] {
  return [
    { text: "SELECT 1 AS locked FROM parley.search_owner WHERE owner = $1 FOR UPDATE", values: [owner] },
    {
      text: "DELETE FROM parley.search_entry WHERE first_seq = 0 AND log = ANY($1::int8[])",
      values: [logs],
    },
    {
      text: `UPDATE parley.search_owner SET open = ARRAY(SELECT unnest(open) EXCEPT SELECT unnest($1::int8[]))
        WHERE owner = $2 AND open && $1::int8[]`,
      values: [logs, owner],
    },
  ];
}

async function lockHeads(
  connection: Connection,
  owner: string,
  named: readonly RemovedConversation[],
): Promise<Set<number>> {
  if (named.length === 0) return new Set();
  const rows = await connection.query({
    text: `SELECT log::float8 AS log FROM parley.conversation_head WHERE log = ANY($1::int8[]) AND owner = $2
      ORDER BY log FOR UPDATE`,
    values: [named.map(({ log }) => log), owner],
  });
  return new Set(rows.map((row) => Number(row.log)));
}

/**
 * Removes from a log without a name what no fork sees, and the log itself when no conversation continues it. The row is
 * locked before its children are counted: of two transactions that remove the last two forks, the second must see that
 * none is left.
 */
async function shrink(
  connection: Connection,
  { log, owner }: { readonly log: number; readonly owner: string },
): Promise<void> {
  const [row] = await connection.query({
    text: `SELECT parent::float8 AS parent FROM parley.conversation
      WHERE log = $1 AND status = 'removed' FOR UPDATE`,
    values: [log],
  });
  if (row === undefined) return;
  const [children] = await connection.query({
    text: "SELECT max(parent_seq) AS shared FROM parley.conversation WHERE parent = $1",
    values: [log],
  });
  const shared = children?.shared;
  const last = typeof shared === "number" ? shared : -1;
  const values = [log, last];
  await connection.batch([
    ...removedRefs({ log, owner }, last),
    keepUsage({ log, owner }, last),
    { text: "DELETE FROM parley.conversation_message WHERE log = $1 AND first_seq > $2", values },
    { text: "DELETE FROM parley.search_entry WHERE log = $1 AND first_seq > $2", values },
    { text: "DELETE FROM parley.conversation_turn WHERE log = $1 AND last_seq > $2", values },
    { text: "DELETE FROM parley.compaction WHERE log = $1 AND seq > $2", values },
  ]);
  if (typeof shared === "number") return;
  await connection.query({ text: "DELETE FROM parley.conversation WHERE log = $1", values: [log] });
  if (typeof row.parent === "number") await shrink(connection, { log: row.parent, owner });
}
