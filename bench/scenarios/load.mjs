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
  const from = await standing({ name, node, clients });
  // Until the first of them ends.
  await delay(Math.max(0, (deltas / PER_SECOND) * 1_000 - (from.at - startedAt) - 200));
  const to = await standing({ name, node, clients });
  const heard = await clients.ask({ type: "end", name, deltas });
  const tookMs = performance.now() - startedAt;
  const whole = await node.ask({ type: "cpu" });
  const steadyUs = to.cpuUs - from.cpuUs;
  return {
    ...heard,
    rss: Math.max(from.rss, to.rss, whole.rss),
    perSecond: heard.deltas / (tookMs / 1_000),
    steadyShare: steadyUs / 1_000 / (to.at - from.at),
    steadyUsPerDelta: steadyUs / (to.deltas - from.deltas),
    cpuUsPerDelta: whole.cpuUs / heard.deltas,
    storeSeconds: cpuSecondsOf(postgres) - storeBefore,
  };
}

async function standing({ name, node, clients }) {
  const [{ cpuUs, rss }, { deltas }] = await Promise.all([
    node.ask({ type: "cpu" }),
    clients.ask({ type: "count", name }),
  ]);
  return { cpuUs, rss, deltas, at: performance.now() };
}

async function measure({ postgres, turns, deltas, rounds, log }) {
  const children = [];
  const start = async (...args) => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  try {
    const database = await createDatabase(postgres, `load_${turns}`);
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

/** The figures of as many turns as this machine holds, and why it did not hold more. */
async function measureMost({ sizes, ...options }) {
  const refused = [];
  for (const turns of sizes) {
    try {
      return { turns, refused, samples: await measure({ ...options, turns }) };
    } catch (error) {
      options.log(`  ${turns} turns: ${error.message.split("\n")[0]}`);
      refused.push(`MISS  ${turns} turns: ${error.message.split("\n")[0]}`);
    }
  }
  throw new Error(refused.join("\n"));
}

function tableOf({ turns, refused, samples }, { deltas, rounds, postgres }) {
  const of = ({ name }, key) => median(samples.get(name).map((sample) => sample[key]));
  const ratio = (key) =>
    median(samples.get(parley.name).map((sample, n) => sample[key] / samples.get(forward.name)[n][key]));
  const us = (value) => `${value.toFixed(1)} us`;
  const rows = contestants.map((each) => [
    each.name,
    turns,
    Math.round(of(each, "perSecond")),
    ms(of(each, "p50")),
    ms(of(each, "p99")),
    ms(of(each, "max")),
    `${Math.round(of(each, "rss") / 1_000_000)} MB`,
    `${(of(each, "steadyShare") * 100).toFixed(0)} %`,
    us(of(each, "steadyUsPerDelta")),
    us(of(each, "cpuUsPerDelta")),
    each === parley ? `${of(each, "storeSeconds").toFixed(1)} s` : "",
  ]);
  const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;
  const p99 = of(parley, "p99");
  const steady = ratio("steadyUsPerDelta");
  const whole = ratio("cpuUsPerDelta");
  return {
    title: `${turns} turns of ${deltas} deltas, ${postgres.name} (median of ${rounds} rounds)`,
    columns: [
      "node",
      "turns",
      "deltas/s",
      "added p50",
      "p99",
      "max",
      "memory",
      "a core, all streaming",
      "CPU per delta",
      "with start and seal",
      "CPU of PostgreSQL",
    ],
    rows,
    statements: [
      ...refused,
      state(p99 < 50, `added p99 ${ms(p99)} (under 50 ms; parse and forward ${ms(of(forward, "p99"))})`),
      state(steady <= 2, `CPU while all stream ${steady.toFixed(2)}x of parse and forward (at most 2x)`),
      state(whole <= 2, `CPU with the turns' start and seal ${whole.toFixed(2)}x (at most 2x)`),
    ],
  };
}

export const scenario = {
  name: "load",
  title: "many turns at 50 deltas/s each, upstream SSE to one socket each",
  async run({ quick, log }) {
    const deltas = quick ? 300 : 500;
    const rounds = quick ? 2 : 3;
    const postgres = await startPostgres();
    if (postgres === undefined) {
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [""], rows: [] }];
    }
    try {
      const sizes = quick ? [60] : [400, 200, 100];
      const measured = await measureMost({ sizes, postgres, deltas, rounds, log });
      return [tableOf(measured, { deltas, rounds, postgres })];
    } finally {
      await postgres.stop();
    }
  },
};
