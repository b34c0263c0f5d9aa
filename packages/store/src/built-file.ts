import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { missingFile } from "./missing-file.js";

/**
 * Finds a module of this package that Node can run, by its path from here: beside this one, or its build if this one is
 * the source.
 */
export function builtFile(name: string): string {
  const built = import.meta.url.endsWith(".ts") ? `../dist/${name}` : name;
  const path = fileURLToPath(new URL(built, import.meta.url));
  if (!existsSync(path)) throw missingFile(path);
  return path;
}
