import { fileURLToPath } from "node:url";

/** A module of this folder as Node can run it: beside this one, or what was built of it when this one is the source. */
export function builtFile(name: string): string {
  const built = import.meta.url.endsWith(".ts") ? `../../dist/pglite/${name}` : name;
  return fileURLToPath(new URL(built, import.meta.url));
}
