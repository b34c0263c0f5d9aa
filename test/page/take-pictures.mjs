// Takes the pictures of the page that the documentation shows: `node test/page/take-pictures.mjs`.
import { root, runNode } from "../../scripts/install.mjs";

process.exitCode = await runNode(
  ["node_modules/vitest/vitest.mjs", "run", "--config", "test/page/pictures.config.ts"],
  { cwd: root },
);
