// `npm start`: sets up, then runs the best thing that exists, and says which one that is.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, runNode } from "./install.mjs";
import { explain, setup } from "./setup.mjs";

/** From the best downwards; the first one that exists is run. */
const runnable = [
  { file: "apps/cli/dist/main.js", says: "Starting Parley.", args: ["serve"] },
  {
    file: "examples/terminal-chat.mjs",
    says: "Parley has no server yet. This is its runtime, in this terminal, on the embedded store.",
    args: [],
  },
];

try {
  await setup();
  const best = runnable.find(({ file }) => existsSync(join(root, file)));
  console.log(`\n${best.says}\n`);
  process.exitCode = await runNode([best.file, ...best.args, ...process.argv.slice(2)]);
} catch (error) {
  process.exitCode = explain(error);
}
