import { setImmediate } from "node:timers/promises";
import type { HistoryEntry, LogStore } from "@parley/core/ports";
import { entriesOf, messageColumns, readMessage } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { lineage, viewOf } from "./lineage.js";

/** Characters of rows that are parsed before other work of the process can run. */
const charactersAtOnce = 256 * 1024;

/**
 * Scans the primary key backward from the newest row and stops at the limit: the same cost in a log of a thousand
 * messages and of a million. The walk through ancestors continues only as far as rows are still needed.
 *
 * The limit is a subselect, which the planner never evaluates: with a number, it would find a custom plan cheaper than
 * a generic one, and plan every time, which takes as long as the read.
 */
export async function readNewest(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["readNewest"]>[0],
): ReturnType<LogStore["readNewest"]> {
  const { conversationId, limit } = query;
  if (!(limit > 0)) return { entries: [] };
  const before = Math.min(query.before ?? Number.POSITIVE_INFINITY, 2_147_483_647);
  const rows = await store.database.query({
    name: "read_newest",
    text: readNewestText,
    // One more than requested: it shows whether there is another page.
    values: [
      storedText(conversationId),
      owner,
      Math.ceil(before) - 1,
      Math.min(Math.ceil(limit), 2_000_000_000) + 1,
    ],
  });
  const [first] = rows;
  const view = query.view === true && first !== undefined ? { view: viewOf(first) } : {};
  const entries: HistoryEntry[] = [];
  let parsed = 0;
  for (const row of rows) {
    parsed += String(row.content).length;
    if (parsed > charactersAtOnce) {
      parsed = 0;
      await setImmediate();
    }
    for (const entry of entriesOf(readMessage(row), conversationId).reverse()) {
      if ((entry.lastSeq ?? 0) >= before) continue;
      const oldest = entries.at(-1)?.firstSeq;
      if (entries.length >= limit && oldest !== undefined) return { entries, before: oldest, ...view };
      entries.push(entry);
    }
  }
  return { entries, ...view };
}

const readNewestText = `${lineage({ upTo: "$3::int4", undone: true })}
SELECT l.reader::float8 AS reader, l.undone, ${messageColumns}
FROM lineage l
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message m
  WHERE m.log = l.log AND m.first_seq <= least(l.through, $3::int4)
    AND (m.covers_from IS NULL OR NOT EXISTS (
      SELECT FROM parley.compaction u
      WHERE u.log = l.reader AND u.seq = m.first_seq + m.part_count - 1 AND u.kind = 'undone'))
  ORDER BY m.first_seq DESC LIMIT (SELECT $4::int4)
) m
LIMIT (SELECT $4::int4)`;
