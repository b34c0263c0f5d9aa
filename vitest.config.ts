import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, mergeConfig } from "vitest/config";

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

const pageSuite = (name: string) => `test/page/${name}.test.ts`;

/** Slow suites outside of `test/slow`: `npm run test:slow` runs them, `npm test` does not. */
export const slowSuites = [
  "packages/store/src/migration/carry-over.test.ts",
  "packages/store/src/moving/move-to-postgres.test.ts",
  "packages/store/src/pglite/runtime.test.ts",
  "packages/store/src/postgres/plans.test.ts",
  "packages/store/src/private-postgres/private-server.test.ts",
  "test/cli/connect.test.ts",
  "test/cli/deciding.test.ts",
  "test/cli/first-calls.test.ts",
  "test/cli/hostile-text.test.ts",
  "test/cli/mcp.test.ts",
  "test/cli/model-in-use.test.ts",
  "test/cli/verbs.test.ts",
  "test/kill/kill.test.ts",
  ...["accessibility", "everywhere", "files", "first-visit", "hostile", "inspector", "long-conversation"].map(
    pageSuite,
  ),
  ...["never-wonder", "order", "rich-answers", "settings-page", "temporary", "usage"].map(pageSuite),
  "test/replay/replay-matrix.test.ts",
];

/**
 * Suites that neither mock modules nor need a database or a browser: their files share the modules of a worker, which
 * halves what they cost.
 */
const pure = [
  ...["wire", "fold", "http", "core", "providers", "tools", "client", "testing", "server"].map(
    (name) => `packages/${name}/src/**/*.test.{ts,tsx}`,
  ),
  "apps/web/src/**/*.test.{ts,tsx}",
  "apps/cli/src/**/*.test.ts",
];

/** Suites of the command line that ask for a PostgreSQL server. */
const onPostgres = ["apps/cli/src/compose/*.test.ts"];

export const shared = defineConfig({
  resolve: { alias: otherSdk === undefined ? [] : sdkFrom(otherSdk) },
  ssr: { resolve: { conditions } },
  test: {
    setupFiles: ["test/harness/property-seed.ts"],
    // Only a failure takes that long; what is slow on a busy machine is none.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

export default defineConfig({
  test: {
    // One more than there are cores: many tests wait for a lease, a browser or a process more than they compute.
    maxWorkers: availableParallelism() + 1,
    projects: [
      mergeConfig(shared, {
        test: {
          name: "whole",
          include: ["packages/store/src/**/*.test.ts", ...onPostgres, "test/**/*.test.ts"],
          exclude: ["test/slow/**", "test/packages/**", ...slowSuites, "**/node_modules/**"],
          globalSetup: ["test/harness/global-setup.ts"],
        },
      }),
      mergeConfig(shared, {
        test: { name: "pure", include: pure, exclude: [...onPostgres, "**/node_modules/**"], isolate: false },
      }),
    ],
  },
});
