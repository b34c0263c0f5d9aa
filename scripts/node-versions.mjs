// `npm run test:node`: runs the core part of the suite on other versions of Node than this one.
//   --node <path>   on this one alone
// Further arguments replace the core part: `npm run test:node -- packages/http`.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fetchNode, otherVersions } from "./fetch-node.mjs";
import { install, root } from "./install.mjs";
import { setup } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";
import { Counts, runVitest } from "./vitest.mjs";

/** Tests that do not depend on PostgreSQL, a browser or the built command line: the rest builds on them. */
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
  for (const wanted of options.node === undefined ? otherVersions : [options.node]) {
    const node = options.node ?? (await fetchNode(wanted));
    console.log(`\n== ${node}`);
    await runVitest(positionals.length > 0 ? positionals : corePart, counts, { node });
  }
} catch (error) {
  counts.failOnce(error);
}
console.log(`\n${summaryLine(counts)}`);
process.exitCode = counts.failed > 0 ? 1 : 0;
