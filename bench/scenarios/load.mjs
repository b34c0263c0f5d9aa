// Many answers at once, from an upstream over HTTP to one reader each: a whole node on PostgreSQL beside parse-and-forward.
import { setTimeout as delay } from "node:timers/promises";
import { startChild } from "../load-child.mjs";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { ms } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";

const PER_SECOND = 50;
const parley = { name: "Parley, journaled to PostgreSQL", mode: "parley" };
const forward = { name: "parse and forward", mode: "forward" };
const contestants = [parley, forward];

/** One turn per socket, all at the same time. The CPU is taken twice: of the whole, and while all of them stream. */
async function oneRound({ name }, { node, clients, deltas, postgres }) {
  await node.ask({ type: "collect" });
  const storeBefore = cpuSecondsOf(postgres);
  const startedAt = performance.now();
  await node.ask({ type: "mark" });
  await clients.ask({ type: "start", name });
  await clients.ask({ type: "streaming", name });
  const starting = await node.ask({ type: "cpu" });
  const steadyFrom = performance.now();
  await delay((deltas / PER_SECOND) * 1_000 - (steadyFrom - startedAt) - 500);
  const steady = await node.ask({ type: "cpu" });
  const steadyTo = performance.now();
  const heard = await clients.ask({ type: "end", name, deltas });
  const whole = await node.ask({ type: "cpu" });
  return {
    ...heard,
    rss: Math.max(starting.rss, steady.rss, whole.rss),
    perSecond: heard.deltas / ((performance.now() - startedAt) / 1_000),
    steadyShare: (steady.cpuUs - starting.cpuUs) / 1_000 / (steadyTo - steadyFrom),
    cpuUsPerDelta: whole.cpuUs / heard.deltas,
    storeSeconds: cpuSecondsOf(postgres) - storeBefore,
  };
}

async function measure({ postgres, turns, deltas, rounds, log }) {
  const children = [];
  const start = async (...args) => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  try {
    const database = await createDatabase(postgres, "load");
    const upstream = await start("./load-upstream.mjs", [deltas, PER_SECOND]);
    const clients = await start("./load-clients.mjs");
    const execArgv = [...process.execArgv, "--expose-gc"];
    const nodes = new Map();
    for (const { name, mode } of contestants) {
      const node = await start("./load-node.mjs", [mode, upstream.url, turns, database], { execArgv });
      nodes.set(name, node);
      await clients.ask({ type: "open", name, url: node.url, keys: node.keys, turns });
    }
    const samples = new Map(contestants.map(({ name }) => [name, []]));
    for (let round = 0; round <= rounds; round += 1) {
      for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
        log(`  ${round === 0 ? "warming up" : `round ${round} of ${rounds}`}: ${contestant.name}`);
        const node = nodes.get(contestant.name);
        const sample = await oneRound(contestant, { node, clients, deltas, postgres });
        if (round > 0) samples.get(contestant.name).push(sample);
      }
    }
    return samples;
  } finally {
    await Promise.all(children.map((child) => child.dismiss()));
  }
}

export const scenario = {
  name: "load",
  title: "many turns at 50 deltas/s each, upstream SSE to one socket each",
  async run({ quick, log }) {
    const turns = quick ? 60 : 400;
    const deltas = quick ? 300 : 500;
    const rounds = quick ? 2 : 5;
    const postgres = await startPostgres();
    if (postgres === undefined) {
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [""], rows: [] }];
    }
    try {
      const samples = await measure({ postgres, turns, deltas, rounds, log });
      const of = ({ name }, key) => median(samples.get(name).map((sample) => sample[key]));
      const ratio = (key) =>
        median(samples.get(parley.name).map((sample, n) => sample[key] / samples.get(forward.name)[n][key]));
      const rows = contestants.map((each) => [
        each.name,
        turns,
        Math.round(of(each, "perSecond")),
        ms(of(each, "p50")),
        ms(of(each, "p99")),
        ms(of(each, "max")),
        `${Math.round(of(each, "rss") / 1_000_000)} MB`,
        `${(of(each, "steadyShare") * 100).toFixed(1)} %`,
        `${of(each, "cpuUsPerDelta").toFixed(1)} us`,
        each === parley ? `${of(each, "storeSeconds").toFixed(1)} s` : "",
      ]);
      const p99 = of(parley, "p99");
      const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;
      return [
        {
          title: `${turns} turns of ${deltas} deltas, ${postgres.name} (median of ${rounds} rounds)`,
          columns: [
            "node",
            "turns",
            "deltas/s",
            "added p50",
            "p99",
            "max",
            "memory",
            "CPU, all streaming",
            "CPU per delta, whole turns",
            "CPU of PostgreSQL",
          ],
          rows,
          statements: [
            state(
              p99 < 50,
              `added p99 ${ms(p99)} (under 50 ms; parse and forward ${ms(of(forward, "p99"))})`,
            ),
            state(
              ratio("steadyShare") <= 2,
              `CPU of the node while all stream ${ratio("steadyShare").toFixed(2)}x of parse and forward (at most 2x)`,
            ),
            state(
              ratio("cpuUsPerDelta") <= 2,
              `CPU of the node with the turns' beginnings and ends ${ratio("cpuUsPerDelta").toFixed(2)}x (at most 2x)`,
            ),
          ],
        },
      ];
    } finally {
      await postgres.stop();
    }
  },
};
