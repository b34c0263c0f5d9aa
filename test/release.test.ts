import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packageVersion } from "../packages/server/src/version.js";

interface Note {
  readonly name: string;
  readonly kind: string;
  readonly text: string;
}
interface Release {
  readNotes(folder: string): Note[];
  nextVersion(current: string, notes: readonly Pick<Note, "kind">[]): string;
  withRelease(
    changelog: string,
    release: {
      readonly version: string;
      readonly date: string;
      readonly notes: readonly Pick<Note, "text">[];
    },
  ): string;
}

const root = join(import.meta.dirname, "..");
const script = join(root, "scripts", "release.mjs");
const { readNotes, nextVersion, withRelease } = (await import(script)) as Release;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-notes-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a release", () => {
  it("has the next version for its notes, and stands before the ones that were", () => {
    writeFileSync(join(folder, "README.md"), "How notes are written.");
    writeFileSync(join(folder, "b.md"), "patch\nA fault is gone.\n");
    expect(nextVersion("0.2.0", readNotes(folder))).toBe("0.2.1");
    writeFileSync(join(folder, "a.md"), "minor\nSomething new,\nin two lines.\n");
    const notes = readNotes(folder);
    expect(nextVersion("0.2.0", notes)).toBe("0.3.0");
    expect(withRelease("# Changelog\n\n## 0.2.0, then\n", { version: "0.3.0", date: "now", notes })).toBe(
      "# Changelog\n\n## 0.3.0, now\n\n- Something new,\n  in two lines.\n- A fault is gone.\n\n## 0.2.0, then\n",
    );
  });

  it.each(["major\nBig.", "Only text.", "patch\n\n"])("is not made of a note like %j", (text) => {
    writeFileSync(join(folder, "a.md"), text);
    expect(() => readNotes(folder)).toThrow(/^a\.md: /);
  });

  it("can be made of the notes in .changes", () => {
    expect(() => readNotes(join(root, ".changes"))).not.toThrow();
  });

  it("has one version everywhere", () => {
    const versionIn = (path: string) =>
      (JSON.parse(readFileSync(join(root, path), "utf8")) as { version: string }).version;
    const manifests = ["packages", "apps"].flatMap((group) =>
      readdirSync(join(root, group)).map((name) => `${group}/${name}/package.json`),
    );
    const versions = ["package.json", ...manifests].map(versionIn);
    expect(new Set([...versions, packageVersion])).toEqual(new Set([versionIn("package.json")]));
    expect(readFileSync(join(root, "CHANGELOG.md"), "utf8")).toContain(`\n## ${versionIn("package.json")}, `);
  });
});
