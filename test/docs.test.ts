import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");

/** Returns the files that a page names, as links or as paths from the root, and that do not exist. */
function missingIn(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(([, link = ""]) =>
    join(dirname(page), link),
  );
  const paths = [...text.matchAll(/`((?:apps|packages|scripts|test|bench|docs)\/[\w./-]+\.\w+)`/g)].map(
    ([, path = ""]) => path,
  );
  return [...links, ...paths].filter((path) => !existsSync(join(root, path)));
}

it("names no file that does not exist in the documents", () => {
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.flatMap((page) => missingIn(page).map((path) => `${page}: ${path}`))).toEqual([]);
});
