import type { AddedEntries, LogStore } from "@parley/core/ports";
import { entriesOf, messageColumns, readMessage } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { lineage, viewOf } from "./lineage.js";

/**
 * Reads a range of the primary key: ancestors are walked only if the seq is in the inherited part. The outer join
 * returns the view if there are no rows.
 */
export async function readAfter(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["readAfter"]>[0],
): Promise<AddedEntries | null> {
  const { conversationId, seq, limit } = query;
  const most = Math.max(0, Math.min(Math.ceil(limit), 2_000_000_000));
  const rows = await store.database.query({
    name: "read_after",
    text: readAfterText,
    values: [storedText(conversationId), owner, Math.min(Math.ceil(seq), 2_147_483_647), most + 1],
  });
  const [first] = rows;
  if (first === undefined) return null;
  const added = rows.filter((row) => row.id !== null);
  return {
    view: viewOf(first),
    entries: added.slice(0, most).flatMap((row) => entriesOf(readMessage(row), conversationId)),
    more: added.length > most,
  };
}

const readAfterText = `${lineage({ above: "$3::int4", undone: true })}
SELECT l.reader::float8 AS reader, l.undone, ${messageColumns}
FROM lineage l
LEFT JOIN LATERAL (
  SELECT * FROM parley.conversation_message m
  WHERE m.log = l.log AND m.first_seq > $3::int4 AND m.first_seq <= l.through
    AND (m.covers_from IS NULL OR NOT EXISTS (
      SELECT FROM parley.compaction u
      WHERE u.log = l.reader AND u.seq = m.first_seq + m.part_count - 1 AND u.kind = 'undone'))
  ORDER BY m.first_seq LIMIT (SELECT $4::int4)
) m ON true
ORDER BY m.first_seq LIMIT (SELECT $4::int4)`;
