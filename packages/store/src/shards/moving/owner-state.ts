import { ParleyError } from "@parley/core/errors";
import type { Shard } from "../shard.js";

/** State of an owner in a shard; see `shardOwner` in the schema. */
export type OwnerState = "here" | "leaving" | "gone" | "arriving";

/** State of an owner in one shard, if the shard has ever had a row for it. */
export interface OwnerStatus {
  readonly shard: Shard;
  readonly state: OwnerState | undefined;
}

/** Returns the name of the owner's shard, as the map has it. */
export async function mapOf({ database }: Shard, owner: string): Promise<string | undefined> {
  const [row] = await database.query({
    text: "SELECT shard FROM parley.owner_shard WHERE owner = $1",
    values: [owner],
  });
  return row === undefined ? undefined : String(row.shard);
}

/** Reads the owners that a shard has or had, with their states, and the shards at the other side of their last move. */
export async function statesIn({
  database,
}: Shard): Promise<
  { readonly owner: string; readonly state: OwnerState; readonly peer: string | undefined }[]
> {
  const rows = await database.query({
    text: "SELECT owner, state, peer FROM parley.shard_owner ORDER BY owner",
  });
  return rows.map(({ owner, state, peer }) => ({
    owner: String(owner),
    state: String(state) as OwnerState,
    peer: peer === null ? undefined : String(peer),
  }));
}

/** Reads the states of an owner in these shards. */
export async function statusOf(shards: readonly Shard[], owner: string): Promise<OwnerStatus[]> {
  return Promise.all(
    shards.map(async (shard) => {
      const [row] = await shard.database.query({
        text: "SELECT state FROM parley.shard_owner WHERE owner = $1",
        values: [owner],
      });
      return { shard, state: row === undefined ? undefined : (String(row.state) as OwnerState) };
    }),
  );
}

/**
 * Sets the state of an owner in a shard. Waits for all transactions of the owner that write there. With `only`, changes
 * the state only from that one.
 */
export async function setState(
  shard: Shard,
  owner: string,
  state: OwnerState,
  peer?: string,
  only?: OwnerState,
): Promise<void> {
  const values = [owner, state, peer ?? null];
  if (only !== undefined) {
    const rows = await shard.database.query({
      text: "UPDATE parley.shard_owner SET state = $2, peer = $3 WHERE owner = $1 AND state = $4 RETURNING 1 AS done",
      values: [...values, only],
    });
    if (rows.length === 0 && state === "gone") {
      throw new ParleyError(
        "internal",
        "Somebody else has ended the pause of this owner. Run the command again",
        {
          retryable: false,
        },
      );
    }
    return;
  }
  await shard.database.query({
    text: `INSERT INTO parley.shard_owner (owner, state, peer) VALUES ($1, $2, $3)
      ON CONFLICT (owner) DO UPDATE SET state = excluded.state, peer = excluded.peer`,
    values,
  });
}
