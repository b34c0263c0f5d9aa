// `npm test`: sets up, brings the test dependencies, runs Vitest, and ends with one plain line: N passed, N failed.
// Arguments go on to Vitest: `npm test -- packages/http`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { install, root, runNode } from "./install.mjs";
import { explain, setup } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";

const counts = { passed: 0, failed: 0, skipped: 0 };
const failOnce = (error) => {
  explain(error);
  counts.failed++;
};

// Tests read the sources, so they run even when the build fails; that is one failure more.
await setup({ quiet: true }).catch(failOnce);
try {
  await install(join(root, "test"), { quiet: true });
  await runTests(process.argv.slice(2));
} catch (error) {
  failOnce(error);
}
console.log(`\n${summaryLine(counts)}`);
process.exitCode = counts.failed > 0 ? 1 : 0;

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), "parley-results-"));
  const file = join(folder, "results.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const code = await runNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args]);
    count(readResults(file), code);
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

function count({ testResults }, exitCode) {
  const before = counts.failed;
  for (const { status, assertionResults } of testResults) {
    for (const test of assertionResults) {
      if (test.status === "passed") counts.passed++;
      else if (test.status === "failed") counts.failed++;
      else counts.skipped++;
    }
    // A file that could not be loaded, or whose hooks failed, has no failed test of its own.
    if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) counts.failed++;
  }
  if (counts.passed + counts.failed === before && counts.skipped === 0) {
    failOnce("\nNo test ran: a run that proves nothing counts as failed.");
  } else if (exitCode !== 0 && counts.failed === before) {
    failOnce(`\nVitest ended with code ${exitCode} although no test failed (see the errors above).`);
  }
}
