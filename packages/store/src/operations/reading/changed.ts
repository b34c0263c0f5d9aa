import type { Changes } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { noticeOf, noticesText } from "./notices.js";
import { recordColumns, recordOf, recordTables } from "./record.js";
import { settledChange } from "./settled-change.js";

/** Reads changes in two steps: the first finds how far all changes are settled, the second reads up to there. */
export async function changed(
  store: StoreContext,
  owner: string,
  query: { since?: number; limit: number },
): Promise<Changes> {
  const settled = await settledChange(store.database, owner);
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
