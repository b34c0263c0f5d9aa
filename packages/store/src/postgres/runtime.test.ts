import { runtimeContract } from "@parley/core/testing";
import { it } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";

describeOnPostgres("the runtime on PostgreSQL", (postgres) => {
  // A database for each case: time is real here, and what one case leaves to be claimed is another's to find.
  const cases = runtimeContract(async () => {
    const database = await postgres.createDatabase();
    const nodes = [openPostgres({ url: database.url })];
    const [first] = nodes;
    await first?.store.migrate();
    if (first === undefined) throw new Error("the store is not open");
    return {
      store: first.store,
      wake: first.wake,
      async openSecond() {
        const node = openPostgres({ url: database.url });
        nodes.push(node);
        return node;
      },
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      lease: { ttlMs: 1_500, renewMs: 400, claimMs: 250, pollMs: 250, stopMs: 500 },
      journal: { intervalMs: 10, retryMs: 100 },
      async close() {
        for (const { store, wake } of nodes) {
          await wake.close?.();
          await store.close();
        }
        await database.drop();
      },
    };
  });
  for (const { name, run } of cases) it(name, run, 30_000);
});
