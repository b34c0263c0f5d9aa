import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./registry.js";

/** A piece of code in a document. */
export interface Sample {
  readonly page: string;
  /** The line of its first fence. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** The README, the guides, and the READMEs of packages whose samples are complete programs. */
export const pages = [
  "README.md",
  ...readdirSync(join(root, "docs/guides"))
    .sort()
    .map((name) => `docs/guides/${name}`),
  ...["client", "core", "providers", "store", "tools", "wire"].map((name) => `packages/${name}/README.md`),
];

/** Returns the samples of a page, unchanged. */
export function samplesOf(page: string): Sample[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split("\n").length,
    language: found[1] ?? "",
    code: found[2] ?? "",
  }));
}

/** Returns the sample of a page whose first line names this file. */
export function sampleOf(page: string, file: string): string {
  const found = samplesOf(page).find(({ code }) => code.startsWith(`// ${file}\n`));
  if (found === undefined) throw new Error(`${page} has no sample that begins with "// ${file}"`);
  return found.code;
}
