import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { createScriptedProvider, text } from "@parley/testing";
import { expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import type { ResultRow, Statement } from "../database.js";
import { openLogStore } from "../open-log-store.js";
import { CapturedStatements } from "../sql-rules.test-support.js";
import { PostgresDatabase } from "./postgres-database.js";

/** Statements that read an owner's changes, of all writers. */
const feed = ["changed", "noticed"];

/** Statements after the end of a turn that add its words to the search index. */
const ofIndex = /search|^change_bound$|^changes_open$/;

/** Counts the calls that have not been answered. */
class CountingDatabase extends PostgresDatabase {
  running = 0;

  override batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    this.running += 1;
    return super.batch(statements).finally(() => {
      this.running -= 1;
    });
  }
}

describeOnPostgres(
  "the statements of a turn",
  (postgres) => {
    it("are ten and two looks at its conversation, where its owner is watched", async () => {
      const { url, drop } = await postgres.createDatabase();
      onTestFinished(drop);
      const captured = new CapturedStatements();
      const database = new CountingDatabase({ url });
      const store = openLogStore(captured.capturing(database));
      onTestFinished(() => store.close());
      await store.migrate();
      const runtime = await createRuntime({
        store,
        models: createModelCatalog([
          {
            name: "test/one",
            provider: createScriptedProvider(() => [text("Hello.")]),
            providerName: "test",
            model: "one",
            contextWindow: 10_000,
          },
        ]),
        // Heartbeats and claims are no part of a turn; polls are here to find nothing.
        lease: { renewMs: 60_000, ttlMs: 120_000, claimMs: 60_000, presenceMs: 0, pollMs: 500 },
      });
      onTestFinished(() => runtime.close());
      const me = runtime.forOwner("o");
      await me.create({ id: "c" });
      const seen: string[] = [];
      await me.watch((event) => seen.push(event.type === "conversation.updated" ? event.meta.status : ""));
      const turn = async () => {
        // A poll that has not answered yet would find this turn.
        await expect.poll(() => database.running).toBe(0);
        captured.ran.length = 0;
        seen.length = 0;
        await me.send({ conversationId: "c", message: "Hi" });
        await expect.poll(() => seen).toContain("idle");
        const polls = () => captured.ran.filter((name) => name === "news_owners").length;
        const during = polls();
        // Polls have run since, and found nothing to read.
        await expect.poll(polls).toBeGreaterThan(during + 1);
        return { ran: captured.ran.filter((name) => !name.startsWith("news_")), during };
      };
      await turn();
      const { ran, during } = await turn();
      expect(ran.filter((name) => feed.includes(name))).toEqual([]);
      const looks = ran.filter((name) => name === "find_record");
      // On a busy machine a poll may fall into the turn, and find it.
      expect(looks.length, ran.join("\n")).toBeLessThanOrEqual(2 + during);
      const own = ran.filter((name) => name !== "find_record" && !ofIndex.test(name));
      expect(own.length, own.join("\n")).toBeLessThanOrEqual(10);
    });
  },
  "preferred",
);
