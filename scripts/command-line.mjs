// The locally built command line.
import { runNode } from "./install.mjs";

/** Calls `parley`. Its hints then name a command that exists in a clone. Resolves with the exit code. */
export function runParley(args) {
  const env = { ...process.env, PARLEY_COMMAND: "npm run parley --" };
  return runNode(["apps/cli/dist/main.js", ...args], { env });
}
