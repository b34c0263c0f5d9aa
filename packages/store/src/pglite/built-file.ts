import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { missingFile } from "../missing-file.js";

/** A module of this folder as Node can run it: beside this one, or what was built of it when this one is the source. */
export function builtFile(name: string): string {
  const built = import.meta.url.endsWith(".ts") ? `../../dist/pglite/${name}` : name;
  const path = fileURLToPath(new URL(built, import.meta.url));
  if (!existsSync(path)) throw missingFile(path);
  return path;
}
