import type { LogStoreRoot } from "@parley/core/ports";
import { conversationStoreContract, logStoreContract } from "@parley/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openLogStore } from "../open-log-store.js";
import { brokenRules, CapturedStatements } from "../sql-rules.test-support.js";
import { PostgresDatabase } from "./postgres-database.js";
import { PostgresWake } from "./wake.js";

/** Limits so long that no result is partial on a busy machine. */
const patient = { searchMs: 60_000, waitMs: 60_000 };

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describeOnPostgres("the store on PostgreSQL", (postgres) => {
  let database: TestDatabase;
  let handles: LogStoreRoot[];
  const captured = new CapturedStatements();
  beforeAll(async () => {
    database = await postgres.createDatabase();
    const { url } = database;
    // The second handle represents another node, and one behind a transaction pooler.
    handles = [
      // Such low bounds make searches take all of their steps with a handful of messages.
      openLogStore(captured.capturing(new PostgresDatabase({ url })), {
        search: { ...patient, newestRows: 2, indexHits: 3, pageRows: 2, batchLogs: 2, batchCharacters: 50 },
      }),
      openLogStore(new PostgresDatabase({ url, transactionPooler: true }), { search: patient }),
    ];
    await handles[0]?.migrate();
    // Changes of the schema are not statements of the store.
    captured.texts.clear();
  });
  afterAll(async () => {
    await Promise.all(handles.map((handle) => handle.close()));
    await database.drop();
  });

  /** Starts a process's presence: it begins when the process listens, and ends when it is cut off. */
  async function beginPresence() {
    const wake = new PostgresWake({ url: database.url });
    await wake.ready();
    const token = wake.presence.token();
    if (token === undefined) throw new Error("there is no presence");
    return { token, end: () => wake.close() };
  }

  describe("keeps the contract of the runtime's store:", () => {
    const cases = logStoreContract(() => {
      const [root, second] = handles;
      if (root === undefined || second === undefined) throw new Error("the store is not open");
      return { root, second, advance: wait, beginPresence };
    });
    for (const { name, run } of cases) it(name, run);
  });

  it("keeps the rules of statements in all that the cases above have run", () => {
    expect(captured.texts.size).toBeGreaterThan(120);
    const broken = [...captured.texts].flatMap((text) => brokenRules(text).map((rule) => `${rule}\n${text}`));
    expect(broken).toEqual([]);
    expect([...captured.ambiguous]).toEqual([]);
  });

  describe("keeps the contract of the engine's store:", () => {
    const cases = conversationStoreContract(() => {
      const [root] = handles;
      if (root === undefined) throw new Error("the store is not open");
      return { store: root.forOwner("engine") };
    });
    for (const { name, run } of cases) it(name, run);
  });
});
