// Runs Vitest and counts what came of it.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runNode } from "./install.mjs";
import { explain } from "./setup.mjs";

/** Counts of a suite, to which runs and failures of their own are added. */
export class Counts {
  passed = 0;
  failed = 0;
  skipped = 0;

  /** Counts a failure that is no test's, and says what it was. */
  failOnce = (error) => {
    explain(error);
    this.failed++;
  };

  /** Adds what a run of Vitest reported. A run that proves nothing counts as failed. */
  add({ testResults }, exitCode) {
    const before = this.failed;
    const total = this.passed + this.failed + this.skipped;
    for (const { status, assertionResults } of testResults) {
      for (const test of assertionResults) {
        if (test.status === "passed") this.passed++;
        else if (test.status === "failed") this.failed++;
        else this.skipped++;
      }
      // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
      if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) this.failed++;
    }
    if (this.passed + this.failed + this.skipped === total) {
      this.failOnce("\nNo test ran: a run that proves nothing counts as failed.");
    } else if (exitCode !== 0 && this.failed === before) {
      this.failOnce(`\nVitest ended with code ${exitCode} although no test failed (see the errors above).`);
    }
  }
}

/** Runs Vitest with these arguments, by this Node or another one, and adds what it reported. */
export async function runVitest(args, counts, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "parley-results-"));
  const file = join(folder, "results.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const code = await runNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args], options);
    counts.add(readResults(file), code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { testResults: [] };
  }
}
