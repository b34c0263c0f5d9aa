import type { StopRequest } from "@parley/core/ports";
import type { ResultRow, Statement } from "../../database.js";
import { undivided } from "../../shards/undivided.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { renewalOf } from "./presence.js";

/**
 * Renews the node's life, and returns its turns for which a stop was requested. Fails if the store has been divided into
 * shards that this node does not know. That is checked behind the write, which waits while a store is being divided.
 */
export async function heartbeat(
  store: StoreContext,
  node: string,
  ttlMs: number,
  presence?: string,
): Promise<StopRequest[]> {
  const [, stopping = []] = await store.database.batch([
    ...heartbeatStatements(node, ttlMs, presence),
    ...(store.isShard ? [] : [undivided]),
  ]);
  return stopping.map(stopRequestOf);
}

/**
 * Renews the node's row and reads the heads for which a stop was requested, a handful at any time, by their own index:
 * the rows of the second statement. Rows of nodes that died silently are removed here after a day, and notices after
 * ten minutes.
 */
export function heartbeatStatements(
  node: string,
  ttlMs: number,
  presence?: string,
): readonly [Statement, Statement] {
  const id = storedText(node);
  return [
    {
      name: "heartbeat",
      text: `
WITH forgotten AS (DELETE FROM parley.node WHERE until < statement_timestamp() - interval '1 day' AND id <> $1),
  read_by_all AS (DELETE FROM parley.conversation_notice WHERE noted_at < statement_timestamp() - interval '10 minutes')
INSERT INTO parley.node (id, until, presence)
VALUES ($1, statement_timestamp() + $2::float8 * interval '1 millisecond', $3)
ON CONFLICT (id) DO UPDATE SET until = EXCLUDED.until, presence = EXCLUDED.presence`,
      values: [id, ttlMs, presence ?? null],
    },
    {
      name: "stopping",
      text: `
SELECT h.owner, c.id, h.log::float8 AS log, coalesce(h.turn_id, h.compaction_id) AS active_id, h.fence
FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
WHERE h.stop_requested_at IS NOT NULL AND h.node = $1 ORDER BY h.log`,
      values: [id],
    },
  ];
}

/** Reads a row of the heads for which a stop was requested. */
export function stopRequestOf(row: ResultRow): StopRequest {
  return {
    owner: originalText(String(row.owner)),
    conversationId: String(row.id),
    log: Number(row.log),
    turnId: originalText(String(row.active_id)),
    fence: Number(row.fence),
  };
}

/**
 * Takes from a node what it holds: it has had no contact with this database for longer than its leases last, and drops
 * it. Any node can claim it at once; late writes of the old node are refused.
 */
export function disownStatement(node: string): Statement {
  return {
    name: "disown",
    text: `
UPDATE parley.conversation_head h SET node = '', fence = h.fence + 1
FROM (
  SELECT log FROM parley.conversation_turn WHERE status = 'running'
  UNION SELECT log FROM parley.conversation_head WHERE compaction_id IS NOT NULL
) AS open
WHERE h.log = open.log AND h.node = $1`,
    values: [storedText(node)],
  };
}

/** Ends the node's life until its next heartbeat. */
export async function retire(store: StoreContext, node: string, renewal?: number): Promise<void> {
  await store.database.query({
    name: "retire",
    text: `DELETE FROM parley.node WHERE id = $1 AND ($2::float8 IS NULL OR ${renewalOf} = $2)`,
    values: [storedText(node), renewal ?? null],
  });
}
