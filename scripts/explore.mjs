// `npm run explore`: runs every property test repeatedly with new cases, and prints the seeds of those that
// fail.
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, root, runNode, SetupError } from "./install.mjs";
import { explain, setup } from "./setup.mjs";

const usage = `Usage: npm run explore -- [options] [part of a test's path ...]

  --rounds <n>   how often; default 10
  --seed <n>     the seed of the first round; default: a random one
  --help         print this text and end`;

process.exitCode = await main().catch(explain);

async function main() {
  const args = readArguments();
  if (typeof args === "string") {
    console.error(`${args}\n\n${usage}`);
    return 2;
  }
  if (args.help) {
    console.log(usage);
    return 0;
  }
  const files = propertyTests(args.parts);
  if (files.length === 0) {
    console.error(`No property test has ${args.parts.map((part) => `"${part}"`).join(" or ")} in its path.`);
    return 2;
  }
  await setup({ quiet: true });
  await install(join(root, "test"), { quiet: true });
  const failed = [];
  for (let round = 0; round < args.rounds; round++) {
    const seed = args.seed + round;
    const names = await explore(files, seed);
    console.log(`round ${round + 1} of ${args.rounds}, seed ${seed}: ${names.length} failed`);
    for (const name of names) console.log(`  ${name}`);
    failed.push(...names.map((name) => ({ seed, name })));
  }
  console.log(`\n${args.rounds} rounds of ${files.length} files, ${failed.length} failed`);
  for (const { seed, name } of failed) console.log(`  PARLEY_PROPERTY_SEED=${seed} npm test -- ${name}`);
  return failed.length > 0 ? 1 : 0;
}

/** Runs the files once. Returns the files that failed. */
async function explore(files, seed) {
  const folder = mkdtempSync(join(tmpdir(), "parley-explore-"));
  const file = join(folder, "results.json");
  try {
    const code = await runNode(
      [
        "node_modules/vitest/vitest.mjs",
        "run",
        "--reporter=json",
        `--outputFile.json=${file}`,
        "--silent=true",
        ...files,
      ],
      { env: { ...process.env, PARLEY_PROPERTY_SEED: String(seed) }, stdio: ["ignore", "ignore", "inherit"] },
    );
    const results = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).testResults : [];
    const failures = results.filter(({ status }) => status === "failed");
    if (code !== 0 && failures.length === 0) {
      throw new SetupError(`Vitest ended with code ${code} although no test failed: see above.`);
    }
    return failures.map(({ name }) => name.slice(root.length + 1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the test files with property tests. */
function propertyTests(parts) {
  return ["packages", "apps", "test"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)),
    )
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .filter((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
    .filter((path) => readFileSync(join(root, path), "utf8").includes('from "fast-check"'))
    .sort();
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string", default: "10" },
        seed: { type: "string", default: String(randomInt(1_000_000_000)) },
        help: { type: "boolean", short: "h" },
      },
    });
    for (const name of ["rounds", "seed"]) {
      if (!/^\d{1,9}$/.test(values[name])) return `--${name}: "${values[name]}" is not a whole number.`;
    }
    return {
      help: values.help,
      parts: positionals,
      rounds: Number(values.rounds),
      seed: Number(values.seed),
    };
  } catch (error) {
    return error.message;
  }
}
