import type { ApiKeyRecord, LoginRecord } from "@parley/core/ports";
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

function loginOf(key: ApiKeyRecord, given: Partial<LoginRecord> = {}): LoginRecord {
  const id = uniqueId();
  return {
    id,
    keyId: key.id,
    owner: key.owner,
    hash: `hash of ${id}`,
    createdAt: 1_700_000_000_123,
    lastUsedAt: 1_700_000_000_123,
    expiresAt: 1_700_000_900_000,
    ...given,
  };
}

/** Adds keys for one case, and removes them after it. */
async function withKeys(s: Scenario, keys: ApiKeyRecord[], work: () => Promise<void>): Promise<void> {
  for (const key of keys) await s.root.keys.add(key);
  try {
    await work();
  } finally {
    for (const { id } of keys) await s.root.keys.remove(id);
  }
}

/** Cases of API keys: kept by their hash, for all nodes. */
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
    name: "of many keys and logins at once, those that are gone are found",
    async run(s) {
      const [kept, removed] = [apiKey(s, { hash: `o\u0000\ud800 '${uniqueId()}` }), apiKey(s)];
      await withKeys(s, [kept, removed], async () => {
        const logins = [kept, kept, removed].map((key) => loginOf(key));
        for (const login of logins) await s.root.keys.addLogin(login);
        const short = loginOf(kept, { expiresAt: 1_700_000_200_000 });
        await s.root.keys.addLogin(short);
        const query = {
          keys: [kept.hash, removed.hash],
          logins: [...logins, short].map(({ hash }) => hash),
          at: 1_700_000_200_000,
        };
        checkEqual(await s.second.keys.findGone({ ...query, at: 0 }), { keys: [], logins: [] }, "at first");
        await s.root.keys.remove(removed.id);
        const { hash = "" } = logins[0] ?? {};
        await s.root.keys.removeLogins({ hash });
        const gone = await s.second.keys.findGone(query);
        checkEqual([...gone.keys], [removed.hash], "the keys that are gone");
        const ended = [hash, logins[2]?.hash ?? "", short.hash];
        checkEqual([...gone.logins].sort(), ended.sort(), "the logins that have ended");
        checkEqual(
          await s.root.keys.findGone({ keys: [], logins: [], at: 0 }),
          { keys: [], logins: [] },
          "of none",
        );
        const swapped = { keys: [logins[1]?.hash ?? ""], logins: [kept.hash], at: 0 };
        const { at: _, ...none } = swapped;
        checkEqual(await s.root.keys.findGone(swapped), none, "a login is no key, and a key no login");
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
  {
    name: "a login is found by its hash, on every node, with its key as that is now, until it expires",
    async run(s) {
      const key = apiKey(s, { owner: "o\u0000 '", scopes: ["read"] });
      await withKeys(s, [key], async () => {
        const login = loginOf(key);
        await s.root.keys.addLogin(login);
        await s.root.keys.addLogin({ ...login, expiresAt: 1 });
        await s.second.keys.touch(key.id, 1_700_000_060_000);
        const now = { ...key, lastUsedAt: 1_700_000_060_000 };
        checkEqual(await s.second.keys.findLogin(login.hash, login.expiresAt - 1), { login, key: now }, "it");
        checkEqual(await s.root.keys.findLogin(login.hash, login.expiresAt), null, "one that has expired");
        checkEqual(await s.root.keys.findLogin("no such hash", 0), null, "an unknown login");
        checkEqual(await s.root.keys.find(login.hash), null, "a login is no key");
        checkEqual(await s.root.keys.findLogin(key.hash, 0), null, "a key is not a login");
      });
    },
  },
  {
    name: "a login needs a key, and an id and a hash of its own",
    async run(s) {
      const key = apiKey(s);
      await refused(s.root.keys.addLogin(loginOf(key)), "invalid_request", "one of an unknown key");
      await withKeys(s, [key], async () => {
        const login = loginOf(key);
        await s.root.keys.addLogin(login);
        const { id, hash } = login;
        await refused(s.root.keys.addLogin(loginOf(key, { id })), "invalid_request", "a second hash");
        await refused(s.root.keys.addLogin(loginOf(key, { hash })), "invalid_request", "a second id");
      });
    },
  },
  {
    name: "a login is extended while it is used, and its marks never go back",
    async run(s) {
      const key = apiKey(s);
      await withKeys(s, [key], async () => {
        const login = loginOf(key);
        await s.root.keys.addLogin(login);
        const marks = { lastUsedAt: 1_700_000_500_000, expiresAt: 1_700_001_400_000 };
        await s.second.keys.touchLogin(login.id, marks);
        await s.root.keys.touchLogin(login.id, {
          lastUsedAt: 1_700_000_400_000,
          expiresAt: 1_700_001_300_000,
        });
        await s.root.keys.touchLogin(uniqueId(), marks);
        const found = await s.root.keys.findLogin(login.hash, login.expiresAt);
        checkEqual(found?.login, { ...login, ...marks }, "the login");
      });
    },
  },
  {
    name: "logins are removed one by one, by key and when they have expired, and go with their key",
    async run(s) {
      const [mine, other] = [apiKey(s), apiKey(s)];
      await withKeys(s, [mine, other], async () => {
        const short = loginOf(mine, { expiresAt: 1_700_000_200_000 });
        const logins = [loginOf(mine), loginOf(mine), loginOf(mine), loginOf(other), short];
        for (const login of logins) await s.root.keys.addLogin(login);
        const left = async () => {
          const found = await Promise.all(logins.map(({ hash }) => s.second.keys.findLogin(hash, 0)));
          return found.map((each) => each !== null);
        };
        const { hash = "" } = logins[0] ?? {};
        checkEqual(await s.root.keys.removeLogins({ hash }), 1, "one");
        checkEqual(await s.root.keys.removeLogins({ hash }), 0, "the same again");
        const expired = { keyId: mine.id, expiredAt: 1_700_000_200_000 };
        checkEqual(await s.root.keys.removeLogins(expired), 1, "the expired one");
        checkEqual(await left(), [false, true, true, true, false], "what is left");
        checkEqual(await s.second.keys.removeLogins({ keyId: mine.id }), 2, "those of a key");
        checkEqual(await left(), [false, false, false, true, false], "what is left of another key");
        await s.root.keys.remove(other.id);
        checkEqual(await left(), [false, false, false, false, false], "nothing behind its key");
      });
    },
  },
];
