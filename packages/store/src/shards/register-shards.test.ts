import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openPostgres } from "../postgres/open-postgres.js";
import { numberedShards } from "./numbered-shards.js";
import { type OpenedShards, openShards } from "./open-shards.js";
import type { ShardOptions } from "./shard.js";
import { firstNumber } from "./shard-numbers.js";

const owners = Array.from({ length: 40 }, (_, index) => `owner-${index}`);

describeOnPostgres(
  "registering shards",
  (postgres) => {
    let databases: TestDatabase[];
    let url: string;
    let otherUrl: string;
    beforeEach(async () => {
      databases = [await postgres.createDatabase(), await postgres.createDatabase()];
      [url = "", otherUrl = ""] = databases.map((database) => database.url);
    });
    afterEach(() => Promise.all(databases.map((database) => database.drop())));

    function closing({ store, wake }: Pick<OpenedShards, "store" | "wake">): () => Promise<void> {
      return async () => {
        await wake.close?.();
        await store.close();
      };
    }

    async function opened(shards: readonly ShardOptions[]): Promise<OpenedShards> {
      const all = openShards({ shards });
      onTestFinished(closing(all));
      await all.store.migrate();
      return all;
    }

    async function openedWhole() {
      const whole = openPostgres({ url, listenUrl: false });
      onTestFinished(closing(whole));
      await whole.store.migrate();
      return whole;
    }

    it("makes a store the first of a number of schemas, and their number can grow", async () => {
      const { store: whole } = await openedWhole();
      await whole.forOwner("first").create({ id: "old", settings: {} });
      const two = await opened(numberedShards({ url, schemas: 2 }));
      expect((await two.store.forOwner("first").get("old"))?.id).toBe("old");
      expect((await two.set.map.find("first")).name).toBe("s0");
      const places = async ({ set }: OpenedShards, names: readonly string[]) =>
        Promise.all(names.map(async (name) => (await set.map.find(name)).name));
      const before = await places(two, owners);
      expect([...new Set(before)].toSorted()).toEqual(["s0", "s1"]);
      const four = await opened(numberedShards({ url, schemas: 4 }));
      expect(await places(four, owners)).toEqual(before);
      const newcomers = owners.map((owner) => `new-${owner}`);
      expect([...new Set(await places(four, newcomers))].toSorted()).toEqual(["s0", "s1", "s2", "s3"]);
      expect(four.set.shards.map((shard) => [shard.schema, four.set.numberOf(shard)])).toEqual([
        ["parley", 0],
        ["parley_1", 1],
        ["parley_2", 2],
        ["parley_3", 3],
      ]);
      expect(four.set.servers).toHaveLength(1);
    });

    it("is refused while nodes run that do not know the shards", async () => {
      const { store: whole } = await openedWhole();
      await whole.heartbeat("node-1", 60_000);
      const shards = [
        { name: "a", url },
        { name: "b", url: otherUrl },
      ];
      await expect(opened(shards)).rejects.toMatchObject({
        message: expect.stringContaining("nodes run on it: node-1. Stop them all"),
        retryable: false,
        details: { reason: "nodes_running" },
      });
      // Nothing was registered: the node goes on.
      await whole.heartbeat("node-1", 60_000);
      await whole.forOwner("first").create({ id: "c", settings: {} });
      await whole.retire("node-1");
      const { store } = await opened(shards);
      expect((await store.forOwner("first").get("c"))?.id).toBe("c");
      await store.heartbeat("node-2", 60_000);
      await opened(shards);
    });

    it("stops a node that was not seen, with its next heartbeat", async () => {
      const { store: whole } = await openedWhole();
      const { store } = await opened(numberedShards({ url, schemas: 2 }));
      const refusal = { retryable: false, details: { reason: "wrong_shards" } };
      await expect(whole.heartbeat("node-1", 60_000)).rejects.toMatchObject(refusal);
      await expect(whole.forOwner("someone").create({ id: "c", settings: {} })).rejects.toMatchObject(
        refusal,
      );
      await expect(whole.check()).rejects.toMatchObject(refusal);
      expect(await store.absentNodes()).toEqual([]);
      await store.heartbeat("node-2", 60_000);
    });

    it("lets a heartbeat that comes meanwhile wait, and then fail", async () => {
      const { store: whole, database } = await openedWhole();
      let beat: Promise<unknown> = Promise.resolve();
      await database.transaction(async (connection) => {
        await connection.query({ text: "LOCK TABLE parley.node IN SHARE MODE" });
        beat = whole.heartbeat("node-1", 60_000).catch((error: unknown) => error);
        await connection.query({
          text: "INSERT INTO parley.shard (name, number, home) VALUES ('a', 0, 'id')",
        });
        for (let isWaiting = false; !isWaiting; ) {
          const [row] = await connection.query({
            text: `SELECT count(*)::int4 AS waiting FROM pg_catalog.pg_locks
              WHERE NOT granted AND relation = 'parley.node'::regclass`,
          });
          isWaiting = Number(row?.waiting) > 0;
        }
      });
      expect(await beat).toMatchObject({ details: { reason: "wrong_shards" } });
      expect(await database.query({ text: "SELECT id FROM parley.node" })).toEqual([]);
    });

    it("is completed where it was begun, and refuses a shard that has lost its schema", async () => {
      const shards = numberedShards({ url, schemas: 3 });
      const { set } = await opened(shards);
      const [home, one, two] = set.shards;
      if (home === undefined || one === undefined || two === undefined) throw new Error("not open");
      // A process that died after the number was reserved.
      await home.database.query({ text: "UPDATE parley.shard SET state = 'joining' WHERE name = 's1'" });
      await one.database.query({ text: "DELETE FROM parley.shard" });
      const again = await opened(shards);
      expect(again.set.shards.map(again.set.numberOf)).toEqual([0, 1, 2]);
      expect(await one.database.query({ text: "SELECT name, number FROM parley.shard" })).toEqual([
        { name: "s1", number: 1 },
      ]);
      expect(
        await one.database.query({ text: "SELECT last_value::float8 AS last FROM parley.log_number" }),
      ).toEqual([{ last: firstNumber(1) }]);
      expect(await home.database.query({ text: "SELECT DISTINCT state FROM parley.shard" })).toEqual([
        { state: "open" },
      ]);
      // One that had rows once, and has none.
      await two.database.query({ text: "DELETE FROM parley.shard" });
      await expect(opened(shards)).rejects.toMatchObject({
        message: expect.stringContaining(
          "configured for the shard s2 is empty, but this shard exists since earlier",
        ),
        details: { reason: "wrong_shards" },
      });
    });
  },
  "preferred",
);
