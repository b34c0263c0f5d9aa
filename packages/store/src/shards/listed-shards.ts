import { ParleyError } from "@parley/core/errors";
import type { Database } from "../database.js";
import type { ShardSet } from "./sharded-store.js";

/** State of a shard in the list of the home shard; see `shard` in the schema. */
export type ShardState = "joining" | "open" | "closed";

/** A shard as a schema lists it. */
export interface ListedShard {
  readonly name: string;
  readonly number: number;
  readonly home: string;
  readonly state: ShardState;
}

/** Lists the shards that a schema knows: all of them in the home shard, itself in any other one. */
export async function listShards(database: Pick<Database, "query">): Promise<ListedShard[]> {
  const rows = await database.query({
    text: "SELECT name, number, home, state FROM parley.shard ORDER BY number",
  });
  return rows.map(({ name, number, home, state }) => ({
    name: String(name),
    number: Number(number),
    home: String(home),
    state: String(state) as ShardState,
  }));
}

/** Lets new owners be placed in a shard that was closed. Returns false if it was not closed. */
export async function openShard({ home }: ShardSet, name: string): Promise<boolean> {
  const rows = await home.database.query({
    text: "UPDATE parley.shard SET state = 'open' WHERE name = $1 AND state = 'closed' RETURNING 1 AS done",
    values: [name],
  });
  return rows.length > 0;
}

/**
 * Keeps new owners from being placed in a shard. When it returns, none is being placed there any more. Refused for the
 * last shard that takes new owners.
 */
export async function closeShard({ home, shards }: ShardSet, name: string): Promise<void> {
  const others = shards.map((shard) => shard.name).filter((each) => each !== name);
  const isClosed = await home.database.transaction(async (connection) => {
    // Two that close the last two shards at once must not both succeed.
    await connection.query({ text: "LOCK TABLE parley.shard IN SHARE ROW EXCLUSIVE MODE" });
    const rows = await connection.query({
      text: `UPDATE parley.shard SET state = 'closed' WHERE name = $1
          AND EXISTS (SELECT FROM parley.shard other WHERE other.name = ANY ($2::text[]) AND other.state = 'open')
        RETURNING 1 AS done`,
      values: [name, others],
    });
    return rows.length > 0;
  });
  if (isClosed) return;
  throw new ParleyError(
    "invalid_request",
    `No other shard takes new owners. Let one take them: parley shard add ${others[0] ?? "<shard>"}`,
    { details: { field: "from" } },
  );
}
