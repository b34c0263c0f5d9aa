import { originalText } from "../../stored-text.js";
import type { Shard } from "../shard.js";
import type { ShardSet } from "../sharded-store.js";
import { countOwner } from "./copy-owner.js";
import { placeOf } from "./move-owner.js";
import { readOwnerTables } from "./owner-tables.js";

/** Number of owners in a shard. */
export interface ShardSummary {
  readonly name: string;
  readonly schema: string;
  readonly isHome: boolean;
  readonly owners: number;
  /** Owners that are being moved, from here or to here. */
  readonly moving: number;
}

/** Remains of a move, or an inconsistency, and what to do. */
export interface ShardProblem {
  readonly owner: string;
  readonly shard: string;
  readonly problem: string;
  readonly advice: string;
}

/** Counts the owners of each shard. */
export async function summarizeShards({ home, shards }: ShardSet): Promise<ShardSummary[]> {
  return Promise.all(
    shards.map(async (shard) => {
      const [row] = await shard.database.query({
        text: `SELECT count(*) FILTER (WHERE state IN ('here', 'leaving'))::int4 AS owners,
          count(*) FILTER (WHERE state IN ('leaving', 'arriving'))::int4 AS moving FROM parley.shard_owner`,
      });
      const { name, schema } = shard;
      return {
        name,
        schema,
        isHome: shard === home,
        owners: Number(row?.owners),
        moving: Number(row?.moving),
      };
    }),
  );
}

/** Finds moves that have not ended, rows in places that an owner has left, and gaps in the map. */
export async function checkShards(set: ShardSet): Promise<ShardProblem[]> {
  const mapped = await set.home.database.query({ text: "SELECT owner, shard FROM parley.owner_shard" });
  const places = new Map(mapped.map(({ owner, shard }) => [String(owner), String(shard)]));
  const found = await Promise.all(set.shards.map((shard) => checkShard(shard, places)));
  const known = new Set(set.shards.map(({ name }) => name));
  const lost = [...places].filter(([, shard]) => !known.has(shard));
  return [
    ...found.flat(),
    ...lost.map(([owner, shard]) => ({
      owner: originalText(owner),
      shard,
      problem: "is not among the configured shards, and has this owner",
      advice: "Add it to store.shards",
    })),
  ];
}

async function checkShard(shard: Shard, places: ReadonlyMap<string, string>): Promise<ShardProblem[]> {
  const { name, database } = shard;
  const rows = await database.query({
    text: "SELECT owner, state, peer FROM parley.shard_owner ORDER BY owner",
  });
  const place = placeOf(shard);
  const tables = await readOwnerTables(place, shard.schema);
  const problems: ShardProblem[] = [];
  for (const { owner: stored, state, peer } of rows) {
    const owner = originalText(String(stored));
    const home = places.get(String(stored));
    const add = (problem: string, advice: string) => problems.push({ owner, shard: name, problem, advice });
    const finish = `Run \`parley shard move ${owner} ${String(peer)}\` again, or \`parley shard move ${owner} ${name}\` to undo it`;
    if (state === "leaving") add("a move from here has not ended, and the owner cannot write", finish);
    else if (state === "arriving") {
      add(
        "a move to here has not ended",
        `Run \`parley shard move ${owner} ${name}\` again, or \`parley shard move ${owner} ${String(peer)}\` to undo it`,
      );
    } else if (state === "here" && home !== name) {
      add(
        `the owner is here, but the map names ${home ?? "no shard"}`,
        home === undefined
          ? "Let the owner be used once: that puts it into the map"
          : `Run \`parley shard move ${owner} ${name}\` again`,
      );
    } else if (state === "gone") {
      if (home === name) add("the owner has left, but the map still names this shard", finish);
      const left = await countOwner(place, tables, String(stored));
      if (left > 0)
        add(`${left} rows of an owner that has left`, `Run \`parley shard move ${owner} ${home ?? name}\``);
    }
  }
  return problems;
}
