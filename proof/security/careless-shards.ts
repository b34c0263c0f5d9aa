import type { LogStoreRoot } from "@parley/core/ports";
import type { ShardSet } from "@parley/store/postgres";

/** Returns a store as it must not be: it looks a conversation up in all shards, regardless of its owner. */
export function lookEverywhere(store: LogStoreRoot, { shards }: ShardSet): LogStoreRoot {
  const ownerOf = async (id: string): Promise<string | undefined> => {
    const found = await Promise.all(
      shards.map(({ database }) =>
        database.query({
          text: "SELECT owner FROM parley.conversation WHERE id = $1 AND status <> 'removed'",
          values: [id],
        }),
      ),
    );
    const [row] = found.flat();
    return row === undefined ? undefined : String(row.owner);
  };
  return {
    ...store,
    forOwner(owner) {
      const own = store.forOwner(owner);
      return {
        ...own,
        async get(id) {
          const found = await own.get(id);
          const other = found === null ? await ownerOf(id) : undefined;
          return other === undefined ? found : store.forOwner(other).get(id);
        },
      };
    },
  };
}
