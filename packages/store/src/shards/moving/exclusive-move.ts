import { ParleyError } from "@parley/core/errors";
import { withBudget } from "../../database.js";
import { unlimited } from "../../migration/migrate.js";
import type { Shard } from "../shard.js";

/** Interval at which the transaction that holds the lock is used. It ends when it is idle for longer than a minute. */
const keepMs = 10_000;

/**
 * Lets one move of an owner run at a time. A second one would compare with an old place from which the first one removes
 * rows, and would remove them in the new place, too.
 *
 * The lock is held by a transaction in the home shard, on a connection of its own, and ends with the process.
 * `stillAlone` rejects if it was lost.
 */
export async function exclusiveMove<Result>(
  home: Shard,
  owner: string,
  work: (stillAlone: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  let outcome: { readonly value: Result } | { readonly error: unknown } | undefined;
  try {
    await withBudget(home.database, "brief").transaction(async (connection) => {
      await connection.batch(unlimited);
      const [row] = await connection.query({
        // The name keeps this transaction apart from those of readers, which a move waits for.
        text: `SELECT set_config('application_name', 'parley move', true) AS name,
          pg_try_advisory_xact_lock(hashtextextended('parley.move ' || $1::text, 0)) AS alone`,
        values: [owner],
      });
      if (row?.alone !== true) throw otherMove();
      const stillAlone = async () => {
        await connection.query({ text: "SELECT 1 AS alone" });
      };
      const keeping = setInterval(() => void stillAlone().catch(() => undefined), keepMs);
      try {
        outcome = { value: await work(stillAlone) };
      } catch (error) {
        outcome = { error };
      } finally {
        clearInterval(keeping);
      }
    });
  } catch (error) {
    // What has been done is done, even if the connection with the lock broke at the end.
    outcome ??= { error };
  }
  if (outcome === undefined || "error" in outcome) throw outcome?.error;
  return outcome.value;
}

/** Creates the refusal of a move beside another one. */
export function otherMove(cause?: unknown): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "Another process moves this owner. Wait until it has ended, and run the command again",
    { details: { reason: "other_move" }, ...(cause === undefined ? {} : { cause }) },
  );
}
