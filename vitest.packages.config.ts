import { mergeConfig } from "vitest/config";
import { shared } from "./vitest.config.js";

// `npm run test:packages`: packs every package and uses it as a stranger does. `.ci/run` runs it after the tests.
export default mergeConfig(shared, {
  test: {
    include: ["test/packages/**/*.test.ts"],
    globalSetup: ["test/harness/global-setup.ts", "test/packages/global-setup.ts"],
    // Installing and compiling take what the machine has.
    maxWorkers: 2,
    testTimeout: 10 * 60_000,
    hookTimeout: 10 * 60_000,
  },
});
