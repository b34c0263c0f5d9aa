import { derivedBytes } from "@parley/core/messages";
import type { DerivedBytes } from "@parley/core/ports";
import type { FileVariant } from "@parley/wire";
import type { StoreContext } from "../../store-context.js";
import { invalid } from "../refusals.js";
import { lockOwner, quotaExceeded, usageStatement } from "./file-owner.js";

export async function findDerived(
  store: StoreContext,
  owner: string,
  { blob, variant }: { blob: number; variant: FileVariant },
): Promise<Uint8Array | null> {
  const [row] = await store.database.query({
    name: "find_derived",
    text: `
SELECT encode(d.data, 'base64') AS data
FROM parley.blob b JOIN parley.derived_file d ON d.blob = b.number AND d.variant = $3
WHERE b.number = $1 AND b.owner = $2`,
    values: [blob, owner, variant],
  });
  return row === undefined ? null : new Uint8Array(Buffer.from(String(row.data), "base64"));
}

/** Stores a derived form. The lock of the owner keeps the collector from removing the bytes that it belongs to. */
export async function saveDerived(
  store: StoreContext,
  owner: string,
  derived: DerivedBytes & { ownerBytes: number },
): Promise<void> {
  const { blob, variant, data, ownerBytes } = derived;
  if (data.byteLength > derivedBytes) throw invalid(`A derived form has at most ${derivedBytes} bytes`);
  const encoded = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  await store.database.transaction(async (connection) => {
    const [locked = [], found = []] = await connection.batch([
      lockOwner(owner),
      {
        name: "has_derived",
        text: `SELECT EXISTS (SELECT FROM parley.derived_file d WHERE d.blob = $1 AND d.variant = $3) AS is_saved
          FROM parley.blob WHERE number = $1 AND owner = $2`,
        values: [blob, owner, variant],
      },
    ]);
    const [row] = found;
    if (row === undefined) throw invalid("The bytes of this file are gone");
    if (row.is_saved === true) return;
    if (Number(locked[0]?.bytes) + data.byteLength > ownerBytes) throw quotaExceeded(ownerBytes);
    await connection.batch([
      {
        name: "save_derived",
        text: "INSERT INTO parley.derived_file (blob, variant, data) VALUES ($1, $2, decode($3, 'base64'))",
        values: [blob, variant, encoded],
      },
      usageStatement(owner, data.byteLength),
    ]);
  });
}
