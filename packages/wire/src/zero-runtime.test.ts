import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as wire from "./index.js";

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));

describe("the package at run time", () => {
  let built = "";

  beforeAll(() => {
    built = mkdtempSync(join(tmpdir(), "parley-wire-"));
    const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
    execFileSync(process.execPath, [
      join(typescript, "bin", "tsc"),
      ...["--project", packageFolder, "--outDir", built, "--tsBuildInfoFile", join(built, ".tsbuildinfo")],
    ]);
  });

  afterAll(() => rmSync(built, { recursive: true, force: true }));

  it("exports nothing", () => {
    expect(Object.keys(wire)).toEqual([]);
  });

  it("is built to modules without a statement", () => {
    const modules = readdirSync(built).filter((name) => name.endsWith(".js"));
    expect(modules).toContain("index.js");
    for (const name of modules) {
      const code = readFileSync(join(built, name), "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
      expect(code.trim(), name).toBe("export {};");
    }
  });

  it("depends on no other package", () => {
    const manifest: object = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
    expect(Object.keys(manifest)).not.toContain("dependencies");
    expect(Object.keys(manifest)).not.toContain("peerDependencies");
  });
});
