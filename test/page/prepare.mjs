// Prepares what the tests of the page share in one run of the tests: a build that is up to date, and a store that only
// has to be copied. `node test/page/prepare.mjs <folder>`; safe to call from several processes at once.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runNode } from "../../scripts/install.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { setup } from "../../scripts/setup.mjs";

const folder = process.argv[2];
if (folder === undefined) throw new Error("Where to? node test/page/prepare.mjs <folder>");
const done = join(folder, "page-prepared");

await withLock(
  join(folder, "page-prepared.lock"),
  () => undefined,
  async () => {
    if (existsSync(done)) return;
    await setup({ quiet: true });
    const main = join(root, "apps/cli/dist/main.js");
    const code = await runNode([main, "migrate", "--store", join(folder, "page-store"), "--quiet"], {
      cwd: folder,
      stdio: "ignore",
    });
    if (code !== 0) throw new Error(`The store could not be made: parley migrate ended with ${code}`);
    writeFileSync(done, "");
  },
);
