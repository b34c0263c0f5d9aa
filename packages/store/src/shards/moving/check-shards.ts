import { originalText } from "../../stored-text.js";
import { listShards } from "../listed-shards.js";
import type { Shard } from "../shard.js";
import type { ShardSet } from "../sharded-store.js";
import { countOwner, findLeftOwners } from "./copy-owner.js";
import { placeOf } from "./move-owner.js";
import { statesIn } from "./owner-state.js";
import { readOwnerTables } from "./owner-tables.js";

/** Number of owners in a shard. */
export interface ShardSummary {
  readonly name: string;
  readonly schema: string;
  readonly isHome: boolean;
  /** False if no new owner is placed in it. */
  readonly isOpen: boolean;
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
  const listed = await listShards(home.database);
  const open = listed.filter(({ state }) => state === "open").map((shard) => shard.name);
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
        isOpen: open.includes(name),
        owners: Number(row?.owners),
        moving: Number(row?.moving),
      };
    }),
  );
}

/**
 * Finds the shards that can be removed from the configuration: they take no new owners, have none, and nothing in them
 * waits to be removed elsewhere. The home shard is never one of them.
 */
export async function findRemovableShards({ home, shards }: ShardSet): Promise<string[]> {
  const closed = (await listShards(home.database)).filter(({ state }) => state === "closed");
  const candidates = shards.filter(
    (shard) => shard !== home && closed.some(({ name }) => name === shard.name),
  );
  const names = await Promise.all(
    candidates.map(async (shard) => {
      const { name, database, schema } = shard;
      const [mapped] = await home.database.query({
        text: "SELECT 1 AS found FROM parley.owner_shard WHERE shard = $1 LIMIT 1",
        values: [name],
      });
      const [used] = await database.query({
        text: `SELECT 1 AS found WHERE EXISTS (SELECT FROM parley.shard_owner WHERE state <> 'gone')
          OR EXISTS (SELECT FROM parley.removed_blob)`,
      });
      const place = placeOf(shard);
      const left = await findLeftOwners(place, await readOwnerTables(place, schema));
      return mapped === undefined && used === undefined && left.length === 0 ? [name] : [];
    }),
  );
  return names.flat();
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
  const { name } = shard;
  const place = placeOf(shard);
  const tables = await readOwnerTables(place, shard.schema);
  const left = new Set(await findLeftOwners(place, tables));
  const problems: ShardProblem[] = [];
  for (const { owner: stored, state, peer } of await statesIn(shard)) {
    const owner = originalText(stored);
    const home = places.get(stored);
    const add = (problem: string, advice: string) => problems.push({ owner, shard: name, problem, advice });
    const finish = `Run \`parley shard move ${owner} ${peer}\` again, or \`parley shard move ${owner} ${name}\` to undo it`;
    if (state === "leaving") add("a move from here has not ended, and the owner cannot write", finish);
    else if (state === "arriving") {
      add(
        "a move to here has not ended",
        `Run \`parley shard move ${owner} ${name}\` again, or \`parley shard move ${owner} ${peer}\` to undo it`,
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
      if (left.has(stored)) {
        const rows = await countOwner(place, tables, stored);
        add(`${rows} rows of an owner that has left`, `Run \`parley shard move ${owner} ${home ?? name}\``);
      }
    }
  }
  return problems;
}
