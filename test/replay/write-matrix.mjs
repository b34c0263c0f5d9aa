// Runs the replay matrix and writes its results to docs/replay-matrix.md: `node test/replay/write-matrix.mjs`. Fails
// if a cell is not green; the page then shows which.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const args = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--config",
  "vitest.slow.config.ts",
  "test/replay/replay-matrix.test.ts",
  "--update",
];
const vitest = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
vitest.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
