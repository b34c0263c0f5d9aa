// Compiled files whose source has been moved or removed since. tsc leaves them, and npm would pack them.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./install.mjs";

/** Removes compiled files of a project whose source no longer exists. */
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
