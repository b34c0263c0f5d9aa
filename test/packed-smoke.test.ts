import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error a script without types
import { createContext } from "../scripts/check/context.mjs";

const root = join(import.meta.dirname, "..");

/** The minimum of `npm run test:packages`: three packages that need no other, packed and unpacked in another folder. */
describe("packed packages outside the repository", { timeout: 120_000 }, () => {
  let folder: string;
  const context = createContext() as { pack(folder: string): Promise<string>; close(): void };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-packed-"));
    const names = ["wire", "fold", "client"];
    const archives = await Promise.all(names.map((name) => context.pack(`packages/${name}`)));
    for (const [index, archive] of archives.entries()) {
      const into = join(folder, "node_modules", "@parley", names[index] ?? "");
      mkdirSync(into, { recursive: true });
      execFileSync("tar", ["-xzf", archive, "-C", into, "--strip-components=1"]);
    }
  }, 120_000);
  afterAll(() => {
    context.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are imported and required, and have licence and README", () => {
    writeFileSync(
      join(folder, "use.mjs"),
      'import { createClient } from "@parley/client"; console.log(typeof createClient);',
    );
    writeFileSync(join(folder, "use.cjs"), 'console.log(typeof require("@parley/client").createClient);');
    for (const file of ["use.mjs", "use.cjs"]) {
      expect(execFileSync(process.execPath, ["--no-warnings", file], { cwd: folder, encoding: "utf8" })).toBe(
        "function\n",
      );
    }
    const files = readdirSync(join(folder, "node_modules/@parley/client"), {
      recursive: true,
      encoding: "utf8",
    });
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "src/index.ts", "dist/index.d.ts"]),
    );
    expect(files.filter((file) => /tsbuildinfo|\.test\./.test(file))).toEqual([]);
  });
});

/** The minimum of `npm run test:node`: the command, with the installed Node. */
describe("the tests on another Node", () => {
  it("run on the one that is named, and are counted", () => {
    const args = [
      "scripts/node-versions.mjs",
      "--node",
      process.execPath,
      "packages/fold/src/cursor.test.ts",
    ];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    expect(stdout).toContain(`== ${process.execPath}`);
    expect(stdout).toMatch(/\n\d+ passed, 0 failed\n$/);
    expect(status).toBe(0);
  }, 120_000);
});
