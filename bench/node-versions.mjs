// Runs the same scenarios on several versions of Node, and shows their figures side by side.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fetchNode, otherVersions } from "../scripts/fetch-node.mjs";
import { formatTable } from "./format-table.mjs";
import { ratioToLimit, time } from "./summarise.mjs";

const runner = fileURLToPath(new URL("./run.mjs", import.meta.url));

/** Returns the binary that an argument of `--node` names: a line ("22"), a version or a path. */
async function binaryOf(wanted) {
  if (existsSync(wanted)) return wanted;
  const version = otherVersions.find((each) => each === wanted || each.startsWith(`${wanted}.`)) ?? wanted;
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(
      `--node ${wanted}: name one of ${otherVersions.join(", ")}, another full version, or a path.`,
    );
  }
  return fetchNode(version);
}

/** Returns the binary of this process, followed by those that the arguments of `--node` name. */
export async function binariesOf(wanted) {
  const binaries = [process.execPath];
  for (const each of wanted) binaries.push(await binaryOf(each));
  return binaries;
}

/** Runs the scenarios with each of these binaries, one after the other. Returns a report for each. */
export async function runOnVersions(binaries, args, log) {
  const reports = [];
  for (const node of binaries) {
    log(`== ${node}`);
    const options = { maxBuffer: 2 ** 28 };
    const running = promisify(execFile)(node, [runner, ...args, "--json"], options);
    running.child.stderr?.on("data", (text) => process.stderr.write(text));
    // With a failure the exit code is 1, and the report names it.
    const { stdout } = await running.catch((error) => {
      if (error.code !== 1 || error.stdout === "") throw error;
      return error;
    });
    reports.push(JSON.parse(stdout));
  }
  return reports;
}

/**
 * Returns texts for the terminal: a table for each case, with a column for each version; a scenario's own
 * tables follow version by version.
 */
export function sideBySide(reports) {
  const versions = reports.map(({ machine }) => `Node ${machine.node}`);
  return reports[0].scenarios.flatMap((scenario, place) => {
    const same = reports.map(({ scenarios }) => scenarios[place]);
    return [
      `\n${scenario.name}: ${scenario.title}`,
      ...scenario.cases.map((each, at) =>
        caseSideBySide(
          each,
          same.map(({ cases }) => cases[at]),
          versions,
        ),
      ),
      ...same.flatMap(({ tables }, at) =>
        tables.map(
          ({ title, columns, rows, statements = [] }) =>
            `\n${versions[at]}: ${[title, formatTable(columns, rows), ...statements].join("\n")}`,
        ),
      ),
    ];
  });
}

function caseSideBySide({ name, unit, results }, cases, versions) {
  const rows = results.map((result, place) => [
    result.note ? `${result.name}, ${result.note}` : result.name,
    ...cases.map((each) => figureOf(each.results, each.results[place])),
  ]);
  return `\n${name} (CPU per ${unit}, and the ratio to the limit in the same run)\n${formatTable(["contestant", ...versions], rows)}`;
}

function figureOf(results, result) {
  if (result.failed) return "FAILED";
  if (result.skipped) return "SKIPPED";
  const ratio = ratioToLimit(results, result);
  return ratio === undefined ? time(result.median) : `${time(result.median)} (${ratio.toFixed(2)}x)`;
}
