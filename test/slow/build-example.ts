import { execFile } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

/** Copies an example of a page into a folder, installs its packages and bundles it; returns the folder of the page. */
export async function buildExample(name: string, folder: string): Promise<string> {
  cpSync(join(import.meta.dirname, "..", "..", "examples", name), folder, { recursive: true });
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await promisify(execFile)("npm", args, { cwd: folder });
  const page = join(folder, "page");
  mkdirSync(page);
  cpSync(join(folder, "index.html"), join(page, "index.html"));
  const build = await rolldown({
    input: join(folder, "main.jsx"),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    logLevel: "silent",
  });
  await build.write({ dir: page, format: "esm", entryFileNames: "main.js" });
  await build.close();
  return page;
}
