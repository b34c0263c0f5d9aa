import type { CollectedBlobs } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { ownerIsHere } from "../../shards/guard-owners.js";
import { forOwners, type StoreContext } from "../../store-context.js";
import { noteRemoved } from "./external-bytes.js";
import { lockOwner, usageStatement } from "./file-owner.js";

/**
 * Removes bytes that nothing refers to. Each file has its own transaction, so a large one delays only its owner's
 * uploads. Due files are searched for without a lock; `removeUnused` decides under it.
 */
export async function collectBlobs(store: StoreContext, limit: number): Promise<CollectedBlobs> {
  const due = await store.database.query({
    name: "due_blobs",
    text: `SELECT number::float8 AS blob, owner FROM parley.blob
      WHERE check_at <= statement_timestamp() ${store.isShard ? `AND ${ownerIsHere("owner")}` : ""}
      ORDER BY check_at LIMIT $1::int4`,
    values: [Math.min(Math.max(0, Math.floor(limit)), 10_000)],
  });
  const collected: CollectedBlobs = { blobs: 0, bytes: 0, more: false };
  let decided = 0;
  for (const { blob, owner } of due) {
    const outcome = await forOwners(store, [String(owner)]).database.transaction(async (connection) => {
      await connection.query(lockOwner(String(owner)));
      return removeUnused(connection, String(owner), Number(blob));
    });
    if (outcome !== "busy") decided += 1;
    if (typeof outcome !== "number") continue;
    collected.blobs += 1;
    collected.bytes += outcome;
  }
  // Files that are busy would be found again at once.
  collected.more = due.length >= limit && decided > 0;
  return collected;
}

/**
 * Removes bytes unless something refers to them. The caller holds the row of the owner. Returns the number of bytes,
 * `used` if something refers to them, and `busy` if a transaction is about to.
 *
 * The blob is locked, and its references are counted in a later statement: one statement would count in a snapshot from
 * before the lock. A transaction that has just written a reference holds a key-share lock on the blob through the
 * foreign key; then the blob is skipped, and examined again later. A later transaction waits for the lock, and is
 * refused.
 */
export async function removeUnused(
  connection: Connection,
  owner: string,
  blob: number,
): Promise<number | "used" | "busy"> {
  const values = [blob, owner];
  const [locked = [], found = []] = await connection.batch([
    {
      name: "lock_blob",
      text: `SELECT size::float8 AS size,
          (SELECT coalesce(sum(length(d.data)), 0) FROM parley.derived_file d WHERE d.blob = $1)::float8 AS derived
        FROM parley.blob WHERE number = $1 AND owner = $2 FOR UPDATE SKIP LOCKED`,
      values,
    },
    {
      name: "blob_uses",
      text: `SELECT EXISTS (SELECT FROM parley.blob_ref r WHERE r.blob = $1)
          OR EXISTS (SELECT FROM parley.upload u WHERE u.blob = $1 AND u.expires_at > statement_timestamp()) AS is_used`,
      values: [blob],
    },
  ]);
  const [row] = locked;
  if (row === undefined) return "busy";
  const expired = {
    name: "expired_uploads",
    text: `DELETE FROM parley.upload WHERE blob = $1 AND owner = $2 AND expires_at <= statement_timestamp()`,
    values,
  };
  if (found[0]?.is_used === true) {
    await connection.batch([
      expired,
      {
        name: "check_blob_later",
        text: `UPDATE parley.blob SET check_at = (SELECT max(u.expires_at) FROM parley.upload u WHERE u.blob = $1)
          WHERE number = $1 AND owner = $2`,
        values,
      },
    ]);
    return "used";
  }
  await connection.batch([
    expired,
    noteRemoved(blob),
    { name: "remove_pieces", text: "DELETE FROM parley.blob_piece WHERE blob = $1", values: [blob] },
    { name: "remove_derived", text: "DELETE FROM parley.derived_file WHERE blob = $1", values: [blob] },
    { name: "remove_blob", text: "DELETE FROM parley.blob WHERE number = $1 AND owner = $2", values },
    usageStatement(owner, -Number(row.size) - Number(row.derived)),
  ]);
  return Number(row.size);
}
