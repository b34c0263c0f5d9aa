import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Tests read the packages' sources through the "parley-source" condition, so a change needs no build. Vitest hands
// these conditions on to Node, where they hold for `require` too: "import" and "module" must not be among them.
const conditions = ["parley-source", "node"];

/** A folder with another version of the AI SDK, on which `npm run test:packages` runs the tests of its adapter. */
const otherSdk = process.env.PARLEY_TEST_AI_SDK;

/** Absolute paths, because Vitest leaves what is installed to Node, which knows no plugin. */
function sdkFrom(folder: string): { find: RegExp; replacement: string }[] {
  const { resolve } = createRequire(join(folder, "index.js"));
  return ["ai", "ai/test", "@ai-sdk/openai", "@ai-sdk/anthropic"].map((name) => ({
    find: new RegExp(`^${name}$`),
    replacement: resolve(name),
  }));
}

export default defineConfig({
  resolve: { alias: otherSdk === undefined ? [] : sdkFrom(otherSdk) },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.{ts,tsx}", "apps/*/src/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    exclude: ["test/slow/**", "test/packages/**", "**/node_modules/**"],
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
