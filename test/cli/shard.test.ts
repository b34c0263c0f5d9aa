import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openStore } from "../../apps/cli/src/compose/store.js";
import { loadConfig } from "../../apps/cli/src/config/load-config.js";
import type { VerbContext } from "../../apps/cli/src/verb-context.js";
import { addShard, checkShards, listShards, moveToShard } from "../../apps/cli/src/verbs/keeping/shard.js";
import { describeOnPostgres, type TestDatabase } from "../harness/postgres.js";

describeOnPostgres(
  "parley shard",
  (postgres) => {
    let databases: TestDatabase[];
    let folder: string;
    let said: unknown[];
    beforeAll(async () => {
      databases = [await postgres.createDatabase(), await postgres.createDatabase()];
      folder = mkdtempSync(join(tmpdir(), "shard-verbs-"));
      const [first, second] = databases.map(({ url }) => url);
      const store = {
        shards: [
          { name: "first", url: first },
          { name: "second", url: second, schema: "other" },
        ],
      };
      writeFileSync(join(folder, "parley.config.json"), JSON.stringify({ store }));
      writeFileSync(join(folder, "whole.json"), JSON.stringify({ store: { url: first } }));
      const divided = { url: first, schema: "divided", schemas: 3 };
      writeFileSync(join(folder, "divided.json"), JSON.stringify({ store: divided }));
      const { schemas: _, ...undivided } = divided;
      writeFileSync(join(folder, "undivided.json"), JSON.stringify({ store: undivided }));
    });
    afterAll(async () => {
      await Promise.all(databases.map((database) => database.drop()));
      rmSync(folder, { recursive: true, force: true });
    });

    function context(file = "parley.config.json"): VerbContext {
      said = [];
      const io = {
        note: (text: string) => said.push(text),
        line: (text: string) => said.push(text),
        lines: (texts: readonly string[]) => said.push(...texts),
        json: (value: unknown) => said.push(value),
        columns: 100,
        style: { bold: String, cyan: String },
      };
      return {
        io,
        globals: { config: join(folder, file) },
        signal: new AbortController().signal,
      } as unknown as VerbContext;
    }

    it("adds shards, moves an owner between them, and finds nothing left behind", async () => {
      await addShard("second", { json: true }, context());
      expect(said).toEqual([{ name: "second", schema: "other", number: 1 }]);
      await expect(addShard("third", {}, context())).rejects.toMatchObject({
        message: "There is no shard third in the configuration.",
      });
      const config = await loadConfig({ flags: { config: join(folder, "parley.config.json") } });
      const opened = await openStore(config.store);
      await opened.store.forOwner("alice").create({ id: "c", settings: { title: "Hers" } });
      const { name: from } = (await opened.shards?.map.find("alice")) ?? { name: "" };
      const to = from === "first" ? "second" : "first";
      await moveToShard("alice", to, { json: true }, context());
      expect(said.at(-1)).toMatchObject({
        owner: "alice",
        from,
        to,
        pausedMs: expect.any(Number) as unknown,
      });
      expect((await opened.store.forOwner("alice").get("c"))?.title).toBe("Hers");
      await opened.close();
      await moveToShard("alice", to, {}, context());
      expect(said).toEqual([`The owner "alice" is already in ${to}.`]);
      await listShards({ json: true }, context());
      expect(said[0]).toMatchObject([
        { name: "first", schema: "parley", isHome: true, isOpen: true, owners: to === "first" ? 1 : 0 },
        { name: "second", schema: "other", isHome: false, isOpen: true, owners: to === "second" ? 1 : 0 },
      ]);
      await listShards({}, context());
      expect(said.join("\n")).toMatch(/first +parley .* yes +keys and map/);
      await checkShards({}, context());
      expect(said).toEqual([
        "No problems: every owner is in one shard, and no interrupted move has left rows behind.",
      ]);
    });

    it("says that a store without its shards is divided, and that nodes run on one that is to be divided", async () => {
      const storeOf = async (file: string) =>
        (await loadConfig({ flags: { config: join(folder, file) } })).store;
      await expect(openStore(await storeOf("whole.json"))).rejects.toMatchObject({
        message: expect.stringContaining("The store is divided into shards"),
      });
      const running = await openStore(await storeOf("undivided.json"));
      await running.store.heartbeat("node-1", 60_000);
      await expect(listShards({}, context("divided.json"))).rejects.toMatchObject({
        message: expect.stringContaining("nodes run on it: node-1. Stop them all"),
      });
      await running.store.retire("node-1");
      await running.close();
    });

    it("moves all owners of one of several schemas, and says when it can be removed", async () => {
      const config = await loadConfig({ flags: { config: join(folder, "divided.json") } });
      const opened = await openStore(config.store);
      const owners = Array.from({ length: 12 }, (_, index) => `owner-${index}`);
      const leaving: string[] = [];
      for (const owner of owners) {
        await opened.store.forOwner(owner).create({ id: "c", settings: {} });
        if ((await opened.shards?.map.find(owner))?.name === "s1") leaving.push(owner);
      }
      // One that cannot be moved, because another move of it has not ended.
      const stuck = leaving.toSorted().at(-1) ?? "";
      const arriving = (state: string) =>
        opened.shards?.shards[2]?.database.query({
          text: `INSERT INTO parley.shard_owner (owner, state, peer) VALUES ($1, $2, 's1')
            ON CONFLICT (owner) DO UPDATE SET state = excluded.state`,
          values: [stuck, state],
        });
      await arriving("arriving");
      await expect(moveToShard("s1", "s0", { all: true }, context("divided.json"))).rejects.toMatchObject({
        message: "1 owner of s1 could not be moved.",
      });
      expect(said).toContain(`Moving "${stuck}" (${leaving.length} of ${leaving.length}).`);
      expect(said.join("\n")).toContain(`"${stuck}": A move of this owner to s2 was begun`);
      await arriving("gone");
      await moveToShard("s1", "s0", { all: true, json: true }, context("divided.json"));
      expect(said.at(-1)).toMatchObject({ from: "s1", to: "s0", owners: 1, failures: [], isRemovable: true });
      await checkShards({ json: true }, context("divided.json"));
      expect(said).toEqual([{ problems: [], removable: ["s1"] }]);
      await checkShards({}, context("divided.json"));
      expect(said.at(-1)).toMatch(/^The shard s1 is empty, and takes no new owners/);
      await listShards({}, context("divided.json"));
      expect(said.join("\n")).toMatch(/s1 +divided_1 +0 +0 +no/);
      await addShard("s1", {}, context("divided.json"));
      expect(said).toEqual(["The shard s1 takes new owners again."]);
      await listShards({}, context("divided.json"));
      expect(said.join("\n")).toMatch(/s1 +divided_1 +0 +0 +yes/);
      for (const owner of owners) expect(await opened.store.forOwner(owner).get("c")).not.toBeNull();
      await opened.close();
    });

    it("moves a whole shard to another server on Citus only", async () => {
      const toNode = "worker-2:5432";
      await expect(moveToShard("s1", undefined, { toNode }, context("divided.json"))).rejects.toMatchObject({
        message: expect.stringContaining("The server of the shard s1 has no Citus"),
      });
      for (const [to, options] of [
        [undefined, {}],
        [undefined, { all: true }],
        ["s2", { toNode }],
        [undefined, { toNode, all: true }],
        [undefined, { toNode: "worker-2" }],
      ] as const) {
        await expect(moveToShard("s1", to, options, context("divided.json"))).rejects.toMatchObject({
          exitCode: 2,
        });
      }
    });

    it("says so where the store has no shards", async () => {
      await expect(listShards({}, context("whole.json"))).rejects.toMatchObject({
        message: "The store is not divided into shards.",
      });
    });
  },
  "preferred",
);
