import type { LogStore, LogStoreRoot } from "@parley/core/ports";
import { describe, expect, it } from "vitest";
import { type ContractCase, runCases } from "../contract-case.js";
import { createMemoryLogStore } from "../memory-log/memory-log-store.js";
import { logStoreContract } from "./log-store-contract.js";

type Methods = { [Method in keyof LogStore]?: (store: LogStore) => LogStore[Method] };

/** Returns a store that keeps all guarantees but one. */
function broken(root: LogStoreRoot, methods: Methods, rootMethods: Partial<LogStoreRoot> = {}): LogStoreRoot {
  return {
    ...root,
    forOwner(owner) {
      const store = root.forOwner(owner);
      const changed = Object.entries(methods).map(([name, make]) => [name, make(store)]);
      return { ...store, ...Object.fromEntries(changed) };
    },
    ...rootMethods,
  };
}

function fixtureOf(breakIt: (root: LogStoreRoot) => LogStoreRoot) {
  let now = 1_700_000_000_000;
  const root = breakIt(createMemoryLogStore({ clock: { now: () => now } }));
  return {
    root,
    advance: (ms: number) => {
      now += ms;
    },
  };
}

const breakages: Record<string, (root: LogStoreRoot) => LogStoreRoot> = {
  "forgets calls that no turn holds": (root) => broken(root, { addUsage: () => async () => {} }),
  "sums the usage of all owners for one": (root) =>
    broken(root, { sumUsage: () => (range) => root.sumUsage(range) }),
  "never collects files": (root) =>
    broken(root, {}, { collectBlobs: async () => ({ blobs: 0, bytes: 0, more: false }) }),
  "drops the files of a message": (root) =>
    broken(root, {
      admit: (store) => (input) => {
        const content = input.message.content.filter(({ type }) => type !== "file");
        return store.admit({ ...input, message: { ...input.message, content } });
      },
    }),
  "forgets that an upload expires": (root) =>
    broken(root, {
      finishUpload: (store) => (input) => store.finishUpload({ ...input, unsentMs: 600_000 }),
    }),
  "has no limit of an owner's bytes": (root) =>
    broken(root, {
      writePiece: (store) => (piece) => store.writePiece({ ...piece, ownerBytes: 2 ** 50 }),
    }),
  "does not check the fence of a commit": (root) =>
    broken(root, {
      commitStep: (store) => async (input) => {
        const active = (await store.get(input.conversationId))?.active;
        return store.commitStep({ ...input, fence: active?.fence ?? input.fence });
      },
    }),
  "writes a repeated message twice": (root) =>
    broken(root, {
      admit: (store) => (input) =>
        store.admit({ ...input, message: { ...input.message, id: crypto.randomUUID() } }),
    }),
  "takes another body for the same message": (root) =>
    broken(root, { admit: (store) => (input) => store.admit({ ...input, bodyHash: "" }) }),
  "says ok to every batch of the journal": (root) =>
    broken(
      root,
      {},
      {
        flushJournal: async (batches) => {
          await root.flushJournal(batches);
          return batches.map(() => "ok");
        },
      },
    ),
  "claims leases of living nodes": (root) =>
    broken(
      root,
      {},
      {
        heartbeat: async (node, ttlMs) => {
          const stops = await root.heartbeat(node, ttlMs);
          await root.retire(node);
          return stops;
        },
      },
    ),
  "shows one owner what belongs to another": (root) => {
    const store = root.forOwner("everyone");
    return { ...root, forOwner: () => store };
  },
  "opens the next turn although the queue was to be paused": (root) =>
    broken(root, {
      seal: (store) => (input) => store.seal({ ...input, next: { ...input.next, pauseQueue: false } }),
    }),
  "shows open turns in the history": (root) =>
    broken(root, { readChunks: (store) => (query) => store.readChunks({ ...query, open: true }) }),
  "takes forks with it": (root) =>
    broken(root, { remove: (store) => (id) => store.remove(id, { cascade: true }) }),
  "passes texts through JSON and drops what it cannot say": (root) =>
    broken(root, {
      commitStep: (store) => (input) =>
        store.commitStep({
          ...input,
          messages: input.messages.map((message) => ({
            ...message,
            content: JSON.parse(
              JSON.stringify(message.content, (_, value) =>
                typeof value === "bigint" ? Number(value) : value,
              ),
            ),
          })),
        }),
    }),
  "forgets that a compaction was undone": (root) =>
    broken(root, {
      undoCompaction: (store) => async (id) => {
        const record = await store.get(id);
        if (record === null) throw new Error("unknown");
        return record;
      },
    }),
};

describe("the contract of the runtime's store", () => {
  it.each(Object.keys(breakages))("notices a store that %s", async (name) => {
    const breakIt = breakages[name] ?? ((root) => root);
    let noticed = false;
    // Cases with large files and texts take most of the time: the others come first.
    const cases = logStoreContract(() => fixtureOf(breakIt));
    const isLarge = ({ name }: ContractCase) => /megabytes|100 KB|gives back its bytes/.test(name);
    for (const each of [...cases.filter((one) => !isLarge(one)), ...cases.filter(isLarge)]) {
      const { failed } = await runCases([each]);
      noticed = failed.length > 0;
      if (noticed) break;
    }
    expect(noticed).toBe(true);
  });

  it("has a name of its own for every case, and needs no second handle", async () => {
    const cases = logStoreContract(() => fixtureOf((root) => root));
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    expect(cases.some(({ twoHandles }) => twoHandles)).toBe(true);
    expect((await runCases(cases)).failed).toEqual([]);
  });
});
