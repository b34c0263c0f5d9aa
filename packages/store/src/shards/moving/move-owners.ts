import { isParleyError, ParleyError } from "@parley/core/errors";
import { originalText } from "../../stored-text.js";
import { closeShard } from "../listed-shards.js";
import type { Shard } from "../shard.js";
import { type ShardSet, shardNamed } from "../sharded-store.js";
import { findLeftOwners } from "./copy-owner.js";
import { type MoveOwnerProgress, moveOwner, placeOf } from "./move-owner.js";
import { statesIn } from "./owner-state.js";
import { readOwnerTables } from "./owner-tables.js";

/** Progress of moving all owners: the one that is next, and its place among them. */
export interface MoveOwnersProgress {
  readonly owner: string;
  readonly number: number;
  readonly of: number;
}

export interface MoveOwnersOptions {
  /** Name of the shard that the owners leave. No new owner is placed in it from now on. */
  readonly from: string;
  readonly to: string;
  readonly onOwner?: (progress: MoveOwnersProgress) => void;
  /** Called with the progress of one owner's move. */
  readonly onProgress?: (progress: MoveOwnerProgress) => void;
  readonly signal?: AbortSignal;
}

/** Result of moving all owners of a shard. */
export interface MovedOwners {
  readonly from: string;
  readonly to: string;
  /** Owners that left the shard, or of which the last rows were removed. */
  readonly owners: number;
  readonly rows: number;
  /** Longest time in milliseconds in which one of them could not write. */
  readonly longestPauseMs: number;
  /** Owners that are still in the shard, and why. */
  readonly failures: readonly { readonly owner: string; readonly message: string }[];
}

interface Departure {
  readonly owner: string;
  readonly to: string;
}

/**
 * Moves all owners of a shard to another one, one after the other, while they are used. An owner whose move fails stays
 * where it is, and the others are moved. Calling it again continues: with owners that failed, and with the one that an
 * earlier call was moving when it died.
 */
export async function moveOwners(set: ShardSet, options: MoveOwnersOptions): Promise<MovedOwners> {
  const { signal, onOwner, onProgress } = options;
  const source = shardNamed(set, options.from);
  const target = shardNamed(set, options.to);
  if (source === target) {
    throw new ParleyError("invalid_request", `The owners are in ${target.name} already`, {
      details: { field: "to" },
    });
  }
  await closeShard(set, source.name);
  const { departures, failures } = await findDepartures(set, source, target);
  let owners = 0;
  let rows = 0;
  let longestPauseMs = 0;
  for (const [index, { owner, to }] of departures.entries()) {
    signal?.throwIfAborted();
    onOwner?.({ owner, number: index + 1, of: departures.length });
    try {
      const moved = await moveOwner(set, {
        owner,
        to,
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined ? {} : { onProgress }),
      });
      owners += 1;
      rows += moved.rows;
      longestPauseMs = Math.max(longestPauseMs, moved.pausedMs);
    } catch (error) {
      if (!isParleyError(error) || signal?.aborted) throw error;
      failures.push({ owner, message: error.message });
    }
  }
  return { from: source.name, to: target.name, owners, rows, longestPauseMs, failures };
}

/**
 * Finds the owners of a shard: those that the map names there, and those that are there. Owners that have left it, and
 * of which it still has rows, stay where they are; the rows are removed.
 */
async function findDepartures(
  { home }: ShardSet,
  source: Shard,
  target: Shard,
): Promise<{ departures: readonly Departure[]; failures: { owner: string; message: string }[] }> {
  const mapped = await home.database.query({ text: "SELECT owner, shard FROM parley.owner_shard" });
  const places = new Map(mapped.map(({ owner, shard }) => [String(owner), String(shard)]));
  const states = await statesIn(source);
  const place = placeOf(source);
  const left = await findLeftOwners(place, await readOwnerTables(place, source.schema));
  const leaving = new Set([...places].filter(([, shard]) => shard === source.name).map(([owner]) => owner));
  for (const { owner, state } of states) {
    if (state === "here" || state === "leaving") leaving.add(owner);
  }
  const departures = [
    ...[...leaving].toSorted().map((owner) => ({ owner, to: target.name })),
    ...left.flatMap((owner) => {
      const to = places.get(owner);
      return to === undefined || leaving.has(owner) ? [] : { owner, to };
    }),
  ];
  const arriving = states.filter(({ state }) => state === "arriving");
  return {
    departures: departures.map(({ owner, to }) => ({ owner: originalText(owner), to })),
    failures: arriving.map(({ owner, peer }) => ({
      owner: originalText(owner),
      message: `A move of this owner to ${source.name} was begun. Undo it by a move to ${peer ?? "where it was"}`,
    })),
  };
}
