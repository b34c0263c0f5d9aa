import { describe, expect, it } from "vitest";
import { onEmbedded, onPostgres } from "../../proof/crash/environments.js";
import type { FaultPoint } from "../../proof/crash/fault-point.js";
import { death } from "../../proof/crash/faults.js";
import { type Case, type Environment, runCases } from "../../proof/crash/run-cases.js";
import { Slots } from "../../proof/crash/slots.js";
import { Tally } from "../../proof/crash/tally.js";
import { describeOnPostgres } from "../harness/postgres.js";

const seed = Number(process.env.PARLEY_SEED ?? 20_261_115);
const caseMs = 600_000;

/** Clients talk over HTTP, event streams and sockets while nodes die: a few cases of `npm run proof:crash`. */
async function survive(
  environment: Environment,
  nodes: 1 | 2,
  faultPoints: readonly (FaultPoint & { againMs?: number })[],
) {
  const tally = new Tally();
  const cases: Case[] = faultPoints.map(({ againMs, ...faultPoint }) => ({
    at: faultPoint.how,
    fault: death({ nodes, faultPoint, againMs }),
  }));
  await runCases(environment, cases, { workers: 1, seed, tally, slots: new Slots() });
  expect(tally.words).toEqual([]);
  expect(tally.kills).toBeGreaterThanOrEqual(faultPoints.length);
}

describe.concurrent("clients of served nodes lose and double nothing", () => {
  it(
    "when the only node on PGlite dies",
    () =>
      survive(onEmbedded("pglite"), 1, [
        { how: "store", point: { kind: "store", method: "commitStep", nth: 2, when: "after" } },
      ]),
    caseMs,
  );
});

describe.concurrent("clients of served nodes lose and double nothing", () => {
  describeOnPostgres(
    "on PostgreSQL",
    (postgres) => {
      it.concurrent(
        "when the only node dies",
        () =>
          survive(onPostgres(postgres, { name: "one node", prefix: "one" }), 1, [
            { how: "frame", nth: 8, when: "before", againMs: 300 },
            { how: "acknowledgement", nth: 6 },
            { how: "frame", nth: 27, when: "after" },
            { how: "store", point: { kind: "store", method: "seal", nth: 1, when: "during", sends: 2 } },
          ]),
        caseMs,
      );

      it.concurrent(
        "when one of two nodes dies, or both",
        () =>
          survive(onPostgres(postgres, { name: "two nodes", prefix: "two" }), 2, [
            { how: "frame", nth: 18, when: "after" },
            { how: "store", point: { kind: "store", method: "fork", when: "after" } },
            { how: "moment", ms: 400, againMs: 200 },
          ]),
        caseMs,
      );
    },
    "preferred",
  );
});
