import type { Connection } from "../../database.js";
import { storedText } from "../../stored-text.js";
import { lineage } from "../reading/lineage.js";

/** Finds the newest compaction, own or inherited, that has not been undone here. An imported one has no archive. */
export async function compactionInForce(
  connection: Connection,
  owner: string,
  conversationId: string,
): Promise<{ seq: number; archive: number | null } | undefined> {
  const [row] = await connection.query({
    text: `${lineage()}
SELECT n.seq, n.archive::float8 AS archive FROM lineage l
CROSS JOIN LATERAL (
  SELECT k.seq, k.archive FROM parley.compaction k
  WHERE k.log = l.log AND k.kind = 'made' AND k.seq <= l.through AND NOT EXISTS (
    SELECT FROM parley.compaction u WHERE u.log = l.reader AND u.seq = k.seq AND u.kind = 'undone')
  ORDER BY k.seq DESC LIMIT 1
) n LIMIT 1`,
    values: [storedText(conversationId), owner],
  });
  if (row === undefined) return undefined;
  return { seq: Number(row.seq), archive: typeof row.archive === "number" ? row.archive : null };
}

/**
 * Writes on the conversation's row which archive shows what it was compacted from; 0, which no log has, if there is
 * none to show.
 */
export async function markCompactedFrom(
  connection: Connection,
  owner: string,
  conversationId: string,
): Promise<void> {
  const found = await compactionInForce(connection, owner, conversationId);
  await connection.query({
    text: `UPDATE parley.conversation SET compacted_from = $3
      WHERE owner = $2 AND id = $1 AND status <> 'removed'`,
    values: [storedText(conversationId), owner, found === undefined ? null : (found.archive ?? 0)],
  });
}
