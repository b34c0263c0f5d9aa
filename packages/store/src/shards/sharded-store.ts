import { isParleyError, ParleyError } from "@parley/core/errors";
import type {
  AbsentNode,
  BlobNumber,
  ClaimResult,
  CollectedBlobs,
  Lease,
  LogNumber,
  LogStore,
  LogStoreRoot,
  OutboxStore,
  RemovedBlob,
} from "@parley/core/ports";
import type { Finding } from "@parley/wire";
import { askShards, TakingTurns, valuesOf } from "./ask-shards.js";
import { mergeUsage } from "./merge-usage.js";
import { ServerHeartbeats } from "./server-heartbeats.js";
import type { Shard, ShardServer } from "./shard.js";
import { type ShardMap, unknownShard } from "./shard-map.js";
import { shardOfNumber } from "./shard-numbers.js";
import { ShardedJournal } from "./sharded-journal.js";
import { shardedNews } from "./sharded-news.js";

/** The shards of an installation. */
export interface ShardSet {
  /** Shard with the keys, the secrets and the map of owners. */
  readonly home: Shard;
  readonly shards: readonly Shard[];
  readonly servers: readonly ShardServer[];
  readonly map: ShardMap;
  /** Returns the number of a shard; undefined until it is registered. */
  numberOf(shard: Shard): number | undefined;
}

/** Returns the configured shard of this name. */
export function shardNamed({ shards }: Pick<ShardSet, "shards">, name: string): Shard {
  const found = shards.find((shard) => shard.name === name);
  if (found === undefined) throw unknownShard(name);
  return found;
}

type UnusedConversation = Awaited<ReturnType<LogStoreRoot["findUnused"]>>[number];

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** More groups than there can be: the limit is applied after the sums of all shards are added up. */
const allGroups = 1_000_000_000;

/**
 * Creates one store over several shards, each of which is a store itself. Calls that concern an owner go to the owner's
 * shard; calls that concern all owners go to all shards, and shards that do not answer are left out where the call is
 * repeated regularly. No statement spans two shards.
 */
export function openShardedStore(set: ShardSet, migrate: () => Promise<void>): LogStoreRoot {
  const { home, shards, servers, map } = set;
  const heartbeats = new ServerHeartbeats(servers);
  const isAway = (shard: Shard) => heartbeats.isAway(shard);
  const journal = new ShardedJournal(map, isAway);
  const turns = {
    claims: new TakingTurns<Shard, Lease[]>(shards, { isAway, claims: true }),
    inputs: new TakingTurns<Shard, LogNumber[]>(shards, { isAway, claims: true }),
    unused: new TakingTurns<Shard, UnusedConversation[]>(shards, { isAway }),
    blobs: new TakingTurns<Shard, CollectedBlobs>(shards, { isAway }),
    removed: new TakingTurns<Shard, RemovedBlob[]>(shards, { isAway }),
  };
  const byLength = (list: readonly unknown[]) => list.length;
  return {
    migrate,
    heartbeat: (node, ttlMs, presence) => heartbeats.beat(node, ttlMs, presence),
    holdsLeases(node, owner) {
      const shard = map.known(owner);
      if (shard === undefined || heartbeats.holds(node, shard)) return true;
      map.doubt(owner);
      return false;
    },
    ...absence(shards, isAway),
    claimExpired: async (node, limit) =>
      (await turns.claims.take(limit, ({ store }, rest) => store.claimExpired(node, rest), byLength)).flat(),
    expireInputs: async (limit) =>
      (await turns.inputs.take(limit, ({ store }, rest) => store.expireInputs(rest), byLength)).flat(),
    findUnused: async (query) =>
      (
        await turns.unused.take(
          query.limit,
          ({ store }, limit) => store.findUnused({ ...query, limit }),
          byLength,
        )
      ).flat(),
    flushJournal: (batches) => journal.flush(batches),
    news: (query) => shardedNews(map, query, isAway),
    async indexSearch(request) {
      const shard = map.known(request.owner);
      // Owners are indexed one after another: those of a server that is away must not delay the others.
      if (shard !== undefined && isAway(shard)) throw serverAway(shard);
      return map.call(request.owner, ({ store }) => store.indexSearch(request));
    },
    unindexedOwners: (query) => unindexedOwners(shards, query, isAway),
    sumUsage: async (range) =>
      mergeUsage(
        await Promise.all(shards.map(({ store }) => store.sumUsage({ ...range, limit: allGroups }))),
        range,
      ),
    async collectBlobs(limit) {
      const parts = await turns.blobs.take(
        limit,
        ({ store }, rest) => store.collectBlobs(rest),
        ({ blobs }) => blobs,
      );
      return {
        blobs: parts.reduce((sum, { blobs }) => sum + blobs, 0),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
        more: parts.some(({ more }) => more),
      };
    },
    identity: (proposed) => home.store.identity(proposed),
    removedBlobs: async (limit) =>
      (await turns.removed.take(limit, ({ store }, rest) => store.removedBlobs(rest), byLength)).flat(),
    async forgetRemoved(blobs) {
      await askShards(shards, ({ store }) => store.forgetRemoved(blobs));
    },
    existingBlobs: (blobs) => existingBlobs(set, blobs),
    locate: (log) => locate(set, log),
    forOwner: ownerStores(set),
    keys: home.store.keys,
    outbox: outboxOf(shards, map, isAway),
    secrets: home.store.secrets,
    check: () => check(set, isAway),
    examine: (options) => examine(shards, options),
    async close() {
      await Promise.all(servers.map(({ database }) => database.close()));
    },
  };
}

/**
 * Returns which of these bytes any shard has. What is missing is removed where the objects are, so all shards with owners
 * must be configured and must answer. What is missing is looked for again: its owner may have been moved from a shard
 * that had not answered yet to one that had.
 */
async function existingBlobs({ shards, map }: ShardSet, blobs: readonly BlobNumber[]): Promise<BlobNumber[]> {
  const existing = new Set<BlobNumber>();
  for (let round = 0; round < 2; round += 1) {
    const missing = blobs.filter((blob) => !existing.has(blob));
    if (missing.length === 0) break;
    const found = await Promise.all(shards.map(({ store }) => store.existingBlobs(missing)));
    for (const blob of found.flat()) existing.add(blob);
  }
  // Asked last: an owner that was placed meanwhile counts.
  await map.checkComplete();
  return [...existing];
}

/** Returns stores of owners, whose methods go to the shard of their owner. */
function ownerStores({ home, map }: ShardSet): (owner: string) => LogStore {
  const names = Object.keys(home.store.forOwner("")) as (keyof LogStore)[];
  return (owner) => {
    let at: { readonly shard: Shard; readonly store: LogStore } | undefined;
    const call = (name: keyof LogStore, args: readonly unknown[]) =>
      map.call(owner, (shard) => {
        if (at?.shard !== shard) at = { shard, store: shard.store.forOwner(owner) };
        return (at.store[name] as Method)(...args);
      });
    const methods = names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]);
    const store = Object.fromEntries(methods) as LogStore;
    return {
      ...store,
      // Read for any client with the address of a file, and any name in it: that must not give the name a place.
      fileSecret: async (...proposed) =>
        proposed.length > 0 || (await map.has(owner)) ? store.fileSecret(...proposed) : null,
    };
  };
}

/** Merges absences: a node that is absent from several shards is one, and is retired where it was found absent. */
function absence(
  shards: readonly Shard[],
  isAway: (shard: Shard) => boolean,
): Pick<LogStoreRoot, "absentNodes" | "retire"> {
  let found = new Map<string, { renewal: number; places: { shard: Shard; renewal: number }[] }>();
  return {
    async absentNodes() {
      const answers = await askShards(
        shards,
        async (shard) => (await shard.store.absentNodes()).map((absent) => ({ shard, ...absent })),
        isAway,
      );
      found = new Map();
      for (const { shard, node, renewal } of valuesOf(answers).flat()) {
        const before = found.get(node) ?? { renewal: 0, places: [] };
        before.places.push({ shard, renewal });
        // A later heartbeat has a later time in one of the shards.
        found.set(node, { renewal: Math.max(before.renewal, renewal), places: before.places });
      }
      return [...found].map(([node, { renewal }]): AbsentNode => ({ node, renewal }));
    },
    async retire(node, renewal) {
      if (renewal === undefined) {
        await askShards(shards, ({ store }) => store.retire(node));
        return;
      }
      const absent = found.get(node);
      const places =
        absent?.renewal === renewal ? absent.places : shards.map((shard) => ({ shard, renewal }));
      await askShards(places, (place) => place.shard.store.retire(node, place.renewal));
    },
  };
}

/** Returns a page that ends where the page of the slowest shard ends. */
async function unindexedOwners(
  shards: readonly Shard[],
  query: { after?: string },
  isAway: (shard: Shard) => boolean,
): ReturnType<LogStoreRoot["unindexedOwners"]> {
  const pages = valuesOf(await askShards(shards, ({ store }) => store.unindexedOwners(query), isAway));
  const [next] = pages.flatMap((page) => page.next ?? []).toSorted(byBytes);
  const owners = pages.flatMap((page) => page.owners).toSorted(byBytes);
  if (next === undefined) return { owners };
  return { owners: owners.filter((owner) => byBytes(owner, next) <= 0), next };
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Starts with the shard that assigned the number: most owners never move. */
async function locate({ shards, numberOf }: ShardSet, log: number): ReturnType<LogStoreRoot["locate"]> {
  const isOrigin = (shard: Shard) => numberOf(shard) === shardOfNumber(log);
  const order = [...shards.filter(isOrigin), ...shards.filter((shard) => !isOrigin(shard))];
  let failure: { readonly error: unknown } | undefined;
  for (const { store } of order) {
    try {
      const found = await store.locate(log);
      if (found !== null) return found;
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return null;
}

function outboxOf(shards: readonly Shard[], map: ShardMap, isAway: (shard: Shard) => boolean): OutboxStore {
  const turns = {
    claims: new TakingTurns<Shard, ClaimResult>(shards, { isAway, claims: true }),
    sweeps: new TakingTurns<Shard, number>(shards, { isAway }),
  };
  /** Last answer of each shard: it still counts while the shard does not answer. */
  const owners = new Map<Shard, readonly string[]>();
  return {
    async claim(query) {
      // All shards are called, even with nothing left to claim: the next due time is the soonest of all.
      const parts = await turns.claims.take(
        query.limit,
        ({ store }, limit) => store.outbox.claim({ ...query, limit }),
        ({ deliveries }) => deliveries.length,
        { all: true },
      );
      const waits = parts.flatMap(({ nextMs }) => nextMs ?? []);
      return {
        deliveries: parts.flatMap(({ deliveries }) => deliveries),
        ...(waits.length === 0 ? {} : { nextMs: Math.min(...waits) }),
      };
    },
    settle: (claim, outcome) => map.call(claim.owner, ({ store }) => store.outbox.settle(claim, outcome)),
    async owners() {
      await askShards(
        shards,
        async (shard) => {
          owners.set(shard, await shard.store.outbox.owners());
        },
        isAway,
      );
      return [...new Set([...owners.values()].flat())];
    },
    async sweep(limit) {
      const parts = await turns.sweeps.take(
        limit,
        ({ store }, rest) => store.outbox.sweep(rest),
        (count) => count,
      );
      return parts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Checks the shards. Without the home shard no user can log in; any other one may be missing. */
async function check(
  { home, shards }: ShardSet,
  isAway: (shard: Shard) => boolean,
): ReturnType<LogStoreRoot["check"]> {
  const first = await home.store.check();
  const all = valuesOf(await askShards(shards, ({ store }) => store.check(), isAway));
  const worst = all.find(({ schema }) => schema !== "current");
  return worst === undefined ? first : { ...first, schema: worst.schema };
}

function serverAway({ name }: Shard): ParleyError {
  return new ParleyError("store_unavailable", `The database server of the shard ${name} does not answer`);
}

/** Returns for each area the problems of all shards, or one finding if there is none. */
async function examine(shards: readonly Shard[], options: { fix: boolean }): Promise<Finding[]> {
  const found = await Promise.all(
    shards.map(async ({ name, store }): Promise<Finding[]> => {
      try {
        return (await store.examine(options)).map((finding) => ({
          ...finding,
          message: `Shard ${name}: ${finding.message}`,
        }));
      } catch (error) {
        if (!isParleyError(error)) throw error;
        const message = `Shard ${name}: ${error.message}`;
        const advice = error.retryable
          ? "Start its server: its owners wait until it answers"
          : "Its owners wait until this is mended";
        return [{ area: "store", level: "error", message, advice }];
      }
    }),
  );
  const areas = new Map<string, Finding[]>();
  for (const finding of found.flat()) areas.set(finding.area, [...(areas.get(finding.area) ?? []), finding]);
  return [...areas.values()].flatMap((findings) => {
    const wrong = findings.filter(({ level }) => level !== "ok");
    if (wrong.length > 0) return wrong;
    // One that has advice is shown first: the others say that there is nothing to do.
    const [first] = findings.toSorted(
      (one, other) => Number(other.advice !== undefined) - Number(one.advice !== undefined),
    );
    return first === undefined
      ? []
      : [{ ...first, message: findings.map(({ message }) => message).join(". ") }];
  });
}
