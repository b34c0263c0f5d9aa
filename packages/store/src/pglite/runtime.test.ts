import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeContract } from "@parley/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createWait } from "../create-wait.test-support.js";
import { openPglite } from "./index.js";

describe("the runtime on PGlite", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-pglite-"));
  let opened: Awaited<ReturnType<typeof openPglite>>;
  beforeAll(async () => {
    opened = await openPglite({ folder, durable: false });
  }, 120_000);
  afterAll(async () => {
    await opened.store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // One process holds the folder, so the nodes of a case share the one handle, and every case has its own owner.
  const cases = runtimeContract(() => ({
    store: opened.store,
    wake: opened.wake,
    advance: createWait(),
    lease: { ttlMs: 1_200, renewMs: 300, claimMs: 100, presenceMs: 100, pollMs: 100, stopMs: 400 },
    // Cases that cut a node off require that the model's earlier output has been written.
    journal: { intervalMs: 1, retryMs: 50 },
    close: async () => {},
  }));
  for (const { name, run } of cases) it(name, run, 30_000);
});
