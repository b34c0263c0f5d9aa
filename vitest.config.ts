import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Tests read the packages' sources through the "parley-source" condition, so a change needs no build. Vitest hands
// these conditions on to Node, where they hold for `require` too: "import" and "module" must not be among them.
const conditions = ["parley-source", "node"];

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.{ts,tsx}", "apps/*/src/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    exclude: ["test/slow/**", "**/node_modules/**"],
    globalSetup: ["test/harness/global-setup.ts"],
    setupFiles: ["test/harness/property-seed.ts"],
    // One more than there are cores: many tests wait for a lease, a browser or a process more than they compute.
    maxWorkers: availableParallelism() + 1,
    // Only a failure takes that long; what is slow on a busy machine is none.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
