import type { Lease } from "@parley/core/ports";
import { ownerIsHere } from "../../shards/guard-owners.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { leaseColumns, leaseOf, returnedMs } from "./head.js";

/**
 * Walks the open turns, and the manual compactions, oldest first, by indexes that hold nothing else, and takes those
 * whose node is dead. SKIP LOCKED: a head that is being written at this moment belongs to a living node, or is being
 * claimed by another one. Nothing is read from the journal here: the node that has the lease reads it in a separate
 * statement, after every flush that was let in.
 *
 * The head is joined twice. `seen` is the row as the snapshot has it, and belongs to the node that was found dead; `h`
 * is locked, and may be newer by then. Only if both agree it still belongs to that node: otherwise a claim that meets
 * another one would take from a living node what that one has just claimed.
 *
 * Lives are compared with the time at which the statement began, which is no later than what it sees of the nodes: a
 * node that renews meanwhile is never found dead. Nothing waits for a lock here.
 *
 * An index of heads by node would find them more directly, and cost every turn two updates that leave their page.
 */
export async function claimExpired(store: StoreContext, node: string, limit: number): Promise<Lease[]> {
  const wanted = Math.min(Math.floor(limit), 1_000_000);
  if (!(wanted > 0)) return [];
  const rows = await store.database.query({
    name: "claim_expired",
    text: store.isShard ? claimTexts.shard : claimTexts.whole,
    values: [storedText(node), wanted],
  });
  const oldestFirst = rows.toSorted((left, right) => Number(left.started_ms) - Number(right.started_ms));
  return oldestFirst.map((row) => leaseOf(row));
}

// OFFSET 0 makes the planner look up each head by its key; without it, all heads are read at once.
const claimText = (andHere: string) => `
WITH expired AS (
  SELECT h.log
  FROM (
    SELECT log, ordinal, started_at FROM parley.conversation_turn WHERE status = 'running'
    UNION ALL
    SELECT log, NULL, started_at FROM parley.conversation_head WHERE compaction_id IS NOT NULL
  ) AS open
  CROSS JOIN LATERAL (
    SELECT log, node, fence FROM parley.conversation_head
    WHERE log = open.log AND CASE
      WHEN open.ordinal IS NULL THEN compaction_id IS NOT NULL
      ELSE turn_id IS NOT NULL AND turn_count = open.ordinal
    END OFFSET 0
  ) AS seen
  LEFT JOIN parley.node n ON n.id = seen.node
  JOIN parley.conversation_head h ON h.log = seen.log
  WHERE (n.until IS NULL OR n.until <= statement_timestamp()) AND h.fence = seen.fence AND h.node = seen.node${andHere}
  ORDER BY open.started_at
  LIMIT $2::int4
  FOR UPDATE OF h SKIP LOCKED
)
UPDATE parley.conversation_head h SET node = $1, fence = h.fence + 1
FROM expired JOIN parley.conversation c ON c.log = expired.log WHERE h.log = expired.log
RETURNING ${leaseColumns}, ${returnedMs("h.started_at")} AS started_ms`;

const claimTexts = { whole: claimText(""), shard: claimText(` AND ${ownerIsHere("h.owner")}`) };
