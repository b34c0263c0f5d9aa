// The locally built command line.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./install.mjs";

/**
 * Calls `parley` in this process, so that signals reach it without a go-between. Its hints then name a command that
 * exists in a clone. It sets the exit code itself.
 */
export async function runParley(args) {
  process.env.PARLEY_COMMAND = "npm run parley --";
  const main = join(root, "apps", "cli", "dist", "main.js");
  process.argv = [process.execPath, main, ...args];
  await import(pathToFileURL(main).href);
}
