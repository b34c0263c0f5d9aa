import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

/** Runs `.ci/run` with an npm that prints the given texts for checks and tests, and 2 passed for each further suite. */
function ciRun(
  check: { says: string; code: number },
  test: { says: string; code: number },
): { code: number | null; last: string; lines: string[] } {
  const root = mkdtempSync(join(tmpdir(), "ci-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, ".ci"));
  cpSync(fileURLToPath(new URL("../.ci/run", import.meta.url)), join(root, ".ci", "run"));
  const npm = join(root, "npm");
  writeFileSync(
    npm,
    `#!/bin/sh\ncase "$*" in *:*|*docs*) printf '2 passed, 0 failed\\n';; *check*) printf '${check.says}'; exit ${check.code};; *) printf '${test.says}'; exit ${test.code};; esac\n`,
  );
  chmodSync(npm, 0o755);
  const { status, stdout } = spawnSync(join(root, ".ci", "run"), {
    encoding: "utf8",
    env: { PATH: `${root}:${process.env.PATH}` },
  });
  const lines = stdout.trimEnd().split("\n");
  return { code: status, last: lines.at(-1) ?? "", lines };
}

describe(".ci/run", () => {
  it("adds up the checks and the tests", () => {
    const check = { says: "ok types\\n\\n9 passed, 0 failed\\n", code: 0 };
    const test = { says: "1 passed, 5 failed\\nlater\\n40 passed, 0 failed, 2 skipped\\n", code: 0 };
    expect(ciRun(check, test)).toMatchObject({ code: 0, last: "57 passed, 0 failed, 2 skipped" });
  });

  it("runs the tests although a check failed, and fails", () => {
    const check = { says: "8 passed, 1 failed\\n", code: 1 };
    expect(ciRun(check, { says: "40 passed, 0 failed\\n", code: 0 })).toMatchObject({
      code: 1,
      last: "56 passed, 1 failed",
    });
  });

  it("counts a suite that ends without a result, or badly without a failure, as failed", () => {
    const check = { says: "Segmentation fault\\n", code: 139 };
    expect(ciRun(check, { says: "40 passed, 0 failed\\n", code: 1 })).toMatchObject({
      code: 1,
      last: "48 passed, 2 failed",
    });
  });

  it("names what failed once more right before the sum", () => {
    const check = { says: "9 passed, 0 failed\\n", code: 0 };
    const test = { says: "FLAKY a | b\\nFAILED c | d\\nmuch else\\n40 passed, 1 failed\\n", code: 1 };
    expect(ciRun(check, test).lines.slice(-3)).toEqual([
      "FLAKY a | b",
      "FAILED c | d",
      "57 passed, 1 failed",
    ]);
  });
});
