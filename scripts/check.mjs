// `npm run check`: everything that can be known without running the code. One line per check, details where one
// fails, and at the end one plain line: N passed, N failed.
//   --only name[,name]   run these alone
//   --list               say what there is
//   --no-install         take what is installed as it is
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, root } from "./install.mjs";
import { explain } from "./setup.mjs";
import { summaryLine } from "./summary.mjs";

/** In the order in which they are started; the first one also builds what others check. */
const names = [
  "types",
  "lint",
  "imports",
  "runtime-dependencies",
  "manifests",
  "lock-files",
  "unused",
  "publint",
  "attw",
  "browser-bundle",
  "words",
];

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    list: { type: "boolean" },
    "no-install": { type: "boolean" },
  },
});

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = explain(error);
}

async function main() {
  const wanted = options.only ? options.only.flatMap((one) => one.split(",")) : names;
  const unknown = wanted.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no check named ${unknown.join(", ")}. There are: ${names.join(", ")}.`);
    return 2;
  }
  if (!options["no-install"]) {
    await install(root, { quiet: true });
    await install(join(root, "test"), { quiet: true }); // the tests are type-checked together with what they import
  }
  const checks = await Promise.all(
    wanted.map(async (name) => ({ name, ...(await import(`./check/${name}.mjs`)) })),
  );
  if (options.list) {
    for (const { name, about } of checks) console.log(`${name.padEnd(22)}${about}`);
    return 0;
  }
  const { createContext } = await import("./check/context.mjs");
  const context = createContext();
  try {
    const counts = await runAll(checks, context);
    console.log(`\n${summaryLine(counts)}`);
    return counts.failed > 0 ? 1 : 0;
  } finally {
    context.close();
  }
}

async function runAll(checks, context) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const waiting = [...checks];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) counts[await runOne(check, context)]++;
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  return counts;
}

async function runOne(check, context) {
  const started = performance.now();
  const result = await check.run(context).catch((error) => ({ problems: [error.stack ?? String(error)] }));
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  if (result.problems.length === 0) {
    console.log(`ok      ${check.name.padEnd(22)}${time.padStart(7)}  ${result.note ?? ""}`.trimEnd());
    return "passed";
  }
  console.log(`FAILED  ${check.name.padEnd(22)}${time.padStart(7)}  ${check.about}`);
  for (const problem of result.problems) console.log(problem.replace(/^/gm, "        "));
  if (result.advice) console.log(`        => ${result.advice}`);
  return "failed";
}
