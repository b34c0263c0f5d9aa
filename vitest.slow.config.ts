import { availableParallelism } from "node:os";
import { mergeConfig } from "vitest/config";
import { shared, slowSuites } from "./vitest.config.js";

// `npm run test:slow`: whole-path tests that are too slow for `npm test`. `.ci/run` runs both.
export default mergeConfig(shared, {
  test: {
    include: ["test/slow/**/*.test.ts", ...slowSuites],
    globalSetup: ["test/harness/global-setup.ts", "test/slow/citus-setup.ts"],
    maxWorkers: availableParallelism() + 1,
  },
});
