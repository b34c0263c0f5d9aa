import { defineConfig } from "vitest/config";

// Tests read the packages' sources through the "parley-source" condition, so a change needs no build.
const conditions = ["parley-source", "node", "import", "module", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
