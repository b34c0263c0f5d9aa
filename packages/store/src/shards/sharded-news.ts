import type { LogStoreRoot, News, NewsQuery } from "@parley/core/ports";
import { answersOf, askShards, valuesOf } from "./ask-shards.js";
import { isMoved } from "./guard-owners.js";
import type { Shard } from "./shard.js";
import type { ShardMap } from "./shard-map.js";

type Asked =
  | (NewsQuery["owners"][number] & { readonly kind: "owner" })
  | (NewsQuery["conversations"][number] & { readonly kind: "conversation" });

/** Questions to one shard; to that of one owner where the shard is not known yet. */
interface Part {
  readonly shard: Shard | undefined;
  readonly items: Asked[];
}

/** Reads the news of all shards. This is called regularly: those that do not answer are asked again. */
export async function shardedNews(
  map: ShardMap,
  query: NewsQuery,
  isAway: (shard: Shard) => boolean,
): ReturnType<LogStoreRoot["news"]> {
  const asked: Asked[] = [
    ...query.owners.map((each) => ({ ...each, kind: "owner" as const })),
    ...query.conversations.map((each) => ({ ...each, kind: "conversation" as const })),
  ];
  const parts = new Map<Shard | string, Part>();
  for (const item of asked) {
    const shard = map.known(item.owner);
    const part = parts.get(shard ?? item.owner) ?? { shard, items: [] };
    part.items.push(item);
    parts.set(shard ?? item.owner, part);
  }
  const answers = await askShards(
    [...parts.values()],
    ({ shard, items }) => (shard === undefined ? newsOfOwners(map, items) : newsOfShard(map, shard, items)),
    ({ shard }) => shard !== undefined && isAway(shard),
  );
  return merged(valuesOf(answers));
}

/** Reads the news of one shard. If an owner has moved, the owners are asked for one by one. */
async function newsOfShard(map: ShardMap, { store }: Shard, items: readonly Asked[]): Promise<News> {
  try {
    return await store.news(newsQuery(items));
  } catch (error) {
    if (!isMoved(error)) throw error;
    return newsOfOwners(map, items);
  }
}

/** Reads the news of each owner separately. */
async function newsOfOwners(map: ShardMap, items: readonly Asked[]): Promise<News> {
  const owners = [...new Set(items.map(({ owner }) => owner))];
  const answers = await answersOf(owners, (owner) => {
    const own = newsQuery(items.filter((item) => item.owner === owner));
    return map.call(owner, ({ store }) => store.news(own));
  });
  return merged(valuesOf(answers));
}

function merged(parts: readonly News[]): News {
  return {
    owners: parts.flatMap(({ owners }) => owners),
    conversations: parts.flatMap(({ conversations }) => conversations),
  };
}

function newsQuery(items: readonly Asked[]): NewsQuery {
  return {
    owners: items.flatMap((item) => (item.kind === "owner" ? [item] : [])),
    conversations: items.flatMap((item) => (item.kind === "conversation" ? [item] : [])),
  };
}
