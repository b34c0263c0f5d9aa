import type { UnusedQuery } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import { ownerIsHere } from "../../shards/guard-owners.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/** Finds conversations that are no longer used. */
export async function findUnused(
  store: StoreContext,
  query: UnusedQuery,
): Promise<{ owner: string; id: string }[]> {
  const rows = await store.database.query(
    "temporary" in query ? temporaryStatement(store, query) : ofOriginStatement(store, query),
  );
  return rows.map(({ owner, id }) => ({ owner: originalText(String(owner)), id: originalText(String(id)) }));
}

/**
 * Returns the condition that nothing has happened for this many milliseconds in the conversation `c` with the head `h`,
 * and that no turn runs there. A turn that waits for input does not run.
 */
export function isUnused(forMs: string): string {
  return `(h.turn_id IS NULL OR h.waiting_since IS NOT NULL) AND h.compaction_id IS NULL
    AND greatest(c.last_activity_at, h.active_at) <= statement_timestamp() - ${forMs}::float8 * interval '1 millisecond'`;
}

/** Uses the index of temporary conversations, of which there are few. */
function temporaryStatement({ isShard }: StoreContext, { forMs, limit }: UnusedQuery): Statement {
  return {
    name: "unused_temporary",
    text: `SELECT c.owner, c.id FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
      WHERE c.temporary IS NOT NULL AND c.status <> 'removed' AND c.archive_of IS NULL AND ${isUnused("$1")}
        ${isShard ? `AND ${ownerIsHere("c.owner")}` : ""}
      LIMIT $2::int4`,
    values: [forMs, limit],
  };
}

/**
 * Walks owner by owner, and of each the ids of a prefix, by the index of names. An index by origin and time would be
 * written in every turn for a read once an hour.
 */
function ofOriginStatement(
  { isShard }: StoreContext,
  { idPrefix, origin, forMs, limit }: Exclude<UnusedQuery, { temporary: true }>,
): Statement {
  return {
    name: "unused_conversations",
    text: `WITH RECURSIVE walk AS (
        SELECT (SELECT owner FROM parley.conversation WHERE status <> 'removed' ORDER BY owner LIMIT 1) AS owner
        UNION ALL
        SELECT (SELECT next.owner FROM parley.conversation next
          WHERE next.status <> 'removed' AND next.owner > walk.owner ORDER BY next.owner LIMIT 1)
        FROM walk WHERE walk.owner IS NOT NULL
      )
      SELECT walk.owner, unused.id FROM walk CROSS JOIN LATERAL (
        SELECT c.id FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
        WHERE c.owner = walk.owner AND c.status <> 'removed' AND c.id >= $1 AND c.id < $2
          AND (c.metadata #>> '{parley,origin}') = $3::text AND c.archive_of IS NULL AND ${isUnused("$4")}
        LIMIT $5::int4
      ) AS unused
      ${isShard ? `WHERE ${ownerIsHere("walk.owner")}` : ""}
      LIMIT $5::int4`,
    values: [storedText(idPrefix), storedText(afterPrefix(idPrefix)), origin, forMs, limit],
  };
}

/** Returns the first text behind all that begin with a prefix. */
function afterPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
