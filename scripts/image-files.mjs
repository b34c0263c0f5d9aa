// `node scripts/image-files.mjs <folder>`: copies what runs of every package, as its `files` say, without sources and
// types. For the container image.
import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install.mjs";

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error("Name the folder to copy to.");

for (const group of ["packages", "apps"]) {
  for (const name of readdirSync(join(root, group))) {
    const folder = join(root, group, name);
    const to = join(target, group, name);
    const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    mkdirSync(to, { recursive: true });
    cpSync(join(folder, "package.json"), join(to, "package.json"));
    for (const file of files.filter((each) => each !== "src" && !each.startsWith("!"))) {
      cpSync(join(folder, file), join(to, file), {
        recursive: true,
        filter: (path) => !/\.(?:d\.ts|map|tsbuildinfo)$/.test(path),
      });
    }
  }
}
