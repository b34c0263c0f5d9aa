import { createHash } from "node:crypto";
import { isParleyError, ParleyError } from "@parley/core/errors";
import type { Statement } from "../database.js";
import { storedText } from "../stored-text.js";
import { isMoved } from "./guard-owners.js";
import type { Shard } from "./shard.js";

/** Owners whose shard a process remembers. */
const mostOwners = 100_000;

/** Shortest time between two reads for an owner whose shard does not answer. */
const doubtMs = 2_000;

/** The shard of an owner, as the map had it at a time of the monotonic clock. */
interface Place {
  readonly shard: Shard;
  askedAt: number;
}

/** A read of the map for an owner. */
interface Asking {
  /** True if it reads the map because a shard refused the owner. */
  readonly isRefused: boolean;
  readonly shard: Promise<Shard>;
}

/**
 * Map from owners to shards. It is in the home shard; a process remembers what it has read until a shard refuses, and
 * reads it again for an owner whose shard does not answer: the owner may have been moved away from there.
 *
 * A new owner goes to a shard by the hash of its name, and gets its row then. So a shard that is added later gets new
 * owners, and no existing owner changes its place. A hash alone would need as many rows: for all owners that it would
 * then send elsewhere.
 */
export class ShardMap {
  readonly #home: Shard;
  readonly #shards: ReadonlyMap<string, Shard>;
  readonly #known = new Map<string, Place>();
  readonly #asking = new Map<string, Asking>();

  /** The first shard is the home shard. */
  constructor(home: Shard, shards: readonly Shard[]) {
    this.#home = home;
    this.#shards = new Map(shards.map((shard) => [shard.name, shard]));
  }

  /** Returns the shard of an owner, if it is remembered. */
  known(owner: string): Shard | undefined {
    return this.#known.get(owner)?.shard;
  }

  /** Calls with the shard of an owner. If that shard refuses because the owner moved, the map is read again. */
  async call<Result>(owner: string, work: (shard: Shard) => Promise<Result>) {
    const shard = this.known(owner) ?? (await this.#ask(owner, false));
    try {
      return await work(shard);
    } catch (error) {
      if (isMoved(error)) return work(await this.look(owner));
      if (isParleyError(error) && error.code === "store_unavailable") this.doubt(owner);
      throw error;
    }
  }

  /** Reads the map again for an owner that a shard refused. The place that was known stays known until then. */
  look(owner: string): Promise<Shard> {
    return this.#ask(owner, true);
  }

  /** Reads the map again, soon, for an owner whose shard does not answer. Calls that come meanwhile do not wait. */
  doubt(owner: string): void {
    const place = this.#known.get(owner);
    const now = performance.now();
    if (place === undefined || now - place.askedAt < doubtMs) return;
    place.askedAt = now;
    // While the home shard does not answer either, the place stays as it was.
    this.#ask(owner, false).catch(() => undefined);
  }

  async find(owner: string): Promise<Shard> {
    return this.known(owner) ?? this.#ask(owner, false);
  }

  /** Returns whether the owner has a place. One that has none gets none. */
  async has(owner: string): Promise<boolean> {
    if (this.#known.has(owner)) return true;
    return (await this.#home.database.query(placeOf(storedText(owner)))).length > 0;
  }

  /** Refuses when owners are in a shard that is not configured. */
  async checkComplete(): Promise<void> {
    const [missing] = await this.#home.database.query(shardBeside([...this.#shards.keys()]));
    if (missing !== undefined) throw unknownShard(String(missing.name));
  }

  async #ask(owner: string, isRefused: boolean): Promise<Shard> {
    let asking = this.#asking.get(owner);
    // One that began before the refusal may find the place that refused.
    if (isRefused && asking?.isRefused === false) {
      await asking.shard.catch(() => undefined);
      asking = this.#asking.get(owner);
    }
    if (asking === undefined) {
      const shard = this.#read(owner, isRefused).finally(() => this.#asking.delete(owner));
      asking = { isRefused, shard };
      this.#asking.set(owner, asking);
    }
    return asking.shard;
  }

  async #read(owner: string, isRefused: boolean): Promise<Shard> {
    const askedAt = performance.now();
    const stored = storedText(owner);
    const [row] = await this.#home.database.query(placeOf(stored));
    const name = row === undefined ? await this.#place(stored) : String(row.shard);
    const shard = this.#shards.get(name);
    if (shard === undefined) throw unknownShard(name);
    // Known even if the shard does not answer now: others do not wait for it because of this owner.
    if (row !== undefined) this.#remember(owner, { shard, askedAt });
    // A process may have died between the two rows, or may not have written the second one yet.
    if (row === undefined || isRefused) await shard.database.query(arrival(stored));
    if (row === undefined) this.#remember(owner, { shard, askedAt });
    return shard;
  }

  #remember(owner: string, place: Place): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= mostOwners && !this.#known.has(owner)) {
      this.#known.delete(oldest);
    }
    this.#known.set(owner, place);
  }

  /**
   * Assigns an owner to one of the shards that take new ones. Two processes that do so at once agree on the row that was
   * first. If the chosen shard is closed meanwhile, another one is chosen.
   */
  async #place(owner: string): Promise<string> {
    for (;;) {
      const open = await this.#home.database.query(openOf([...this.#shards.keys()]));
      const chosen = open[hashOf(owner) % open.length];
      if (chosen === undefined) throw noOpenShard();
      const [, [row] = []] = await this.#home.database.batch([
        placement(owner, String(chosen.name)),
        placeOf(owner),
      ]);
      if (row !== undefined) return String(row.shard);
    }
  }
}

/** Selects those of the shards that take new owners. */
function openOf(names: readonly string[]): Statement {
  return {
    name: "open_shards",
    text: "SELECT name FROM parley.shard WHERE state = 'open' AND name = ANY ($1::text[]) ORDER BY name",
    values: [names],
  };
}

/** Assigns an owner to a shard, unless it has one, or the shard has been closed. */
function placement(owner: string, shard: string): Statement {
  return {
    name: "place_owner",
    text: `INSERT INTO parley.owner_shard (owner, shard)
SELECT $1::text, place.name FROM (
  SELECT name FROM parley.shard WHERE name = $2 AND state = 'open' FOR SHARE
) AS place
ON CONFLICT (owner) DO NOTHING`,
    values: [owner, shard],
  };
}

function placeOf(owner: string): Statement {
  return {
    name: "owner_shard",
    text: "SELECT shard FROM parley.owner_shard WHERE owner = $1",
    values: [owner],
  };
}

/** Selects a shard with owners that is none of these. */
function shardBeside(names: readonly string[]): Statement {
  return {
    name: "shard_beside",
    text: `SELECT s.name FROM parley.shard s WHERE s.name <> ALL ($1::text[])
  AND EXISTS (SELECT FROM parley.owner_shard o WHERE o.shard = s.name)
ORDER BY s.number LIMIT 1`,
    values: [names],
  };
}

/** Admits an owner that is new to a shard. One that has left it, or is being moved to it, has a row. */
function arrival(owner: string): Statement {
  return {
    name: "owner_arrives",
    text: "INSERT INTO parley.shard_owner (owner, state) VALUES ($1, 'here') ON CONFLICT (owner) DO NOTHING",
    values: [owner],
  };
}

function hashOf(owner: string): number {
  return createHash("sha256").update(owner).digest().readUInt32BE(0);
}

/** Returns whether an owner is in a shard that is not configured. */
export function isUnknownShard(error: unknown): boolean {
  return isParleyError(error) && error.details?.reason === "unknown_shard";
}

/** Creates the refusal of a shard that is not configured. */
export function unknownShard(name: string): ParleyError {
  return new ParleyError(
    "store_unavailable",
    `The shard ${name} is not among those that are configured. Add it to store.shards, or raise store.schemas`,
    { retryable: false, details: { reason: "unknown_shard", shard: name } },
  );
}

function noOpenShard(): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "No configured shard takes new owners. Let one take them: parley shard add <shard>",
    { retryable: false, details: { reason: "no_open_shard" } },
  );
}
