import { pieceBytes } from "@parley/core/messages";
import type { RemovedBlob } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/**
 * Records that bytes are to be removed from external storage, if they are not in the database. It is part of the transaction that
 * removes the blob, so a node that dies before it has removed them leaves them to the next one.
 */
export function noteRemoved(blob: number): Statement {
  return {
    name: "note_removed",
    text: `INSERT INTO parley.removed_blob (number, pieces)
      SELECT b.number, ceil(b.size / ${pieceBytes}::float8)::int4 FROM parley.blob b
      WHERE b.number = $1 AND b.size > 0 AND NOT EXISTS (SELECT FROM parley.blob_piece p WHERE p.blob = $1)`,
    values: [blob],
  };
}

export async function removedBlobs(store: StoreContext, limit: number): Promise<RemovedBlob[]> {
  const rows = await store.database.query({
    name: "removed_blobs",
    text: "SELECT number::float8 AS blob, pieces FROM parley.removed_blob ORDER BY number LIMIT $1::int4",
    values: [limit],
  });
  return rows.map(({ blob, pieces }) => ({ blob: Number(blob), pieces: Number(pieces) }));
}

export async function forgetRemoved(store: StoreContext, blobs: readonly number[]): Promise<void> {
  await store.database.query({
    name: "forget_removed",
    text: "DELETE FROM parley.removed_blob WHERE number = ANY($1::int8[])",
    values: [blobs],
  });
}

export async function identity(store: StoreContext, proposed: string): Promise<string> {
  const [, rows = []] = await store.database.batch([
    {
      name: "propose_identity",
      text: "INSERT INTO parley.store_identity (single, id) VALUES (true, $1) ON CONFLICT (single) DO NOTHING",
      values: [storedText(proposed)],
    },
    { name: "store_identity", text: "SELECT id FROM parley.store_identity" },
  ]);
  return originalText(String(rows[0]?.id));
}

export async function existingBlobs(store: StoreContext, blobs: readonly number[]): Promise<number[]> {
  const rows = await store.database.query({
    name: "existing_blobs",
    text: "SELECT number::float8 AS blob FROM parley.blob WHERE number = ANY($1::int8[])",
    values: [blobs],
  });
  return rows.map(({ blob }) => Number(blob));
}
