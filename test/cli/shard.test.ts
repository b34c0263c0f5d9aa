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
      expect(said).toEqual([`The owner "alice" is in ${to} already.`]);
      await listShards({ json: true }, context());
      expect(said[0]).toMatchObject([
        { name: "first", schema: "parley", isHome: true, owners: to === "first" ? 1 : 0 },
        { name: "second", schema: "other", isHome: false, owners: to === "second" ? 1 : 0 },
      ]);
      await listShards({}, context());
      expect(said.join("\n")).toMatch(/first +parley .* keys and map/);
      await checkShards({}, context());
      expect(said).toEqual(["Every owner is in one shard, and no move has left anything behind."]);
    });

    it("says so where the store has no shards", async () => {
      await expect(listShards({}, context("whole.json"))).rejects.toMatchObject({
        message: "The store is not divided into shards.",
      });
    });
  },
  "preferred",
);
