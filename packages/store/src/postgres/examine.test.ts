import type { LogStore } from "@parley/core/ports";
import type { Finding } from "@parley/wire";
import { expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { checkSchema } from "../migration/check-schema.js";
import { migrate } from "../migration/migrate.js";
import { readMigrations } from "../migration/migrations.js";
import { openPostgres } from "./open-postgres.js";
import { PostgresDatabase } from "./postgres-database.js";
import { message, sealing, start } from "./turns.test-support.js";

/** Runs a turn with a question and an answer. */
async function runTurn(store: LogStore, conversationId: string): Promise<void> {
  const turn = await start(store, conversationId);
  await store.seal(sealing(turn, [message(conversationId, "Answer", "assistant")]));
}

describeOnPostgres(
  "the doctor",
  (postgres) => {
    async function opened() {
      const made = await postgres.createDatabase();
      const { store, database } = openPostgres({ url: made.url, listenUrl: false });
      onTestFinished(async () => {
        await store.close();
        await made.drop();
      });
      await store.migrate();
      await store.heartbeat("n1", 600_000);
      const run = (text: string) => database.query({ text });
      const area = async (name: string, fix = false): Promise<Finding[]> =>
        (await store.examine({ fix })).filter((finding) => finding.area === name);
      return { store, run, area };
    }

    it("finds rows of the journal that no open turn has, and takes them away when asked", async () => {
      const { store, run, area } = await opened();
      await runTurn(store.forOwner("me"), "c1");
      const c1 = "(SELECT log FROM parley.conversation WHERE id = 'c1')";
      for (const values of [`${c1}, 1, 0`, `${c1}, 1, 2`, "4711, 9, 0"]) {
        await run(
          `INSERT INTO parley.turn_journal (log, turn, first_n, event_count, epoch, data) VALUES (${values}, 1, 1, '')`,
        );
      }
      const [found] = await area("journal");
      expect(found).toMatchObject({ level: "warning", fixable: true });
      expect(found?.message).toContain("3 rows");
      expect(await area("journal", true)).toMatchObject([{ level: "warning", fixable: true, fixed: true }]);
      expect(await area("journal")).toMatchObject([{ level: "ok" }]);
    });

    it.each([
      ["a row that is gone from the middle", "DELETE FROM parley.conversation_message WHERE first_seq = 2"],
      [
        "a row that is gone from the beginning",
        "DELETE FROM parley.conversation_message WHERE first_seq = 1",
      ],
      ["a row that is gone from the end", "DELETE FROM parley.conversation_message WHERE first_seq = 4"],
      ["all rows gone", "DELETE FROM parley.conversation_message"],
      [
        "a row with fewer parts than seqs",
        `UPDATE parley.conversation_message SET content = '{"format":2,"parts":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}'
        WHERE first_seq = 3`,
      ],
    ])("finds %s, names the conversation, and does not pretend to mend it", async (_, damage) => {
      const { store, run, area } = await opened();
      const me = store.forOwner("me");
      await runTurn(me, "whole");
      await me.fork({ conversationId: "whole", atSeq: 2, newId: "fork" });
      await runTurn(me, "torn");
      await runTurn(me, "torn");
      expect(await area("log")).toMatchObject([{ level: "ok" }]);
      await run(
        `${damage}${damage.includes("WHERE") ? " AND" : " WHERE"} log = (SELECT log FROM parley.conversation WHERE id = 'torn')`,
      );
      const found = await area("log", true);
      expect(found).toMatchObject([{ level: "error" }]);
      expect(found[0]?.message).toMatch(/ the conversation torn$/);
      expect(found[0]?.fixable).toBeUndefined();
    });

    it("finds turns that are marked as running in a conversation that does not run them", async () => {
      const { store, run, area } = await opened();
      await runTurn(store.forOwner("me"), "c1");
      expect(await area("turns")).toMatchObject([{ level: "ok" }]);
      await run("UPDATE parley.conversation_turn SET status = 'running'");
      expect(await area("turns")).toMatchObject([{ level: "error" }]);
    });

    it("reports which nodes died while they held turns, compactions included", async () => {
      const { store, run, area } = await opened();
      const me = store.forOwner("me");
      await start(me, "c1");
      await runTurn(me, "c2");
      await me.lease({ conversationId: "c2", node: "gone", turnId: "k1" });
      await run("DELETE FROM parley.node WHERE id <> 'n1'");
      const [nodes] = await area("nodes");
      expect(nodes).toMatchObject({ level: "warning" });
      expect(nodes?.message).toMatch(/2 nodes/);
      const [turns] = await area("turns");
      expect(turns?.message).toMatch(/^2 of 2/);
    });

    it("reports a schema that is older or newer than this version", async () => {
      const made = await postgres.createDatabase();
      const database = new PostgresDatabase({ url: made.url });
      onTestFinished(async () => {
        await database.close();
        await made.drop();
      });
      const all = await readMigrations();
      expect(await checkSchema(database, "parley")).toEqual({ schema: "older" });
      await migrate(database, { migrations: all });
      expect(await checkSchema(database, "parley")).toEqual({ schema: "current" });
      const later = { name: "9999_later", statements: ["CREATE TABLE parley.later (id int)"] };
      expect(await checkSchema(database, "parley", [...all, later])).toEqual({ schema: "older" });
      await migrate(database, { migrations: [...all, later] });
      expect(await checkSchema(database, "parley")).toEqual({ schema: "newer" });
      const { store } = openPostgres({ url: made.url, listenUrl: false });
      onTestFinished(() => store.close());
      const findings = await store.examine({ fix: true });
      expect(findings.find(({ area }) => area === "schema")).toMatchObject({ level: "error" });
    });

    it("says that the store cannot be reached when it cannot", async () => {
      const { store } = openPostgres({ url: "postgres://unknown@127.0.0.1:1/none", listenUrl: false });
      onTestFinished(() => store.close());
      await expect(store.check()).rejects.toMatchObject({ code: "store_unavailable" });
    });
  },
  "preferred",
);
