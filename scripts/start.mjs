// `npm start`: sets up, then runs the best thing that exists, and says which one that is.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, runNode } from "./install.mjs";
import { explain, setup } from "./setup.mjs";
import { showState } from "./state.mjs";

/** From the best downwards; the first one that exists is run. */
const runnable = [{ file: "apps/cli/dist/main.js", says: "Starting Parley.", args: ["start"] }];

try {
  await setup();
  const best = runnable.find(({ file }) => existsSync(join(root, file)));
  if (best) {
    console.log(`\n${best.says}`);
    process.exitCode = await runNode([best.file, ...best.args, ...process.argv.slice(2)]);
  } else {
    showState();
  }
} catch (error) {
  process.exitCode = explain(error);
}
