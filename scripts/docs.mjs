// `npm run docs`: builds the documents as a site that works offline, into site/dist. Ends with N passed, N failed.
//   --serve   shows it at http://127.0.0.1:4173 afterwards
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, root, runNode, SetupError } from "./install.mjs";
import { explain, setup } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";

const site = join(root, "site");
const pagesFolder = join(site, ".cache", "pages");
const { values: options } = parseArgs({ options: { serve: { type: "boolean" } } });

try {
  await setup({ quiet: true });
  await install(site, { quiet: true });
  const { prepareDocuments } = await import("./docs/prepare-documents.mjs");
  const { writeReference } = await import("./docs/write-reference.mjs");
  rmSync(pagesFolder, { recursive: true, force: true });
  const pages = await prepareDocuments(pagesFolder);
  const modules = writeReference(pagesFolder);
  await run("the reference", [join(site, "node_modules/typedoc/bin/typedoc"), "--options", modules.options]);
  // Dead links between pages fail the build.
  await run("the site", [join(site, "node_modules/vitepress/bin/vitepress.js"), "build", pagesFolder]);
  console.log(`${pages} pages and the reference of ${modules.count} modules are in site/dist.`);
  console.log(summaryLine({ passed: 2, failed: 0, skipped: 0 }));
  if (options.serve) {
    const args = ["preview", pagesFolder, "--host", "127.0.0.1", "--port", "4173"];
    process.exitCode = await runNode([join(site, "node_modules/vitepress/bin/vitepress.js"), ...args]);
  }
} catch (error) {
  process.exitCode = explain(error);
}

async function run(what, args) {
  const code = await runNode(args, { cwd: site });
  if (code !== 0) throw new SetupError(`Building ${what} failed; what it says is above.`);
}
