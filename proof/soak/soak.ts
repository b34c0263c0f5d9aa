import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../../test/kill/random.js";
import type { NodeStore } from "../../test/kill/running-node.js";
import type { ReadTables } from "../../test/kill/tables.js";
import { type HeapObjects, readHeapObjects } from "./heap-objects.js";
import { Probe } from "./probe.js";
import { SoakClient } from "./soak-client.js";
import { SoakedServer, type Vitals } from "./soaked-server.js";

/** A store to soak. */
export interface Environment {
  readonly name: string;
  readonly store: NodeStore;
  /** Reads the tables while the server runs, if that is possible. */
  readonly readTables?: ReadTables;
  /** Reads the tables once the server is gone. */
  readonly readAfter: ReadTables;
}

export interface Sample extends Vitals {
  readonly at: number;
  /** At rest: objects that the server's program has made and still holds. */
  readonly objects?: HeapObjects;
  readonly rows?: Readonly<Record<string, number>>;
}

/** All observations of one server. */
export interface Soaked {
  readonly environment: string;
  /** While it was busy. */
  readonly busy: readonly Sample[];
  /** Between the rounds, with no client connected and nothing left; the first one after the warm-up. */
  readonly rests: readonly Sample[];
  readonly reads: readonly { readonly at: number; readonly ms: number }[];
  readonly turns: readonly { readonly at: number; readonly ms: number }[];
  readonly acts: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Rows that the tables still hold at the end, when all was deleted. */
  readonly left: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface SoakPlan {
  readonly seed: number;
  readonly clients: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly sampleMs: number;
}

const tables = [
  "conversation",
  "conversation_head",
  "conversation_message",
  "conversation_turn",
  "turn_journal",
  "queued_message",
  "receipt",
  "compaction",
] as const;

const countRows = tables.map(
  (table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM parley.${table}`,
);
const countLive = [
  "SELECT 'journal' AS name, count(*)::int AS rows FROM parley.turn_journal",
  "SELECT 'queue' AS name, count(*)::int AS rows FROM parley.queued_message",
  "SELECT 'leases' AS name, count(*)::int AS rows FROM parley.conversation_head WHERE turn_id IS NOT NULL OR compaction_id IS NOT NULL",
  "SELECT 'connections' AS name, count(*)::int AS rows FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
];

/** Talks to a server in rounds. Between them all clients leave, so that what is still there then is what leaked. */
export async function soak(environment: Environment, plan: SoakPlan): Promise<Soaked> {
  const startedAt = performance.now();
  const server = await SoakedServer.start(environment.store);
  const random = new Random(plan.seed);
  const busy: Sample[] = [];
  const rests: Sample[] = [];
  const failures: string[] = [];
  const acts = new Map<string, number>();
  const reads: Soaked["reads"][number][] = [];
  const turns: Soaked["turns"][number][] = [];
  try {
    // The first round warms up: code is compiled, pools and caches fill.
    for (let round = 0; round <= plan.rounds; round += 1) {
      const clients = Array.from(
        { length: plan.clients },
        (_, index) => new SoakClient(`r${round}-t${index}`, server, new Random(random.between(0, 2 ** 31))),
      );
      const probe = new Probe(server);
      const until = performance.now() + plan.roundMs;
      const isOver = () => performance.now() > until;
      const working = [...clients.map((client) => client.talk(isOver)), probe.measure(isOver)];
      while (!isOver()) {
        await sleep(Math.max(0, Math.min(plan.sampleMs, until - performance.now())));
        if (!isOver() && round > 0) busy.push(await takeSample(server, environment));
      }
      await Promise.all(working);
      await Promise.all([...clients.map((client) => client.rest()), probe.rest()]);
      rests.push(await takeSampleAtRest(server, environment));
      for (const client of clients) {
        failures.push(...client.failures);
        for (const [name, count] of client.acts) acts.set(name, (acts.get(name) ?? 0) + count);
      }
      if (round === 0) continue;
      reads.push(...probe.reads);
      turns.push(...probe.turns);
    }
    failures.push(...(await server.backgroundErrors()).map((error) => `in the background: ${error}`));
  } finally {
    // Not closed in order, so that the tables stay as they were.
    await server.kill();
  }
  const left = rowsOf(await environment.readAfter(countRows));
  const seconds = (performance.now() - startedAt) / 1_000;
  return { environment: environment.name, busy, rests, reads, turns, acts, failures, left, seconds };
}

async function takeSample(server: SoakedServer, environment: Environment): Promise<Sample> {
  const vitals = await server.vitals();
  const rows = await environment.readTables?.(countLive);
  return { at: performance.now(), ...vitals, ...(rows === undefined ? {} : { rows: rowsOf(rows) }) };
}

/** Waits until the server has noticed that all clients left. What never goes away is in the sample. */
async function takeSampleAtRest(server: SoakedServer, environment: Environment): Promise<Sample> {
  for (let look = 0; look < 40; look += 1) {
    const { runningTurns, sockets, streams } = await server.vitals();
    if (runningTurns + sockets + streams === 0) break;
    await sleep(100);
  }
  // The database's own connection to what was deleted last.
  await sleep(300);
  const file = join(tmpdir(), `parley-soak-${process.pid}.heapsnapshot`);
  try {
    const sample = await takeSample(server, environment);
    await server.snapshot(file);
    return { ...sample, objects: readHeapObjects(file) };
  } finally {
    rmSync(file, { force: true });
  }
}

function rowsOf(results: readonly (readonly Record<string, unknown>[])[]): Record<string, number> {
  return Object.fromEntries(results.flatMap(([row]) => (row === undefined ? [] : [[row.name, row.rows]])));
}
