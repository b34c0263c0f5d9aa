import type { Changes } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { noticeOf, noticesText } from "./notices.js";
import { recordColumns, recordOf, recordTables } from "./record.js";

/**
 * Changes are numbered before their transactions commit, so a later number may become visible before an earlier one,
 * and a reader that went on from it would miss the earlier one for ever. Hence two statements: the first asks how far
 * all changes are settled, the second reads up to there.
 *
 * Whoever changes something holds a shared advisory lock, taken before its number, whose key is a lower bound of that
 * number (`conversation_changed` in the migrations). The bound is read before the locks: a transaction that holds none
 * by then will get a number above it.
 *
 * Alternatives: one counter per owner lets all writers of an owner wait for each other's commits; the oldest
 * transaction of the snapshot is held back by whatever else runs in the cluster.
 */
export async function changed(
  store: StoreContext,
  owner: string,
  query: { since?: number; limit: number },
): Promise<Changes> {
  const [bound, open] = await store.database.batch([
    { name: "change_bound", text: "SELECT last_value::float8 AS last FROM conversation_change" },
    {
      name: "changes_open",
      text: `
SELECT objid::int8::float8 AS low FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::int8 = hashtext($1)::int8 & 4294967295
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      values: [owner],
    },
  ]);
  const last = Number(bound?.[0]?.last);
  // A key has the lower half of the number. A number is never that far behind that it could mean another one.
  const lows = (open ?? []).map(
    ({ low }) => last - (((((last % 2 ** 32) - Number(low)) % 2 ** 32) + 2 ** 32) % 2 ** 32),
  );
  const settled = Math.min(last, ...lows);
  if (query.since === undefined) return { conversations: [], notices: [], last: settled };
  const limit = Math.max(0, Math.min(query.limit, 1_000_000));
  const values = [owner, query.since, settled, limit];
  const [rows = [], words = []] = await store.database.batch([
    { name: "changed", text: changedText, values },
    { name: "noticed", text: noticesText, values },
  ]);
  // Each list has its first `limit`, so together they hold the first `limit` of both.
  const page = [...rows.map(recordOf), ...words.map(noticeOf)]
    .sort((left, right) => left.changedAt - right.changedAt)
    .slice(0, limit);
  return {
    conversations: page.flatMap((change) => ("kind" in change ? [] : [change])),
    notices: page.flatMap((change) => ("kind" in change ? [change] : [])),
    last: page.at(-1)?.changedAt ?? query.since,
  };
}

const changedText = `SELECT ${recordColumns} FROM ${recordTables}
WHERE c.owner = $1 AND c.changed_at > $2::float8::int8 AND c.changed_at <= $3::float8::int8 AND c.archive_of IS NULL
  AND c.status <> 'removed'
ORDER BY c.changed_at LIMIT $4::int4`;
