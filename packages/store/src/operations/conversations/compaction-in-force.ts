import type { Connection } from "../../database.js";
import { storedText } from "../../stored-text.js";
import { lineage } from "../reading/lineage.js";

/** The newest compaction that nobody has undone here, own or inherited. One that was imported has no archive. */
export async function compactionInForce(
  connection: Connection,
  owner: string,
  conversationId: string,
): Promise<{ seq: number; archiveId: string | null } | undefined> {
  const [row] = await connection.query({
    text: `${lineage()}
SELECT k.seq, k.archive_id FROM lineage l
JOIN compaction k ON k.conversation_id = l.id AND k.kind = 'made' AND k.seq <= l.through
WHERE NOT EXISTS (
  SELECT FROM compaction u WHERE u.conversation_id = $1 AND u.seq = k.seq AND u.kind = 'undone')
ORDER BY k.seq DESC LIMIT 1`,
    values: [storedText(conversationId), owner],
  });
  if (row === undefined) return undefined;
  return { seq: Number(row.seq), archiveId: typeof row.archive_id === "string" ? row.archive_id : null };
}

/**
 * Writes on the conversation's row which archive shows what it was compacted from; an empty id, which no archive has,
 * where there is none to show.
 */
export async function markCompactedFrom(
  connection: Connection,
  owner: string,
  conversationId: string,
): Promise<void> {
  const found = await compactionInForce(connection, owner, conversationId);
  await connection.query({
    text: "UPDATE conversation SET compacted_from = $2 WHERE id = $1",
    values: [storedText(conversationId), found === undefined ? null : (found.archiveId ?? "")],
  });
}
