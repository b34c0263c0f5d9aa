// Prepares the tree: the right Node, the dependencies, a build. Under two seconds if nothing changed. Plain
// Node without dependencies: this is the first script that runs on a bare machine.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install, root, runNode, SetupError } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { buildPage } from "./page.mjs";
import { removeStale } from "./stale.mjs";

const oldestNode = [20, 19];

/** Installs and builds if needed. Throws a `SetupError` whose message says what to do. */
export async function setup({ quiet = false } = {}) {
  checkNode(process.versions.node);
  await install(root, { quiet });
  await build({ quiet });
}

/** Compiles every package that has code and builds the page; both skip what is up to date. */
export async function build({ quiet = false } = {}) {
  const started = Date.now();
  const code = await withLock(
    join(root, ".cache", "build.lock"),
    (holder) => quiet || console.log(`Another build is under way (process ${holder}); waiting for it ...`),
    async () => {
      const compiled = await runNode(["node_modules/typescript/bin/tsc", "-b", ...projects()]);
      for (const folder of projects()) removeStale(folder);
      if (compiled === 0) await buildPage({ quiet });
      return compiled;
    },
  );
  if (code !== 0) throw new SetupError("The packages do not compile; the compiler's words are above.");
  if (!quiet)
    console.log(
      `Ready: dependencies and build are up to date (${((Date.now() - started) / 1000).toFixed(1)} s).`,
    );
}

/** Returns the folders of all packages and apps with a TypeScript project, as paths from the root. */
export function projects() {
  const folders = ["packages", "apps"].flatMap((group) =>
    existsSync(join(root, group)) ? readdirSync(join(root, group)).map((name) => `${group}/${name}`) : [],
  );
  return folders.filter((folder) => existsSync(join(root, folder, "tsconfig.json"))).sort();
}

/** Prints a failure in readable form, and returns the exit code. */
export function explain(error) {
  console.error(error instanceof SetupError ? `\n${error.message}` : error);
  return 1;
}

function checkNode(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return;
  throw new SetupError(`Parley needs Node ${oldestNode.join(".")} or newer; this is Node ${version}.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.exitCode = await setup().then(() => 0, explain);
}
