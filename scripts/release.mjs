// `node scripts/release.mjs [--date YYYY-MM-DD]`: makes a release of the notes in .changes: the next version in every
// package, its section in CHANGELOG.md, and no notes left.
//   --check   only says whether the notes are as they should be
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { root } from "./install.mjs";

const kinds = ["minor", "patch"];

/** Reads the notes of a folder. Throws where one does not say its kind, or says nothing. */
export function readNotes(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort()
    .map((name) => {
      const [kind = "", ...rest] = readFileSync(join(folder, name), "utf8").split("\n");
      const text = rest.join("\n").trim();
      if (!kinds.includes(kind.trim()))
        throw new Error(`${name}: the first line is one of ${kinds.join(", ")}.`);
      if (text === "") throw new Error(`${name}: there is no text behind the first line.`);
      return { name, kind: kind.trim(), text };
    });
}

/** Returns the version behind `current`, for notes of these kinds. */
export function nextVersion(current, notes) {
  const [major, minor, patch] = current.split(".").map(Number);
  return notes.some(({ kind }) => kind === "minor")
    ? `${major}.${minor + 1}.0`
    : `${major}.${minor}.${patch + 1}`;
}

/** Returns the changelog with a section of the notes before the newest one. */
export function withRelease(changelog, { version, date, notes }) {
  const lines = notes.map(({ text }) => `- ${text.replaceAll("\n", "\n  ")}`);
  const section = `## ${version}, ${date}\n\n${lines.join("\n")}\n\n`;
  const at = changelog.indexOf("\n## ");
  return at === -1
    ? `${changelog.trimEnd()}\n\n${section}`
    : changelog.slice(0, at + 1) + section + changelog.slice(at + 1);
}

function setVersions(from, to) {
  const manifests = [
    "package.json",
    ...["packages", "apps"].flatMap((group) =>
      readdirSync(join(root, group)).map((name) => `${group}/${name}/package.json`),
    ),
    "examples/package.json",
    "packages/server/src/version.ts",
    "apps/cli/starter/package.template.json",
  ];
  for (const path of [...manifests, "package-lock.json"]) {
    const text = readFileSync(join(root, path), "utf8");
    const own = text
      .replace(`"version": "${from}"`, `"version": "${to}"`)
      .replace(`packageVersion = "${from}"`, `packageVersion = "${to}"`);
    const all = own.replaceAll(new RegExp(`("@parley/[\\w-]+": )"${from}"`, "g"), `$1"${to}"`);
    // In the lock file the version of each workspace follows its name.
    const locked = all.replaceAll(
      new RegExp(`("name": "(?:@parley/|parley)[\\w-]*",\\n\\s+"version": )"${from}"`, "g"),
      `$1"${to}"`,
    );
    if (locked !== text) writeFileSync(join(root, path), locked);
  }
}

function release({ date = new Date().toISOString().slice(0, 10), check = false }) {
  const folder = join(root, ".changes");
  const notes = readNotes(folder);
  if (check) return `${notes.length} notes are well-formed.`;
  if (notes.length === 0) return "There is nothing to release: .changes has no notes.";
  const current = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
  const version = nextVersion(current, notes);
  const path = join(root, "CHANGELOG.md");
  writeFileSync(path, withRelease(readFileSync(path, "utf8"), { version, date, notes }));
  setVersions(current, version);
  for (const { name } of notes) rmSync(join(folder, name));
  return `Released ${version}: look at the changes, commit them, and tag v${version}.`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({ options: { date: { type: "string" }, check: { type: "boolean" } } });
  console.log(release(values));
}
