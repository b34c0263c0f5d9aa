import type { ApiKeyRecord } from "../../key-store.js";
import { check, checkEqual } from "../contract-case.js";
import { refused, type Scenario, type TopicCase, uniqueId } from "./scenario.js";

function apiKey(s: Scenario, given: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  const id = uniqueId();
  return {
    id,
    owner: s.owner,
    hash: `hash of ${id}`,
    prefix: id.slice(0, 6),
    scopes: ["read", "write"],
    createdAt: 1_700_000_000_123,
    ...given,
  };
}

/** Adds keys for one case, and takes them away behind it. */
async function withKeys(s: Scenario, keys: ApiKeyRecord[], work: () => Promise<void>): Promise<void> {
  for (const key of keys) await s.root.keys.add(key);
  try {
    await work();
  } finally {
    for (const { id } of keys) await s.root.keys.remove(id);
  }
}

/** API keys: kept by their hash, for all nodes. */
export const keyCases: readonly TopicCase[] = [
  {
    name: "a key is found by its hash, on every node, as it was added",
    async run(s) {
      const hostile = apiKey(s, { owner: "o\u0000\ud800 '", prefix: "\ufeffpk_'", scopes: ["admin"] });
      const unused = apiKey(s, { scopes: [] });
      await withKeys(s, [hostile, unused], async () => {
        checkEqual(await s.second.keys.find(hostile.hash), hostile, "a key");
        checkEqual(await s.root.keys.find(unused.hash), unused, "a key without scopes");
        checkEqual(await s.root.keys.find("no such hash"), null, "an unknown key");
      });
      checkEqual(await s.second.keys.find(hostile.hash), null, "a removed key");
    },
  },
  {
    name: "keys are listed oldest first, those of all owners",
    async run(s) {
      const young = apiKey(s, { createdAt: 1_700_000_000_200 });
      const old = apiKey(s, { createdAt: 1_700_000_000_100, owner: `another-${s.owner}` });
      await withKeys(s, [young, old], async () => {
        const mine = (await s.root.keys.list()).filter(({ id }) => id === old.id || id === young.id);
        checkEqual(mine, [old, young], "the keys");
      });
    },
  },
  {
    name: "the same key again changes nothing, and another one with its id or its hash is refused",
    async run(s) {
      const key = apiKey(s);
      await withKeys(s, [key], async () => {
        await s.root.keys.add({ ...key, scopes: ["admin"] });
        checkEqual(await s.root.keys.find(key.hash), key, "the key");
        const { id, hash } = key;
        await refused(s.root.keys.add(apiKey(s, { id })), "invalid_request", "a second hash");
        await refused(s.root.keys.add(apiKey(s, { hash })), "invalid_request", "a second id");
      });
    },
  },
  {
    name: "when a key was used is noted, and never goes back",
    async run(s) {
      const key = apiKey(s);
      await withKeys(s, [key], async () => {
        await s.root.keys.touch(key.id, 1_700_000_060_000);
        await s.second.keys.touch(key.id, 1_700_000_000_000);
        await s.root.keys.touch(uniqueId(), 1_700_000_000_000);
        const found = await s.root.keys.find(key.hash);
        checkEqual(found, { ...key, lastUsedAt: 1_700_000_060_000 }, "the key");
      });
    },
  },
  {
    name: "a key is removed once",
    async run(s) {
      const key = apiKey(s);
      await s.root.keys.add(key);
      check(await s.root.keys.remove(key.id), "the first removal finds it");
      check(!(await s.second.keys.remove(key.id)), "the second one does not");
    },
  },
];
