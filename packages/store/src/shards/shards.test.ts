import type { ParleyError } from "@parley/core/errors";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  describeOnPostgres,
  type SharedPostgres,
  type TestDatabase,
} from "../../../../test/harness/postgres.js";
import { TcpProxy } from "../../../../test/harness/tcp-proxy.js";
import { openPostgres } from "../postgres/open-postgres.js";
import { admission, batch, start } from "../postgres/turns.test-support.js";
import { listShards } from "./listed-shards.js";
import { type OpenedShards, type OpenShardsOptions, openShards } from "./open-shards.js";
import type { Shard, ShardOptions } from "./shard.js";
import { createNumberedShards, createTestShards, type TestShards } from "./shards.test-support.js";

const owners = Array.from({ length: 40 }, (_, index) => `owner-${index}`);
const moving = { code: "store_unavailable", retryable: true, details: { reason: "owner_moved" } };

function close({ store, wake }: Pick<OpenedShards, "store" | "wake">): Promise<unknown> {
  return Promise.all([wake.close?.(), store.close()]);
}

async function opened(
  shards: readonly ShardOptions[],
  options: Partial<OpenShardsOptions> = {},
): Promise<OpenedShards> {
  const all = openShards({ ...options, shards });
  onTestFinished(() => close(all).then(() => undefined));
  await all.store.migrate();
  return all;
}

const suite = (postgres: SharedPostgres) => {
  let shards: TestShards;
  let one: OpenedShards;
  let other: OpenedShards;
  beforeAll(async () => {
    shards = await createTestShards(postgres);
    [one, other] = [shards.open(), shards.open()];
    await one.store.migrate();
    await other.store.migrate();
  });
  afterAll(async () => {
    await Promise.all([one, other].map(close));
    await shards.drop();
  });

  const shardOf = ({ set }: OpenedShards, owner: string): Promise<Shard> => set.map.find(owner);
  const at = ({ set }: OpenedShards, name: string): Shard => {
    const found = set.shards.find((shard) => shard.name === name);
    if (found === undefined) throw new Error(`there is no shard ${name}`);
    return found;
  };
  const setState = (shard: Shard, owner: string, state: string) =>
    shard.database.query({
      text: `INSERT INTO parley.shard_owner (owner, state) VALUES ($1, $2)
        ON CONFLICT (owner) DO UPDATE SET state = excluded.state`,
      values: [owner, state],
    });

  it("spread owners, agree on their places, and number logs without a repetition", async () => {
    const turns = await Promise.all(
      owners.map((owner) => start(one.store.forOwner(owner), "same-id", owner)),
    );
    const places = await Promise.all(owners.map(async (owner) => (await shardOf(one, owner)).name));
    expect([...new Set(places)].toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(await Promise.all(owners.map(async (owner) => (await shardOf(other, owner)).name))).toEqual(
      places,
    );
    expect(new Set(turns.map(({ log }) => log)).size).toBe(owners.length);
    for (const [index, owner] of owners.entries()) {
      const record = await other.store.forOwner(owner).get("same-id");
      expect(record?.active?.turnId).toBe(turns[index]?.turnId);
      expect(await other.store.locate(turns[index]?.log ?? 0)).toEqual({ owner, conversationId: "same-id" });
    }
  });

  it("refuse an owner in a shard that is not its own", async () => {
    await one.store.forOwner("guarded").create({ id: "c", settings: {} });
    const elsewhere = one.set.shards.find((shard) => shard !== one.set.map.known("guarded"));
    await expect(elsewhere?.store.forOwner("guarded").get("c")).rejects.toMatchObject(moving);
    await expect(
      elsewhere?.store.forOwner("guarded").create({ id: "c", settings: {} }),
    ).rejects.toMatchObject(moving);
  });

  it("let an owner that leaves be read, refuse its writes, and go on when it is back", async () => {
    const turn = await start(one.store.forOwner("leaver"), "c");
    const shard = await shardOf(one, "leaver");
    await setState(shard, "leaver", "leaving");
    expect((await other.store.forOwner("leaver").get("c"))?.id).toBe("c");
    await expect(one.store.forOwner("leaver").admit(admission("c", "More"))).rejects.toMatchObject(moving);
    const stays = await start(one.store.forOwner("stays"), "c");
    const outcomes = await one.store.flushJournal([batch(turn, 0, "leaver"), batch(stays, 0, "stays")]);
    expect(outcomes).toEqual(["unavailable", "ok"]);
    await setState(shard, "leaver", "here");
    expect(await one.store.flushJournal([batch(turn, 0, "leaver")])).toEqual(["ok"]);
  });

  it("leave the turns of an owner alone that leaves or arrives", async () => {
    await start(one.store.forOwner("sleeper"), "c");
    const shard = await shardOf(one, "sleeper");
    for (const state of ["leaving", "arriving", "gone"]) {
      await setState(shard, "sleeper", state);
      const leases = await shard.store.claimExpired("claimer", 1_000);
      expect(leases.map(({ owner }) => owner)).not.toContain("sleeper");
    }
    await setState(shard, "sleeper", "here");
    const leases = await shard.store.claimExpired("claimer", 1_000);
    expect(leases.map(({ owner }) => owner)).toContain("sleeper");
  });

  it("leave the conversations of an owner alone that leaves or arrives", async () => {
    const settings = { metadata: { parley: { origin: "responses" } } };
    await one.store.forOwner("keeper").create({ id: "oa.1", settings });
    const shard = await shardOf(one, "keeper");
    const unused = async () => {
      const query = { idPrefix: "oa.", origin: "responses", forMs: 0, limit: 1_000 };
      return (await shard.store.findUnused(query)).map(({ owner }) => owner);
    };
    expect(await unused()).toContain("keeper");
    await setState(shard, "keeper", "leaving");
    expect(await unused()).not.toContain("keeper");
    await setState(shard, "keeper", "here");
  });

  it("read the news of the others while an owner is between two places", async () => {
    const near = [];
    for (const owner of owners) if ((await shardOf(one, owner)).name === "c") near.push(owner);
    const [lost = "", found = ""] = near;
    for (const owner of [lost, found]) await one.store.forOwner(owner).create({ id: "news", settings: {} });
    const asked = [lost, found].map((owner) => ({ owner, since: 0 }));
    const shard = at(one, "c");
    await setState(shard, lost, "gone");
    const news = await one.store.news({ owners: asked, conversations: [] });
    expect(news.owners).toEqual([found]);
    await setState(shard, lost, "here");
    expect((await one.store.news({ owners: asked, conversations: [] })).owners.toSorted()).toEqual(
      [lost, found].toSorted(),
    );
  });

  it("give no place to a name whose address of a file is read", async () => {
    expect(await one.store.forOwner("nobody").fileSecret()).toBeNull();
    const placed = async (owner: string) => {
      const text = "SELECT FROM parley.owner_shard WHERE owner = $1";
      return (await one.set.home.database.query({ text, values: [owner] })).length;
    };
    expect(await placed("nobody")).toBe(0);
    expect(await one.store.forOwner("somebody").fileSecret("a-secret")).toBe("a-secret");
    expect(await other.store.forOwner("somebody").fileSecret()).toBe("a-secret");
    expect(await placed("somebody")).toBe(1);
  });

  describe("of which a process knows some only", () => {
    let old: OpenedShards;
    beforeAll(async () => {
      old = openShards({ shards: shards.shards.filter(({ name }) => name !== "d") });
      await old.store.migrate();
    });
    afterAll(() => close(old));

    const move = async (owner: string, source: Shard, target: Shard) => {
      await setState(source, owner, "gone");
      await setState(target, owner, "here");
      await one.set.home.database.query({
        text: "UPDATE parley.owner_shard SET shard = $1 WHERE owner = $2",
        values: [target.name, owner],
      });
    };
    const places = async (name: string) => {
      const found = [];
      for (const owner of owners) if ((await shardOf(one, owner)).name === name) found.push(owner);
      return found;
    };

    it("write and find what the other owners have when one has moved to a shard that is unknown there", async () => {
      const [moved = "", stays = ""] = await places("b");
      const turns = [await start(old.store.forOwner(moved)), await start(old.store.forOwner(stays))];
      const asked = [moved, stays].map((owner) => ({ owner, since: 0 }));
      expect((await old.store.news({ owners: asked, conversations: [] })).owners).toHaveLength(2);
      await move(moved, at(one, "b"), at(one, "d"));
      const unknown = { retryable: false, details: { reason: "unknown_shard", shard: "d" } };
      for (let repeated = 0; repeated < 3; repeated += 1) {
        const batches = turns.map((turn, index) => batch(turn, 2 * repeated, asked[index]?.owner ?? ""));
        expect(await old.store.flushJournal(batches)).toEqual(["stale_fence", "ok"]);
        expect((await old.store.news({ owners: asked, conversations: [] })).owners).toEqual([stays]);
        await expect(old.store.forOwner(moved).get("none")).rejects.toMatchObject(unknown);
      }
      await move(moved, at(one, "d"), at(one, "b"));
    });

    it("do not tell which bytes exist", async () => {
      const missing = [2 ** 40];
      expect(await one.store.existingBlobs(missing)).toEqual([]);
      await expect(old.store.existingBlobs(missing)).rejects.toMatchObject({
        details: { reason: "unknown_shard", shard: "d" },
      });
    });
  });

  it("read the map again when an owner has moved", async () => {
    await other.store.forOwner("mover").create({ id: "before", settings: {} });
    const source = await shardOf(other, "mover");
    const target = at(one, source.name === "a" ? "b" : "a");
    await setState(source, "mover", "gone");
    await setState(target, "mover", "here");
    await one.set.home.database.query({
      text: "UPDATE parley.owner_shard SET shard = $1 WHERE owner = 'mover'",
      values: [target.name],
    });
    // The other node still has the old place in its map.
    expect(other.set.map.known("mover")?.name).toBe(source.name);
    await other.store.forOwner("mover").create({ id: "after", settings: {} });
    expect(other.set.map.known("mover")?.name).toBe(target.name);
    expect(await target.store.forOwner("mover").get("after")).not.toBeNull();
  });

  it("finish the first visit of an owner that a process began and did not end", async () => {
    await one.set.home.database.query({
      text: "INSERT INTO parley.owner_shard (owner, shard) VALUES ('halfway', 'd')",
    });
    expect(await one.store.forOwner("halfway").get("none")).toBeNull();
    expect((await shardOf(one, "halfway")).name).toBe("d");
  });

  it("cannot be opened as one store, in another order, or under a wrong name", async () => {
    const [first = "", second = ""] = shards.urls;
    const whole = openPostgres({ url: first, listenUrl: false });
    onTestFinished(() => whole.store.close());
    await expect(whole.store.migrate()).rejects.toMatchObject({ details: { reason: "wrong_shards" } });
    const wrong = { retryable: false, details: { reason: "wrong_shards" } };
    await expect(
      opened([
        { name: "b", url: second },
        { name: "a", url: first },
      ]),
    ).rejects.toMatchObject(wrong);
    await expect(
      opened([
        { name: "a", url: first },
        { name: "x", url: second, schema: "parley_d" },
      ]),
    ).rejects.toMatchObject(wrong);
  });
};

describeOnPostgres("shards", suite, "preferred");

describeOnPostgres(
  "a store that becomes the first shard",
  (postgres) => {
    let databases: TestDatabase[];
    beforeAll(async () => {
      databases = [await postgres.createDatabase(), await postgres.createDatabase()];
    });
    afterAll(() => Promise.all(databases.map((database) => database.drop())));

    it("keeps its owners, and new ones come to the others", async () => {
      const [first = "", second = ""] = databases.map(({ url }) => url);
      const before = openPostgres({ url: first, listenUrl: false });
      await before.store.migrate();
      for (const owner of owners) await before.store.forOwner(owner).create({ id: "old", settings: {} });
      await before.store.close();
      const { store, set } = await opened([
        { name: "first", url: first },
        { name: "second", url: second },
      ]);
      const places = new Set<string>();
      for (const owner of owners) {
        expect((await store.forOwner(owner).get("old"))?.id).toBe("old");
        expect((await set.map.find(owner)).name).toBe("first");
        places.add((await set.map.find(`new-${owner}`)).name);
      }
      expect([...places].toSorted()).toEqual(["first", "second"]);
    });
  },
  "preferred",
);

describeOnPostgres(
  "shards of which one server is away",
  (postgres) => {
    let databases: TestDatabase[];
    beforeAll(async () => {
      databases = [await postgres.createDatabase(), await postgres.createDatabase()];
    });
    afterAll(() => Promise.all(databases.map((database) => database.drop())));

    it("serve the owners of the others, and take from the node what it could not keep", async () => {
      const [first = "", second = ""] = databases.map(({ url }) => url);
      const proxy = await TcpProxy.start(second);
      onTestFinished(() => proxy.close());
      const { store, set } = await opened(
        [
          { name: "near", url: first },
          { name: "far", url: proxy.through(second), listenUrl: false },
        ],
        { briefTimeoutMs: 300, connectTimeoutMs: 300, statementTimeoutMs: 300, answerGraceMs: 100 },
      );
      const found = new Map<string, string>();
      for (const owner of owners) found.set((await set.map.find(owner)).name, owner);
      const [near = "", far = ""] = [found.get("near"), found.get("far")];
      await store.heartbeat("node-1", 3_000);
      const turns = { near: await start(store.forOwner(near)), far: await start(store.forOwner(far)) };
      const held = () => [near, far].map((owner) => store.holdsLeases?.("node-1", owner));
      expect(held()).toEqual([true, true]);

      proxy.freeze({ andNew: true });
      let isBeating = true;
      const beating = (async () => {
        while (isBeating) await store.heartbeat("node-1", 3_000);
      })();
      const outcomes = await store.flushJournal([batch(turns.far, 0, far), batch(turns.near, 0, near)]);
      expect(outcomes).toEqual(["unavailable", "ok"]);
      await vi.waitUntil(() => !held()[1], { timeout: 20_000 });
      expect(held()).toEqual([true, false]);
      isBeating = false;
      await beating;

      proxy.thaw();
      // Its leases there are gone, and it is notified before it holds new ones.
      let isDropped = false;
      while (!store.holdsLeases?.("node-1", far)) {
        await store.heartbeat("node-1", 60_000).catch(() => undefined);
        isDropped ||= !store.holdsLeases?.("node-1", far);
      }
      expect(isDropped).toBe(true);
      const leases = await store.claimExpired("node-2", 10);
      expect(leases.map(({ turnId, fence }) => ({ turnId, fence }))).toEqual([
        { turnId: turns.far.turnId, fence: turns.far.fence + 2 },
      ]);
    });
  },
  "preferred",
);

describeOnPostgres(
  "shards of which one server hangs",
  (postgres) => {
    const limits = {
      briefTimeoutMs: 300,
      connectTimeoutMs: 300,
      statementTimeoutMs: 300,
      answerGraceMs: 100,
    };
    let databases: TestDatabase[];
    let proxy: TcpProxy;
    let configured: readonly ShardOptions[];
    let places: Map<string, string[]>;
    let node: OpenedShards;
    beforeAll(async () => {
      databases = [await postgres.createDatabase(), await postgres.createDatabase()];
      const [first = "", second = ""] = databases.map(({ url }) => url);
      proxy = await TcpProxy.start(second);
      configured = [
        { name: "near", url: first },
        { name: "far", url: proxy.through(second), listenUrl: false },
        { name: "beside", url: proxy.through(second), schema: "beside", listenUrl: false },
      ];
      node = openShards({ ...limits, shards: configured });
      await node.store.migrate();
      places = new Map();
      for (const owner of owners) {
        const { name } = await node.set.map.find(owner);
        places.set(name, [...(places.get(name) ?? []), owner]);
      }
    });
    afterAll(async () => {
      await close(node);
      await proxy.close();
      await Promise.all(databases.map((database) => database.drop()));
    });
    const hang = () => {
      proxy.freeze({ andNew: true });
      onTestFinished(() => proxy.thaw());
    };
    const inShard = (name: string) => places.get(name)?.[0] ?? "";
    const create = (store: OpenedShards["store"], owner: string) =>
      store.forOwner(owner).create({ id: `c-${Math.random()}`, settings: {} });

    it("keep what was known of its endpoints, and know those of the others", async () => {
      const endpoint = { url: "https://example.com/", label: "", events: [], secret: "s", limit: 5 };
      const add = (owner: string) => node.store.forOwner(owner).addWebhook({ ...endpoint, id: `w-${owner}` });
      await add(inShard("far"));
      expect(await node.store.outbox.owners()).toEqual([inShard("far")]);
      hang();
      await add(inShard("near"));
      expect((await node.store.outbox.owners()).toSorted()).toEqual(
        [inShard("near"), inShard("far")].toSorted(),
      );
    });

    it("find an owner that was moved away from there meanwhile", async () => {
      const [, owner = ""] = places.get("far") ?? [];
      await node.store.heartbeat("node-1", 60_000);
      const home = node.set.home.database;
      hang();
      await home.query({
        text: "UPDATE parley.owner_shard SET shard = 'near' WHERE owner = $1",
        values: [owner],
      });
      await home.query({
        text: "INSERT INTO parley.shard_owner (owner, state) VALUES ($1, 'here')",
        values: [owner],
      });
      await vi.waitUntil(
        () =>
          create(node.store, owner).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      );
      expect(node.set.map.known(owner)?.name).toBe("near");
    });

    it("do not delay the turns of others in a shard from which an owner was moved to there", async () => {
      const [moved = "", stays = ""] = places.get("near")?.slice(-2) ?? [];
      const { store, set } = node;
      const turns = {
        moved: await start(store.forOwner(moved), "t"),
        stays: await start(store.forOwner(stays), "t"),
      };
      const home = set.home.database;
      hang();
      await home.query({
        text: "UPDATE parley.owner_shard SET shard = 'far' WHERE owner = $1",
        values: [moved],
      });
      await home.query({
        text: "UPDATE parley.shard_owner SET state = 'gone' WHERE owner = $1",
        values: [moved],
      });
      const batches = [batch(turns.moved, 0, moved), batch(turns.stays, 0, stays)];
      expect(await store.flushJournal(batches)).toEqual(["unavailable", "ok"]);
      expect(set.map.known(moved)?.name).toBe("far");
    });

    it("find an owner that was moved away, also where only the leases are looked at", async () => {
      const [, , owner = ""] = places.get("far") ?? [];
      await node.store.heartbeat("node-2", 400);
      const home = node.set.home.database;
      hang();
      await home.query({
        text: "UPDATE parley.owner_shard SET shard = 'near' WHERE owner = $1",
        values: [owner],
      });
      await vi.waitUntil(
        async () => {
          await node.store.heartbeat("node-2", 400).catch(() => undefined);
          node.store.holdsLeases?.("node-2", owner);
          return node.set.map.known(owner)?.name === "near";
        },
        { timeout: 20_000, interval: 50 },
      );
    });

    it("let a node start that may do without it, and refuse others with the names of the shards", async () => {
      hang();
      const strict = openShards({ ...limits, shards: configured });
      onTestFinished(() => close(strict).then(() => undefined));
      await expect(strict.store.migrate()).rejects.toMatchObject({
        code: "store_unavailable",
        retryable: true,
        message: expect.stringMatching(/^Shards far, beside: /),
      });
      const away: (readonly string[])[] = [];
      const late = openShards({ ...limits, shards: configured, onAway: (names) => away.push(names) });
      onTestFinished(() => close(late).then(() => undefined));
      await late.store.migrate();
      expect(away).toEqual([["far", "beside"]]);
      await create(late.store, inShard("near"));
      const [far = "", beside = ""] = ["far", "beside"].map(inShard);
      await expect(create(late.store, far)).rejects.toMatchObject({ code: "store_unavailable" });
      proxy.thaw();
      await vi.waitUntil(
        () =>
          create(late.store, far).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      );
      await create(late.store, beside);
    });

    it("refuse its calls when it comes back without its name", async () => {
      const [, second] = databases;
      const client = new pg.Client({ connectionString: second?.url });
      await client.connect();
      onTestFinished(() => client.end());
      const { rows } = await client.query("SELECT name, number, home FROM parley.shard");
      await client.query("DELETE FROM parley.shard");
      hang();
      const late = openShards({ ...limits, shards: configured, onAway: () => undefined });
      onTestFinished(() => close(late).then(() => undefined));
      await late.store.migrate();
      proxy.thaw();
      const wrong = { retryable: false, details: { reason: "wrong_shards" } };
      const answer = () =>
        create(late.store, inShard("far")).then(
          () => undefined,
          (error: unknown) => error as ParleyError,
        );
      await vi.waitUntil(async () => (await answer())?.retryable === false, { timeout: 20_000 });
      expect(await answer()).toMatchObject(wrong);
      const [row] = rows;
      await client.query("INSERT INTO parley.shard (name, number, home, state) VALUES ($1, $2, $3, 'open')", [
        row.name,
        row.number,
        row.home,
      ]);
      await create(late.store, inShard("far"));
    });

    it("refuse to register a new one there", async () => {
      hang();
      const [near] = configured;
      if (near === undefined) throw new Error("there are no shards");
      const added = {
        name: "new",
        url: proxy.through(databases[1]?.url ?? ""),
        schema: "added",
        listenUrl: false as const,
      };
      const late = openShards({ ...limits, shards: [...configured, added], onAway: () => undefined });
      onTestFinished(() => close(late).then(() => undefined));
      await expect(late.store.migrate()).rejects.toMatchObject({
        code: "store_unavailable",
        retryable: true,
      });
      expect((await listShards(node.set.home.database)).map(({ name }) => name)).not.toContain("new");
    });
  },
  "preferred",
);

describeOnPostgres(
  "shards of one database",
  (postgres) => {
    it("share a number of searches, so that those never take all connections", async () => {
      const shards = await createNumberedShards(postgres);
      onTestFinished(() => shards.drop());
      const { store, set } = await opened(shards.shards, { maxConnections: 4 });
      const found = new Map<string, string>();
      for (const owner of owners) found.set((await set.map.find(owner)).name, owner);
      const searchers = [...found.values()];
      expect(searchers).toHaveLength(4);
      for (const owner of searchers) await store.forOwner(owner).create({ id: "c", settings: {} });
      const client = new pg.Client({ connectionString: shards.urls[0] });
      await client.connect();
      onTestFinished(() => client.end());
      const waiting = async () => {
        // A transaction sees the sessions as they were when it first looked at them.
        await client.query("SELECT pg_stat_clear_snapshot()");
        const { rows } = await client.query(`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return rows.length;
      };
      await client.query("BEGIN");
      for (const { schema } of shards.shards) {
        await client.query(`LOCK TABLE ${schema}.search_entry, ${schema}.search_owner`);
      }
      const searches = searchers.map((owner) => store.forOwner(owner).search({ q: "word", limit: 5 }));
      await vi.waitUntil(async () => (await waiting()) >= 2);
      for (const owner of searchers) expect((await store.forOwner(owner).get("c"))?.id).toBe("c");
      expect(await waiting()).toBe(2);
      await client.query("COMMIT");
      await Promise.all(searches);
    });
  },
  "preferred",
);

describe("shards as they are configured", () => {
  it.each([
    ["shards", []],
    ["shards.name", [{ name: "A b", url: "postgres://localhost/x" }]],
    ["shards.url", [{ name: "a", url: "postgres://[bad" }]],
    [
      "shards.schema",
      [
        { name: "a", url: "postgres://h/x" },
        { name: "b", url: "postgres://h/x" },
      ],
    ],
    [
      "shards.name",
      [
        { name: "a", url: "postgres://h/x" },
        { name: "a", url: "postgres://i/x" },
      ],
    ],
  ] as const)("are refused where %s is wrong", (field, shards) => {
    expect(() => openShards({ shards })).toThrowError(
      expect.objectContaining({ code: "invalid_request", details: expect.objectContaining({ field }) }),
    );
  });
});
