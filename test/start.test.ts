import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

describe("a clone", () => {
  it("has the command that `npm start` names, and its advice names the same", async () => {
    const { stdout } = await run("npm", ["run", "--silent", "parley", "--", "--version"], { cwd: root });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const refused = await run(
      "npm",
      ["run", "--silent", "parley", "--", "ls", "--url", "http://127.0.0.1:1"],
      {
        cwd: root,
      },
    ).catch((error: { stderr: string }) => error);
    expect(refused.stderr).toContain("`npm run parley -- serve` starts it");
  }, 120_000);
});
