import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** The folder of the built page; undefined when it is not installed or not built. */
export function findPage(): string | undefined {
  try {
    const manifest = require.resolve("@parley/web/package.json");
    const folder = join(dirname(manifest), "dist");
    return existsSync(join(folder, "index.html")) ? folder : undefined;
  } catch {
    return undefined;
  }
}
