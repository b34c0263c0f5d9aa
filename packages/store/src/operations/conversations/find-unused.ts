import type { UnusedQuery } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/**
 * Finds conversations that nobody uses any more: owner by owner, and of each the ids of a prefix, by the index of names.
 * An index by origin and time would be written in every turn for a look once an hour.
 */
export async function findUnused(
  store: StoreContext,
  { idPrefix, origin, forMs, limit }: UnusedQuery,
): Promise<{ owner: string; id: string }[]> {
  const rows = await store.database.query({
    name: "unused_conversations",
    text: `WITH RECURSIVE walk AS (
        SELECT (SELECT owner FROM parley.conversation WHERE status <> 'removed' ORDER BY owner LIMIT 1) AS owner
        UNION ALL
        SELECT (SELECT next.owner FROM parley.conversation next
          WHERE next.status <> 'removed' AND next.owner > walk.owner ORDER BY next.owner LIMIT 1)
        FROM walk WHERE walk.owner IS NOT NULL
      )
      SELECT walk.owner, unused.id FROM walk CROSS JOIN LATERAL (
        SELECT c.id FROM parley.conversation c
        WHERE c.owner = walk.owner AND c.status <> 'removed' AND c.id >= $1 AND c.id < $2
          AND (c.metadata #>> '{parley,origin}') = $3::text
          AND c.last_activity_at <= statement_timestamp() - $4::float8 * interval '1 millisecond'
        LIMIT $5::int4
      ) AS unused
      LIMIT $5::int4`,
    values: [storedText(idPrefix), storedText(afterPrefix(idPrefix)), origin, forMs, limit],
  });
  return rows.map(({ owner, id }) => ({ owner: originalText(String(owner)), id: originalText(String(id)) }));
}

/** The first text behind all that begin with a prefix. */
function afterPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
