// Runs the scenarios and prints one table per case. See README.md for how to read it.
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { replaceSection, writeSection } from "../scripts/proof-page.mjs";
import { formatTable } from "./format-table.mjs";
import { measureCase } from "./measure-case.mjs";
import { binariesOf, runOnVersions, sideBySide } from "./node-versions.mjs";
import { caseTable, statementLines } from "./summarise.mjs";

const usage = `Usage: node bench/run.mjs [options]

  --only <scenario>    run this scenario only; may be given several times
  --contestant <text>  run only contestants whose name has this text, and the limits; may be repeated
  --quick              fewer and shorter rounds: a first look, with more noise
  --node <version>     run on this Node and on that one ("22", "24.21.0" or a path), and print both side by side;
                       may be repeated
  --page               write what comes out into docs/proof.md, a section for each scenario (scale: docs/scale.md)
  --json               print one JSON document instead of tables
  --list               print the scenarios and end
  --help               print this text and end`;

const names = readdirSync(new URL("./scenarios/", import.meta.url))
  .filter((file) => file.endsWith(".mjs"))
  .map((file) => file.slice(0, -".mjs".length))
  .sort();

process.exitCode = await main();

async function main() {
  const args = readArguments();
  if (typeof args === "string") {
    console.error(`${args}\n\n${usage}`);
    return 2;
  }
  if (args.help) {
    console.log(`${usage}\n\nScenarios: ${names.join(", ")}`);
    return 0;
  }
  const scenarios = await Promise.all(
    (args.only ?? names).map((name) => loadScenario(name, args.contestant)),
  );
  if (args.list) {
    for (const { name, title } of scenarios) console.log(`${name.padEnd(16)} ${title}`);
    return 0;
  }
  // Progress goes to stderr, so that stdout contains only the result.
  const log = (line) => console.error(line);
  const say = args.json ? () => {} : (text) => console.log(text);
  const machine = describeMachine();
  say(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}${args.quick ? ", quick: expect noise" : ""}`,
  );
  if (args.node !== undefined) return compareVersions(args, { log, say });
  const report = { machine, quick: args.quick === true, scenarios: [] };
  for (const scenario of scenarios) {
    const lines = [];
    const sayAndKeep = (text) => {
      lines.push(text);
      say(text);
    };
    const done = await runScenario(scenario, { quick: args.quick === true, log, say: sayAndKeep });
    report.scenarios.push(done);
    if (args.page && done.failures.length === 0) keepOnPage(scenario, lines, args.quick === true);
  }
  if (args.json) console.log(JSON.stringify(report, null, 2));
  const failures = report.scenarios.flatMap((scenario) => scenario.failures);
  for (const failure of failures) console.error(`FAILED  ${failure}`);
  return failures.length > 0 ? 1 : 0;
}

async function compareVersions(args, { log, say }) {
  const passed = [
    ...(args.only ?? []).flatMap((name) => ["--only", name]),
    ...(args.contestant ?? []).flatMap((text) => ["--contestant", text]),
    ...(args.quick ? ["--quick"] : []),
  ];
  const binaries = await binariesOf(args.node).catch((error) => error);
  if (binaries instanceof Error) {
    console.error(binaries.message);
    return 2;
  }
  const reports = await runOnVersions(binaries, passed, log);
  for (const text of sideBySide(reports)) say(text);
  if (args.json) console.log(JSON.stringify({ versions: reports }, null, 2));
  const failures = reports.flatMap(({ machine, scenarios }) =>
    scenarios.flatMap((scenario) => scenario.failures.map((failure) => `Node ${machine.node}: ${failure}`)),
  );
  for (const failure of failures) console.error(`FAILED  ${failure}`);
  return failures.length > 0 ? 1 : 0;
}

function keepOnPage({ name, title, page }, lines, quick) {
  // The first line contains the name and the title, which the section's heading contains as well.
  const text = lines.slice(1).join("\n").trim();
  const command = `npm run bench -- --only ${name}${quick ? " --quick" : ""} --page`;
  const figures = ["```", text, "```"];
  if (page === undefined) writeSection(`bench:${name}`, `Bench: ${title}`, command, figures);
  else replaceSection(page, `bench:${name}`, command, figures);
}

async function runScenario(scenario, { quick, log, say }) {
  const report = { name: scenario.name, title: scenario.title, cases: [], tables: [], failures: [] };
  say(`\n${scenario.name}: ${scenario.title}`);
  if (scenario.run !== undefined) {
    try {
      report.tables = await scenario.run({ quick, log });
      for (const table of report.tables) {
        say(`\n${table.title}`);
        say(formatTable(table.columns, table.rows));
        for (const line of table.statements ?? []) say(line);
      }
    } catch (error) {
      report.failures.push(`${scenario.name}: ${error.stack ?? error}`);
    }
    return report;
  }
  for (const each of scenario.cases) {
    const measured = await measureCase(scenario, each, { quick, log });
    report.cases.push(measured);
    say(
      `\n${each.name} (CPU per ${scenario.unit} of the client process, median of ${measured.rounds} rounds)`,
    );
    say(caseTable(measured));
    for (const line of statementLines(measured)) say(line);
    for (const result of measured.results) {
      if (result.failed)
        report.failures.push(`${scenario.name}, ${each.name}, ${result.name}: ${result.failed}`);
    }
  }
  return report;
}

async function loadScenario(name, wanted) {
  const { scenario } = await import(`./scenarios/${name}.mjs`);
  if (scenario?.name !== name) {
    throw new Error(`scenarios/${name}.mjs does not export a scenario of that name`);
  }
  if (wanted === undefined || scenario.contestants === undefined) return scenario;
  const takesPart = ({ name, kind }) => kind === "limit" || wanted.some((text) => name.includes(text));
  const contestants = scenario.contestants.filter(takesPart);
  const present = new Set(contestants.map((contestant) => contestant.name));
  const targets = scenario.targets?.filter(({ ours, against }) => present.has(ours) && present.has(against));
  return { ...scenario, contestants, targets };
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true },
        contestant: { type: "string", multiple: true },
        node: { type: "string", multiple: true },
        quick: { type: "boolean" },
        page: { type: "boolean" },
        json: { type: "boolean" },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.node !== undefined && values.page)
      return "--page keeps the figures of one Node: leave --node out.";
    const unknown = values.only?.find((name) => !names.includes(name));
    return unknown === undefined ? values : `There is no scenario "${unknown}": ${names.join(", ")}.`;
  } catch (error) {
    return error.message;
  }
}

function describeMachine() {
  const cores = cpus();
  return { cpu: cores[0]?.model.trim() ?? "unknown CPU", cores: cores.length, node: process.versions.node };
}
