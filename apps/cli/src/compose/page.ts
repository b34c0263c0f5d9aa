import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.js";

const require = createRequire(import.meta.url);

/**
 * Returns the folder of the built page: that of the configuration, or Parley's own. Undefined if the page is not
 * installed or not built.
 */
export function findPage(own?: string): string | undefined {
  if (own !== undefined) {
    if (existsSync(join(own, "index.html"))) return own;
    throw new CliError(`page: ${own} has no index.html.`, {
      advice: "Build the page first, correct `page` in the configuration, or serve without one: --no-page.",
    });
  }
  try {
    const manifest = require.resolve("@parley/web/package.json");
    const folder = join(dirname(manifest), "dist");
    return existsSync(join(folder, "index.html")) ? folder : undefined;
  } catch {
    return undefined;
  }
}
