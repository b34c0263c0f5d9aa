import type { StopRequest } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/**
 * Renews the node's row and looks at the heads that someone asked to stop, a handful at any time, by their own index.
 * Rows of nodes that died without a word are swept out here after a day, and notices after ten minutes.
 */
export async function heartbeat(store: StoreContext, node: string, ttlMs: number): Promise<StopRequest[]> {
  const id = storedText(node);
  const [, stopping = []] = await store.database.batch([
    {
      name: "heartbeat",
      text: `
WITH forgotten AS (DELETE FROM node WHERE until < clock_timestamp() - interval '1 day' AND id <> $1),
  read_by_all AS (DELETE FROM conversation_notice WHERE noted_at < clock_timestamp() - interval '10 minutes')
INSERT INTO node (id, until) VALUES ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE SET until = EXCLUDED.until`,
      values: [id, ttlMs],
    },
    {
      name: "stopping",
      text: `
SELECT owner, conversation_id, coalesce(turn_id, compaction_id) AS active_id, fence
FROM conversation_head WHERE stop_requested_at IS NOT NULL AND node = $1 ORDER BY conversation_id`,
      values: [id],
    },
  ]);
  return stopping.map((row) => ({
    owner: originalText(String(row.owner)),
    conversationId: String(row.conversation_id),
    turnId: originalText(String(row.active_id)),
    fence: Number(row.fence),
  }));
}

/** Ends the node's life until its next heartbeat. */
export async function retire(store: StoreContext, node: string): Promise<void> {
  await store.database.query({
    name: "retire",
    text: "DELETE FROM node WHERE id = $1",
    values: [storedText(node)],
  });
}
