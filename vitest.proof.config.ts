import { defineConfig } from "vitest/config";

// As the tests, but for proofs: one at a time and as long as it takes.
const conditions = ["parley-source", "node"];

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    include: ["proof/*.proof.ts"],
    globalSetup: ["test/harness/global-setup.ts"],
    testTimeout: 2 * 60 * 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
