// Builds the page if one of its sources has changed. Plain Node: this runs right after the first install.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runNode, SetupError } from "./install.mjs";

/** The sources of the page. */
const sources = ["apps/web", "packages/client", "packages/fold", "packages/wire", "package-lock.json"];
const left = new Set(["node_modules", "dist", ".cache"]);
const stamp = join(root, "apps/web/dist/.parley-built");

/** Builds into apps/web/dist unless that is up to date. */
export async function buildPage({ quiet = false } = {}) {
  if (!existsSync(join(root, "apps/web/index.html"))) return;
  const wanted = digest();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  if (!quiet) console.log("Building the page ...");
  const code = await runNode([join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"], {
    cwd: join(root, "apps/web"),
    // The summary of sizes is the bundler's own; only its warnings belong on the terminal of a user who
    // starts Parley.
    env: { ...process.env, NODE_ENV: "production" },
  });
  if (code !== 0) throw new SetupError("The page does not build; the bundler's words are above.");
  writeFileSync(stamp, wanted);
}

function digest() {
  const hash = createHash("sha256");
  for (const source of sources) {
    for (const file of filesBelow(source)) {
      hash.update(`${file}\0`);
      hash.update(readFileSync(join(root, file)));
    }
  }
  return hash.digest("hex");
}

/** Returns files and folders below a path, without tests and build output. */
function filesBelow(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .filter((name) => !left.has(name) && !/\.test(-support)?\.tsx?$/.test(name))
    .sort()
    .flatMap((name) => filesBelow(`${path}/${name}`));
}
