import type { Connection } from "../../database.js";
import { changeLock } from "../numbers.js";

/**
 * Returns the number up to which all changes of an owner are settled: no pending transaction has a lower one.
 *
 * Changes are numbered before their transactions commit, so a later number may become visible before an earlier one,
 * and a reader that continued from it would never see the earlier one.
 *
 * A transaction that changes something holds a shared advisory lock, taken before its number, whose key is a lower
 * bound of that number (`takeChangeNumber`). The bound is read before the locks: a transaction that holds none by then
 * will get a number above it.
 *
 * Alternatives: one counter per owner lets all writers of an owner wait for each other's commits; the oldest
 * transaction of the snapshot is held back by anything else that runs in the cluster.
 */
export async function settledChange(connection: Connection, owner: string): Promise<number> {
  const [bound, open] = await connection.batch([
    { name: "change_bound", text: "SELECT last_value::float8 AS last FROM parley.conversation_change" },
    {
      name: "changes_open",
      text: `
SELECT objid::int8::float8 AS low FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::int8 = ${changeLock("$1")}::int8 & 4294967295
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      values: [owner],
    },
  ]);
  const last = Number(bound?.[0]?.last);
  // A key has the lower half of the number. A number is never so far behind that it could mean another one.
  const lows = (open ?? []).map(
    ({ low }) => last - (((((last % 2 ** 32) - Number(low)) % 2 ** 32) + 2 ** 32) % 2 ** 32),
  );
  return Math.min(last, ...lows);
}
