import { defineConfig, mergeConfig } from "vitest/config";
import tests from "../../vitest.config.js";

// As the tests, but for what `node test/page/take-pictures.mjs` does.
const { test = {}, ...rest } = tests as { test?: object };
export default mergeConfig(
  rest,
  defineConfig({
    test: { ...test, include: ["test/page/pictures.ts"], root: new URL("../..", import.meta.url).pathname },
  }),
);
