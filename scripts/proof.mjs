// `npm run proof:<name>`: sets up, runs one proof, prints its results and writes them to docs/proof.md.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install, root, runNode } from "./install.mjs";
import { markdownTable, writeSection } from "./proof-page.mjs";
import { explain, setup } from "./setup.mjs";

const names = readdirSync(join(root, "proof"))
  .filter((file) => file.endsWith(".proof.ts"))
  .map((file) => file.slice(0, -".proof.ts".length))
  .sort();

const usage = `Usage: npm run proof:<name> -- [options]

  <name>         ${names.join(", ")}
  --long         the longer form: more cases, more time
  --seed <n>     other cases than the usual ones; default 1
  --no-page      print the result and leave docs/proof.md as it is
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
  await setup({ quiet: true });
  await install(join(root, "test"), { quiet: true });
  const folder = mkdtempSync(join(tmpdir(), "parley-proof-"));
  const file = join(folder, "result.json");
  try {
    const code = await runNode(
      [
        "node_modules/vitest/vitest.mjs",
        "run",
        "--config",
        "vitest.proof.config.ts",
        `proof/${args.name}.proof.ts`,
      ],
      {
        env: {
          ...process.env,
          PARLEY_PROOF_RESULT: file,
          PARLEY_PROOF_LONG: args.long ? "1" : "",
          PARLEY_PROOF_SEED: args.seed ?? "1",
        },
      },
    );
    if (!existsSync(file)) {
      console.error("\nThe proof came to no result: see above. docs/proof.md is left as it was.");
      return code === 0 ? 1 : code;
    }
    const result = JSON.parse(readFileSync(file, "utf8"));
    print(result);
    if (args.page) {
      const command = `npm run proof:${args.name}${args.long ? " -- --long" : ""}`;
      writeSection(args.name, result.title, command, sectionLines(result));
      console.log("\nWritten into docs/proof.md.");
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sectionLines({ about, tables, statements }) {
  return [
    about,
    "",
    ...tables.flatMap(({ title, columns, rows }) => [
      ...(title ? [`**${title}**`, ""] : []),
      ...markdownTable(columns, rows),
      "",
    ]),
    ...statements.map((line) => `- ${line}`),
  ];
}

function print({ title, about, tables, statements }) {
  console.log(`\n${title}\n${about}`);
  for (const table of tables) {
    if (table.title) console.log(`\n${table.title}`);
    const widths = table.columns.map((column, place) =>
      Math.max(column.length, ...table.rows.map((row) => String(row[place]).length)),
    );
    for (const row of [table.columns, ...table.rows]) {
      console.log(`  ${row.map((cell, place) => String(cell).padEnd(widths[place])).join("  ")}`.trimEnd());
    }
  }
  console.log("");
  for (const line of statements) console.log(line);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        long: { type: "boolean" },
        seed: { type: "string" },
        page: { type: "boolean", default: true },
        help: { type: "boolean", short: "h" },
      },
      allowNegative: true,
    });
    const [name] = positionals;
    if (values.help) return values;
    if (!names.includes(name)) return `There is no proof "${name ?? ""}".`;
    if (values.seed !== undefined && !/^\d+$/.test(values.seed))
      return `--seed: "${values.seed}" is not a number.`;
    return { ...values, name };
  } catch (error) {
    return error.message;
  }
}
