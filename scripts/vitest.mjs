// Runs Vitest and counts its results.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { root, runNode } from "./install.mjs";
import { explain } from "./setup.mjs";

/** Counts of a suite: results of runs, and failures outside of them. */
export class Counts {
  passed = 0;
  failed = 0;
  skipped = 0;

  /** Counts a failure that belongs to no test, and prints it. */
  failOnce = (error) => {
    explain(error);
    this.failed++;
  };

  /** Adds the report of a Vitest run. A run that proves nothing counts as failed. */
  add({ testResults }, exitCode) {
    const before = this.failed;
    const total = this.passed + this.failed + this.skipped;
    for (const { status, assertionResults } of testResults) {
      for (const test of assertionResults) {
        if (test.status === "passed") this.passed++;
        else if (test.status === "failed") this.failed++;
        else this.skipped++;
      }
      // A file that could not be loaded, or whose hooks failed, has no failed test.
      if (status === "failed" && !assertionResults.some((test) => test.status === "failed")) this.failed++;
    }
    if (this.passed + this.failed + this.skipped === total) {
      this.failOnce("\nNo test ran: a run that proves nothing counts as failed.");
    } else if (exitCode !== 0 && this.failed === before) {
      this.failOnce(`\nVitest ended with code ${exitCode} although no test failed (see the errors above).`);
    }
  }
}

/** Above this number of failed files a second attempt is a waste of time: the failures are not random. */
const mostToRepeat = 5;

/**
 * Runs Vitest with these arguments, by this Node or another one, and adds its report. Files that fail run
 * once more, alone, so that a busy machine does not fail the suite; a test that passes then is printed as
 * flaky, and one that fails again is printed once more at the end, where a shortened log still shows it.
 */
export async function runVitest(args, counts, options = {}) {
  const first = await reportOf(args, options);
  const files = first.results.testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
  if (files.length === 0 || files.length > mostToRepeat) {
    for (const line of failures(first.results)) console.log(`FAILED ${line}`);
    counts.add(first.results, first.code);
    return;
  }
  console.log(`\nOnce more, alone: ${files.map((file) => relative(root, file)).join(", ")}`);
  const second = await reportOf([...optionsOf(args), "--maxWorkers=1", ...files], options);
  const failedAgain = failures(second.results);
  const names = new Set(failedAgain.map(nameOf));
  for (const line of failures(first.results)) {
    if (!names.has(nameOf(line))) console.log(`FLAKY ${line}`);
  }
  for (const line of failedAgain) console.log(`FAILED ${line}`);
  counts.add(withRepeated(first.results, second.results), second.code);
}

/** Returns the options among the arguments, without the paths. `--config` is followed by its value. */
function optionsOf(args) {
  return args.filter((arg, at) => arg.startsWith("-") || args[at - 1] === "--config");
}

/** Returns the results of the first attempt, with those of the repeated files replaced. */
function withRepeated(first, second) {
  const repeated = new Map(second.testResults.map((result) => [result.name, result]));
  return { testResults: first.testResults.map((result) => repeated.get(result.name) ?? result) };
}

/** Returns a line for each failed test or file: its file, its name, and the first line of the error. */
function failures({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    if (status !== "failed") return [];
    const file = relative(root, name);
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0) return [`${file} | the file itself | ${firstLine(message)}`];
    return tests.map((test) => `${file} | ${test.fullName} | ${firstLine(test.failureMessages?.[0])}`);
  });
}

function firstLine(text = "") {
  return text.split("\n", 1)[0].slice(0, 300);
}

/** Returns the part of a failure's line that is the same in every attempt. */
function nameOf(line) {
  return line.split(" | ").slice(0, 2).join(" | ");
}

/** Runs Vitest once. */
async function reportOf(args, options) {
  const folder = mkdtempSync(join(tmpdir(), "parley-results-"));
  const file = join(folder, "results.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const code = await runNode(["node_modules/vitest/vitest.mjs", "run", ...reporters, ...args], options);
    return { results: readResults(file), code };
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
