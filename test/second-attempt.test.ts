import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

/** Runs a folder's tests as the suites do. Returns the lines about failures, and the counts. */
function runSuite(files: Record<string, string>): { remarks: string[]; counts: unknown } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "suite-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const runner = new URL("../scripts/vitest.mjs", import.meta.url).href;
  const program = `
    const { Counts, runVitest } = await import(${JSON.stringify(runner)});
    const counts = new Counts();
    await runVitest(["--root=${folder}", "--globals"], counts);
    console.log("COUNTS " + JSON.stringify(counts));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  const lines = stdout.split("\n");
  const counts = lines.find((line) => line.startsWith("COUNTS "))?.slice("COUNTS ".length) ?? "null";
  return { remarks: lines.filter((line) => /^(FAILED|FLAKY) /.test(line)), counts: JSON.parse(counts) };
}

it("runs failed files once more: what passes then is called flaky, what fails again fails", () => {
  const { remarks, counts } = runSuite({
    "sound.test.mjs": 'it("holds", () => {});',
    "flaky.test.mjs": `
      import { existsSync, writeFileSync } from "node:fs";
      const seen = new URL("seen", import.meta.url);
      it("passes the second time", () => {
        if (existsSync(seen)) return;
        writeFileSync(seen, "");
        throw new Error("too slow");
      });`,
    "wrong.test.mjs": 'it("never holds", () => { throw new Error("wrong sum"); });',
  });
  expect(remarks).toEqual([
    expect.stringMatching(/^FLAKY .*flaky\.test\.mjs \| passes the second time \| Error: too slow$/),
    expect.stringMatching(/^FAILED .*wrong\.test\.mjs \| never holds \| Error: wrong sum$/),
  ]);
  expect(counts).toEqual({ passed: 2, failed: 1, skipped: 0 });
});
