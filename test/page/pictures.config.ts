import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.config.js";

// Like the tests, except for what `node test/page/take-pictures.mjs` does.
export default mergeConfig(shared, {
  test: {
    include: ["test/page/pictures.ts"],
    globalSetup: ["test/harness/global-setup.ts"],
    root: new URL("../..", import.meta.url).pathname,
  },
});
