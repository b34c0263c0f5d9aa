import { afterEach, beforeEach, expect, it } from "vitest";
import { describeOnPostgres } from "../../../../../test/harness/postgres.js";
import { start } from "../../postgres/turns.test-support.js";
import { closeShard, openShard } from "../listed-shards.js";
import type { OpenedShards } from "../open-shards.js";
import { shardNamed } from "../sharded-store.js";
import { createNumberedShards, type TestShards } from "../shards.test-support.js";
import { checkShards, findRemovableShards, summarizeShards } from "./check-shards.js";
import { moveOwner } from "./move-owner.js";
import { moveOwners } from "./move-owners.js";
import { setState, statusOf } from "./owner-state.js";

const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}`);

describeOnPostgres(
  "moving all owners of a shard",
  (postgres) => {
    let shards: TestShards;
    let nodes: OpenedShards[];
    let set: OpenedShards["set"];
    let store: OpenedShards["store"];
    beforeEach(async () => {
      shards = await createNumberedShards(postgres);
      const node = shards.open();
      ({ set, store } = node);
      nodes = [node];
      await store.migrate();
      for (const owner of owners) await start(store.forOwner(owner), "c", owner);
    });
    afterEach(async () => {
      for (const node of nodes) {
        await node.wake.close?.();
        await node.store.close();
      }
      await shards.drop();
    });

    async function ownersIn(name: string): Promise<string[]> {
      const places = await Promise.all(owners.map(async (owner) => (await set.map.find(owner)).name));
      return owners.filter((_, index) => places[index] === name);
    }

    it("empties it, and no new owner comes to it", async () => {
      const leaving = await ownersIn("s1");
      const seen: string[] = [];
      const moved = await moveOwners(set, {
        from: "s1",
        to: "s2",
        onOwner: ({ owner, number, of }) => seen.push(`${owner} ${number}/${of}`),
      });
      expect(moved).toMatchObject({ owners: leaving.length, failures: [] });
      expect(moved.rows).toBeGreaterThan(leaving.length);
      expect(moved.longestPauseMs).toBeGreaterThan(0);
      expect(seen).toEqual(
        leaving.toSorted().map((owner, index) => `${owner} ${index + 1}/${leaving.length}`),
      );
      for (const owner of leaving) {
        expect((await store.forOwner(owner).get("c"))?.id).toBe("c");
        expect(set.map.known(owner)?.name).toBe("s2");
      }
      expect(await checkShards(set)).toEqual([]);
      expect(await findRemovableShards(set)).toEqual(["s1"]);
      const summary = (await summarizeShards(set)).find(({ name }) => name === "s1");
      expect(summary).toMatchObject({ owners: 0, moving: 0, isOpen: false });
      // Also those that another node places, which has not moved anything.
      const other = shards.open();
      nodes.push(other);
      await other.store.migrate();
      const newcomers = owners.map((owner) => `new-${owner}`);
      const places = await Promise.all(
        newcomers.map(async (owner) => (await other.set.map.find(owner)).name),
      );
      expect([...new Set(places)].toSorted()).toEqual(["s0", "s2", "s3"]);
      await openShard(set, "s1");
      expect(await findRemovableShards(set)).toEqual([]);
      const later = owners.map((owner) => `later-${owner}`);
      const again = await Promise.all(later.map(async (owner) => (await other.set.map.find(owner)).name));
      expect(again).toContain("s1");
    });

    it("goes on after an owner that cannot be moved, and continues where an earlier call died", async () => {
      const [first = "", second = "", third = "", ...rest] = (await ownersIn("s1")).toSorted();
      const source = shardNamed(set, "s1");
      // One that another move has taken on, one whose rows were not removed, one that a move died with.
      await setState(shardNamed(set, "s3"), first, "arriving", "s1");
      await moveOwner(set, {
        owner: second,
        to: "s3",
        onProgress: ({ phase }) => {
          if (phase === "removing") throw new Error("killed");
        },
      }).catch(() => undefined);
      await setState(source, third, "leaving", "s2");
      expect(await findRemovableShards(set)).toEqual([]);
      const moved = await moveOwners(set, { from: "s1", to: "s2" });
      expect(moved.owners).toBe(rest.length + 2);
      expect(moved.failures).toEqual([
        { owner: first, message: expect.stringContaining("A move of this owner to s3 was begun") },
      ]);
      expect(await findRemovableShards(set)).toEqual([]);
      await set.map.look(second);
      expect(await ownersIn("s3")).toContain(second);
      await moveOwner(set, { owner: first, to: "s3" });
      expect(await moveOwners(set, { from: "s1", to: "s2" })).toMatchObject({ owners: 0, failures: [] });
      expect(await findRemovableShards(set)).toEqual(["s1"]);
      expect(await checkShards(set)).toEqual([]);
    });

    it("names an owner that is on its way to the shard, and ends when it is interrupted", async () => {
      const [other = ""] = await ownersIn("s0");
      await setState(shardNamed(set, "s1"), other, "arriving", "s0");
      const abort = new AbortController();
      const interrupted = moveOwners(set, {
        from: "s1",
        to: "s2",
        signal: abort.signal,
        onOwner: ({ number }) => {
          if (number === 2) abort.abort();
        },
      });
      await expect(interrupted).rejects.toMatchObject({ name: "AbortError" });
      const moved = await moveOwners(set, { from: "s1", to: "s2" });
      expect(moved.failures).toEqual([
        { owner: other, message: "A move of this owner to s1 was begun. Undo it by a move to s0" },
      ]);
      expect(await ownersIn("s0")).toContain(other);
    });

    it("is refused for a shard that would leave none for new owners, or that does not exist", async () => {
      for (const from of ["s1", "s2", "s3"]) await moveOwners(set, { from, to: "s0" });
      await expect(moveOwners(set, { from: "s0", to: "s1" })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("No other shard takes new owners"),
      });
      // The home shard has keys and map, however few owners.
      await openShard(set, "s1");
      await moveOwners(set, { from: "s0", to: "s1" });
      expect(await findRemovableShards(set)).toEqual(["s2", "s3"]);
      await expect(moveOwners(set, { from: "s9", to: "s1" })).rejects.toMatchObject({
        details: { reason: "unknown_shard" },
      });
      await expect(moveOwners(set, { from: "s1", to: "s1" })).rejects.toMatchObject({
        code: "invalid_request",
      });
      const [moved = ""] = await ownersIn("s1");
      expect((await statusOf(set.shards, moved)).filter(({ state }) => state === "here")).toHaveLength(1);
    });

    it("leaves one open when the last two are closed at once", async () => {
      for (const name of ["s2", "s3"]) await closeShard(set, name);
      // Both wait for an owner that is being placed.
      let closing: Promise<unknown>[] = [];
      await set.home.database.transaction(async (connection) => {
        await connection.query({ text: "SELECT name FROM parley.shard FOR SHARE" });
        closing = ["s0", "s1"].map((name) => closeShard(set, name));
        for (let waiting = 0; waiting < 2; ) {
          // A transaction sees the sessions as they were when it first looked at them.
          const [row] = await set.home.server.query({
            text: `SELECT count(*)::int4 AS waiting FROM pg_catalog.pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          });
          waiting = Number(row?.waiting);
        }
      });
      const outcomes = await Promise.allSettled(closing);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect((await summarizeShards(set)).filter(({ isOpen }) => isOpen)).toHaveLength(1);
    });

    it("keeps the numbers of a shard that was removed from the configuration", async () => {
      await moveOwners(set, { from: "s3", to: "s2" });
      const three = shards.open({ shards: shards.shards.slice(0, 3) });
      nodes.push(three);
      await three.store.migrate();
      for (const owner of owners) expect((await three.store.forOwner(owner).get("c"))?.id).toBe("c");
      const [first] = shards.shards;
      const five = shards.open({
        shards: [...shards.shards.slice(0, 3), { name: "other", url: first?.url ?? "", schema: "other" }],
      });
      nodes.push(five);
      await five.store.migrate();
      expect(five.set.shards.map(five.set.numberOf)).toEqual([0, 1, 2, 4]);
    });
  },
  "preferred",
);
