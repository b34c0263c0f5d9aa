import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { describeOnPostgres } from "../test/harness/postgres.js";
import { tablesIn, tablesOf } from "../test/kill/tables.js";
import { long, recordResult, seed } from "./record-result.js";
import { judge } from "./soak/report.js";
import { type Soaked, type SoakPlan, soak } from "./soak/soak.js";

/** The rounds are short, so that there are enough rests to see a trend in. */
const plan: SoakPlan = long
  ? { seed, clients: 10, rounds: 40, roundMs: 42_000, sampleMs: 5_000 }
  : { seed, clients: 8, rounds: 7, roundMs: 10_000, sampleMs: 2_500 };

const all: Soaked[] = [];

describe("a server that is talked to for a long time", () => {
  describeOnPostgres(
    "stays as it was",
    (postgres) => {
      it("with its log on PostgreSQL", async () => {
        const database = await postgres.createDatabase();
        try {
          const readTables = tablesOf(database.url);
          const store = { url: database.url };
          all.push(await soak({ name: "PostgreSQL", store, readTables, readAfter: readTables }, plan));
        } finally {
          await database.drop();
        }
      });
    },
    "preferred",
  );

  it.each([
    { name: "the private PostgreSQL (the default)", engine: "postgres" },
    { name: "PGlite", engine: "pglite" },
  ] as const)("stays as it was, with its log on $name", async ({ name, engine }) => {
    const folder = mkdtempSync(join(tmpdir(), "parley-soak-"));
    try {
      all.push(await soak({ name, store: { folder, engine }, readAfter: tablesIn(folder) }, plan));
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});

afterAll(() => {
  const reports = all.map(judge);
  const claims = reports.flatMap((report) => report.claims);
  const acts = new Map<string, number>();
  for (const { acts: done } of all) {
    for (const [name, count] of done) acts.set(name, (acts.get(name) ?? 0) + count);
  }
  const minutes = all.reduce((total, { seconds }) => total + seconds, 0) / 60;
  recordResult({
    title: "Soak",
    about:
      `${plan.clients} clients at once keep a server busy over HTTP, event streams and sockets: turns with and without tools, steering, queues, ` +
      "stops, sockets that break in the middle of a turn, reconnects, forks, compactions, deletes while a turn runs. After each round everyone leaves and " +
      `everything is deleted: what is still there then is what leaked. One round to warm up, then ${plan.rounds}; ` +
      `seed ${seed}, ${minutes.toFixed(1)} minutes on ${all.map(({ environment }) => environment).join(" and ")}. Slopes are least squares, per hour.`,
    tables: [
      {
        columns: ["log on", "what", "samples", "first", "last", "most", "per hour", ""],
        rows: reports.flatMap((report) => report.rows),
      },
      {
        title: "What was done",
        columns: ["act", "times"],
        rows: [...acts].sort(([a], [b]) => (a < b ? -1 : 1)),
      },
    ],
    statements: claims.map(({ holds, line }) => `${holds ? "PASS" : "MISS"}  ${line}`),
  });
  expect(claims.filter(({ holds }) => !holds).map(({ line }) => line)).toEqual([]);
  expect(all.length).toBeGreaterThan(0);
});
