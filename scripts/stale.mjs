// What was compiled from a source that has been moved or removed since. tsc leaves it, and npm would pack it.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install.mjs";

/** Removes compiled files of a project whose source does not exist any more. */
export function removeStale(folder) {
  const built = join(root, folder, "dist");
  if (!existsSync(built) || !existsSync(join(built, ".tsbuildinfo"))) return;
  for (const file of readdirSync(built, { recursive: true, encoding: "utf8" })) {
    const stem = /^(.*?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(file)?.[1];
    if (stem === undefined) continue;
    const source = join(root, folder, "src", stem);
    if (![".ts", ".tsx", ".d.ts"].some((ending) => existsSync(source + ending))) rmSync(join(built, file));
  }
}
