import { conversationStoreContract, logStoreContract } from "@parley/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";

/** However busy the machine is, nothing is partial. */
const patient = { searchMs: 60_000, waitMs: 60_000 };

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describeOnPostgres("the store on PostgreSQL", (postgres) => {
  let database: TestDatabase;
  let handles: ReturnType<typeof openPostgres>["store"][];
  beforeAll(async () => {
    database = await postgres.createDatabase();
    // The second handle stands for another node, and for one behind a transaction pooler.
    handles = [
      // So low bounds let searches take all of their steps with a handful of messages.
      openPostgres({
        url: database.url,
        listenUrl: false,
        search: { ...patient, newestRows: 2, indexHits: 3, pageRows: 2, batchLogs: 2, batchCharacters: 50 },
      }).store,
      openPostgres({ url: database.url, transactionPooler: true, search: patient }).store,
    ];
    await handles[0]?.migrate();
  });
  afterAll(async () => {
    await Promise.all(handles.map((handle) => handle.close()));
    await database.drop();
  });

  describe("keeps the contract of the runtime's store:", () => {
    const cases = logStoreContract(() => {
      const [root, second] = handles;
      if (root === undefined || second === undefined) throw new Error("the store is not open");
      return { root, second, advance: wait };
    });
    for (const { name, run } of cases) it(name, run);
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
