import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Source of the browser: a program on this machine, or the npm package that has to be unpacked first. */
export type ChromiumSource =
  | { readonly from: "machine"; readonly executablePath: string }
  | { readonly from: "npm"; readonly packed: string };

const programs = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/**
 * Returns the browser that `PARLEY_TEST_CHROMIUM` names, else one on PATH, else the npm package; or the reasons why
 * there is none.
 */
export function findChromium(): { source: ChromiumSource | undefined; reasons: string[] } {
  const named = process.env.PARLEY_TEST_CHROMIUM;
  if (named) {
    // A named one that does not exist is an error, never a reason to skip.
    if (!existsSync(named)) throw new Error(`PARLEY_TEST_CHROMIUM names ${named}, which does not exist`);
    return { source: { from: "machine", executablePath: named }, reasons: [] };
  }
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const onPath = folders
    .flatMap((folder) => programs.map((program) => join(folder, program)))
    .find(existsSync);
  if (onPath) return { source: { from: "machine", executablePath: onPath }, reasons: [] };

  const platform = `${process.platform}-${process.arch}`;
  if (platform !== "linux-x64")
    return { source: undefined, reasons: [`the npm package has none for ${platform}`, advice] };
  const packed = packedChromium();
  return packed
    ? { source: { from: "npm", packed }, reasons: [] }
    : { source: undefined, reasons: ["the test dependencies are not installed: use npm test", advice] };
}

const advice = "install Chromium, or set PARLEY_TEST_CHROMIUM";

/** Returns the package's own folder, found without loading it: loading changes the environment. */
function packedChromium(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
    return dirname(dirname(dirname(entry)));
  } catch {
    return undefined;
  }
}
