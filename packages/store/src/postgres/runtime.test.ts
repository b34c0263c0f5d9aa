import { runtimeContract } from "@parley/testing";
import { afterAll, beforeAll, it } from "vitest";
import {
  describeOnPostgres,
  type SharedPostgres,
  type TestDatabase,
} from "../../../../test/harness/postgres.js";
import { createWait } from "../create-wait.test-support.js";
import { type OpenedPostgres, openPostgres } from "./open-postgres.js";

// On one version: the store's contract runs on all of them, and the runtime knows nothing else of PostgreSQL.
const suite = (postgres: SharedPostgres) => {
  let database: TestDatabase;
  let nodes: OpenedPostgres[];
  beforeAll(async () => {
    database = await postgres.createDatabase();
    nodes = [openPostgres({ url: database.url }), openPostgres({ url: database.url })];
    await nodes[0]?.store.migrate();
  });
  afterAll(async () => {
    for (const { store, wake } of nodes) {
      await wake.close?.();
      await store.close();
    }
    await database.drop();
  });

  const cases = runtimeContract(() => {
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error("the store is not open");
    return {
      store: first.store,
      wake: first.wake,
      openSecond: async () => second,
      advance: createWait(),
      lease: { ttlMs: 1_500, renewMs: 400, claimMs: 250, presenceMs: 250, pollMs: 250, stopMs: 500 },
      // Cases that cut a node off require that the model's earlier output has been written.
      journal: { intervalMs: 1, retryMs: 100 },
      close: async () => {},
    };
  });
  for (const { name, run } of cases) it(name, run, 30_000);
};

describeOnPostgres("the runtime on PostgreSQL", suite, "preferred");
