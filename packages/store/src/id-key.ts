import { createHash } from "node:crypto";

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Computes the eight bytes by which a message is found: an index over ids of 36 characters takes four times the space.
 * For a UUID of version 7 it is the time and the last digits, so that new messages fill the index from its end; for any
 * other id, as it is stored, a hash. Two ids with the same key cost reading one more row: the id itself is compared
 * too.
 *
 * It is a column, and computed here, because an index over an expression costs more time than the column costs bytes.
 * The function `id_key` of the older migrations computes the same.
 */
export function idKey(stored: string): string {
  if (uuidV7.test(stored)) {
    return BigInt.asIntN(
      64,
      BigInt(`0x${stored.slice(0, 8)}${stored.slice(9, 13)}${stored.slice(32)}`),
    ).toString();
  }
  return createHash("sha256").update(stored).digest().readBigInt64BE(0).toString();
}

/**
 * Returns the condition that finds the message `id` with the key `key` of a log, in a table called `m`. The other
 * comparisons are one expression whose cost the planner cannot estimate: until the table is analyzed it would expect
 * many rows with this key and none that matches, and prepare to read them all in the order of their pages.
 */
export function messageIs(id: string, key: string, log: string): string {
  return `m.id_key = ${key}::int8 AND coalesce(m.id = ${id} AND m.log = ${log}, false)`;
}
