import { omitUndefined, toStoredChunks } from "@parley/core/messages";
import type { LogStore } from "@parley/core/ports";
import type { StoredChunk } from "@parley/wire";
import { entriesOf, messageColumns, readMessage } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { notFound } from "../refusals.js";
import { lineage } from "./lineage.js";

const largest = 2_147_483_647;

/**
 * Reads the rows of a window from its newest end backwards, like `readNewest`. A window may begin inside a message, so
 * the scan goes down to the row that holds the seq it begins after, found by one more lookup in the same index; a
 * condition on where rows end would read the log to its beginning. The limit is a subselect for the same reason too.
 */
export async function readChunks(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["readChunks"]>[0],
): Promise<{ chunks: StoredChunk[]; latestSeq: number }> {
  const { conversationId } = query;
  const since = query.sinceSeq ?? 0;
  const before = query.beforeSeq ?? largest;
  const limit = Math.max(0, Math.min(query.limit ?? largest, largest - 1));
  const rows = await store.database.query({
    name: "read_chunks",
    text: readChunksText,
    values: [
      storedText(conversationId),
      owner,
      clamp(Math.floor(since)),
      clamp(Math.ceil(before) - 1),
      query.open === true,
      Math.ceil(limit),
    ],
  });
  const [first] = rows;
  if (first === undefined) throw notFound(conversationId);
  const last = Number(first.last);
  const chunks: StoredChunk[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    for (const entry of entriesOf(readMessage(row), conversationId).reverse()) {
      const { firstSeq = 0, turnId, stepId, covers } = entry;
      const place = {
        firstSeq,
        ...omitUndefined({ turnId, stepId, covers }),
      };
      // The window may begin or end inside a message.
      for (const chunk of toStoredChunks(entry.message, place).reverse()) {
        if (chunk.seq > since && chunk.seq <= last && chunks.length < limit) chunks.push(chunk);
      }
    }
  }
  chunks.reverse();
  return { chunks, latestSeq: chunks.at(-1)?.seq ?? since };
}

function clamp(seq: number): number {
  return Math.max(-1, Math.min(seq, largest));
}

const readChunksText = `${lineage({ above: "$3::int4", upTo: "$4::int4" })}, bounds AS (
  SELECT least(CASE WHEN $5::bool THEN next_seq - 1 ELSE sealed_seq END, $4::int4) AS last
  FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
  WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
)
SELECT b.last, ${messageColumns}
FROM bounds b
LEFT JOIN LATERAL (
  SELECT r.* FROM lineage l
  CROSS JOIN LATERAL (
    SELECT * FROM parley.conversation_message m
    WHERE m.log = l.log AND m.first_seq <= least(l.through, b.last)
      AND m.first_seq >= coalesce((
        SELECT s.first_seq FROM parley.conversation_message s
        WHERE s.log = l.log AND s.first_seq <= $3::int4 ORDER BY s.first_seq DESC LIMIT 1), 0)
      AND m.first_seq + m.part_count - 1 > $3::int4
    ORDER BY m.first_seq DESC LIMIT (SELECT $6::int4)
  ) r
  LIMIT (SELECT $6::int4)
) m ON true`;
