import { isParleyError } from "@parley/core/errors";
import type { LogStore } from "@parley/core/ports";
import { moveOwner, openPostgres, openShards, type ShardOptions } from "@parley/store/postgres";
import type { Area } from "./ledger.js";

const owner = "mover";
const conversationId = "mover-1";

/** Calls of a node that does not know of a move. */
const calls: Readonly<Record<string, (store: LogStore) => Promise<unknown>>> = {
  get: (store) => store.get(conversationId),
  list: (store) => store.list({ limit: 10 }),
  readNewest: (store) => store.readNewest({ conversationId, limit: 10 }),
  readOpenTurn: (store) => store.readOpenTurn({ conversationId }),
  search: (store) => store.search({ q: "secret", limit: 10 }),
  changed: (store) => store.changed({ since: 0, limit: 10 }),
  "queue list": (store) => store.queue(conversationId, { op: "list" }),
  webhooks: (store) => store.webhooks(),
  fileUsage: (store) => store.fileUsage(),
  create: (store) => store.create({ id: "mover-2", settings: {} }),
  fork: (store) => store.fork({ conversationId, atSeq: 0, newId: "mover-3" }),
  remove: (store) => store.remove(conversationId, { cascade: false }),
};

/**
 * Moves an owner to another shard, dies before its rows are removed from the old place, and makes calls there, as a node
 * with an old map does. Without the guard of owners they read what is outdated, and write what no reader finds.
 */
export async function attackOldPlace(
  area: Area,
  shards: readonly ShardOptions[],
  isGuarded: boolean,
): Promise<void> {
  const { store, wake, set } = openShards({ shards });
  try {
    await store.migrate();
    await store.forOwner(owner).create({ id: conversationId, settings: { title: "a secret" } });
    const from = await set.map.find(owner);
    const to = set.shards.find(({ server }) => server !== from.server)?.name ?? "";
    await moveOwner(set, {
      owner,
      to,
      onProgress({ phase }) {
        if (phase === "removing") throw new Error("killed");
      },
    }).catch(() => undefined);
    const { url = "" } = shards.find(({ name }) => name === from.name) ?? {};
    const unguarded = openPostgres({ url, schema: from.schema, listenUrl: false });
    try {
      const old = (isGuarded ? from.store : unguarded.store).forOwner(owner);
      for (const [name, call] of Object.entries(calls)) {
        const outcome = await call(old).then(
          (value) => JSON.stringify(value) ?? "done",
          (error: unknown) => error,
        );
        const isRefused = isParleyError(outcome) && outcome.details?.reason === "owner_moved";
        area.attempt(`${name} in the old place`, isRefused, String(outcome));
      }
    } finally {
      await unguarded.store.close();
    }
    for (const [name, call] of Object.entries(calls)) {
      const outcome = await call(store.forOwner(owner)).then(
        () => "done",
        (error: unknown) => String(error),
      );
      area.control(`${name} in the new place`, outcome === "done", outcome);
    }
    // Rows and state of the owner, for the next attack.
    await moveOwner(set, { owner, to });
    await store.forOwner(owner).remove("mover-2", { cascade: true });
    await store.forOwner(owner).remove("mover-3", { cascade: true });
  } finally {
    await wake.close?.();
    await store.close();
  }
}
