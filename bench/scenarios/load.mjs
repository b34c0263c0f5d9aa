// Many concurrent turns from a model's API, journaled and followed: capacity, latency and memory of one node.
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";
import { startChild } from "../whole-path/child.mjs";

const perSecond = 50;

/** Concurrent turns, and the maximum latency of 99 of 100 deltas: in addition to the limit's, or in total. */
const loads = [
  { turns: 400, addedMs: 25 },
  { turns: 600, withinMs: 50 },
];

/** Runs one period of the load through a server; returns figures of the time in which all turns run. */
async function stretch({ server: name, options, createAll }, { turns, seconds, postgres }) {
  const warmUpSeconds = 4;
  const deltas = perSecond * (seconds + warmUpSeconds + 4);
  const upstream = await startChild("./upstream.mjs", "startUpstream", { deltas, perSecond, stamped: true });
  const server = await startChild("./servers.mjs", name, { ...options, upstream: upstream.url });
  let clients;
  try {
    const conversations = await createAll(server, turns);
    clients = await startChild("./load-clients.mjs", "drive", { url: server.url, conversations });
    await clients.figures("start");
    await delay(warmUpSeconds * 1_000);
    await clients.figures("mark");
    const parts = [upstream, server, clients];
    const cpuOf = async () =>
      (await Promise.all(parts.map((part) => part.figures()))).map(({ cpuUs }) => cpuUs / 1e6);
    const before = await server.figures();
    const allBefore = await cpuOf();
    const databaseBefore = cpuSecondsOf(postgres);
    const startedAt = performance.now();
    await delay(seconds * 1_000);
    const after = await server.figures();
    const allAfter = await cpuOf();
    const database = cpuSecondsOf(postgres) - databaseBefore;
    const took = (performance.now() - startedAt) / 1_000;
    const report = await clients.figures("report");
    if (report.failure !== undefined) throw new Error(`${name}: ${report.failure}`);
    await untilSealed(clients, turns);
    return {
      ...report,
      deltasPerSecond: report.deltas / took,
      share: (after.cpuUs - before.cpuUs) / 1e6 / took,
      database: database / took,
      cores: (allAfter.reduce((sum, cpu, index) => sum + cpu - allBefore[index], 0) + database) / took,
      rss: after.rss,
    };
  } finally {
    await clients?.stop();
    await server.stop();
    await upstream.stop();
  }
}

/** Waits until every turn has ended. */
async function untilSealed(clients, wanted) {
  for (let waited = 0; waited < 120; waited++) {
    const { sealed } = await clients.figures("report");
    if (sealed === wanted) return;
    await delay(500);
  }
  throw new Error("not every turn came to its end");
}

/**
 * Creates a conversation for each user; beforehand, so that each client is subscribed from its turn's first
 * event on.
 */
async function createConversations({ url, started: { secrets } }) {
  const conversations = [];
  for (const secret of secrets) {
    const response = await fetch(`${url}/conversations`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: "{}",
    });
    if (!response.ok) throw new Error(`POST /conversations answered ${response.status}`);
    conversations.push({ id: (await response.json()).conversation.id, secret });
  }
  return conversations;
}

const ms = (value) => `${value.toFixed(1)} ms`;
const percent = (share) => `${(share * 100).toFixed(0)} %`;

export const scenario = {
  name: "load",
  title: `many turns at ${perSecond} deltas/s each from a model's API, journaled to PostgreSQL, a socket for each`,
  async run({ quick, log }) {
    const postgres = await startPostgres();
    if (postgres === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    const seconds = quick ? 5 : 15;
    const rounds = quick ? 1 : 3;
    const tables = [];
    try {
      for (const load of loads) tables.push(await measure(load, { seconds, rounds, postgres, log }));
      return tables;
    } finally {
      await postgres.stop();
    }
  },
};

async function measure({ turns, addedMs, withinMs }, { seconds, rounds, postgres, log }) {
  let databases = 0;
  const contestants = [
    {
      name: "parse and forward, keeps nothing",
      server: "parseAndForward",
      createAll: async (_, count) => Array.from({ length: count }, (_, index) => ({ id: `load-${index}` })),
    },
    {
      name: "Parley on PostgreSQL",
      server: "parley",
      createAll: createConversations,
      prepare: async () => ({
        store: { url: await createDatabase(postgres, `load_${turns}_${databases++}`) },
        owners: turns,
      }),
    },
  ].map((contestant) => ({ ...contestant, samples: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) {
      log(`  ${turns} turns, round ${round + 1} of ${rounds}: ${contestant.name}`);
      const options = await contestant.prepare?.();
      contestant.samples.push(await stretch({ ...contestant, options }, { turns, seconds, postgres }));
    }
  }
  const figure = ({ samples }, key) => median(samples.map((sample) => sample[key]));
  const [plain, ours] = contestants;
  const ratio = median(ours.samples.map(({ share }, round) => share / plain.samples[round].share));
  const p99 = figure(ours, "p99");
  const added = median(ours.samples.map((sample, round) => sample.p99 - plain.samples[round].p99));
  const kept = figure(ours, "deltasPerSecond") / (turns * perSecond);
  const verdict = (isMet) => (isMet ? "PASS" : "MISS");
  return {
    title: `all ${turns} turns under way for ${seconds} s (${cpus().length} cores, median of ${rounds})`,
    columns: ["", "deltas/s", "latency p50", "p99", "most", "CPU", "ratio", "PostgreSQL", "memory"],
    rows: contestants.map((contestant) => [
      contestant.name,
      String(Math.round(figure(contestant, "deltasPerSecond"))),
      ms(figure(contestant, "p50")),
      ms(figure(contestant, "p99")),
      ms(figure(contestant, "most")),
      percent(figure(contestant, "share")),
      contestant === plain ? "1x" : `${ratio.toFixed(2)}x`,
      contestant === plain ? "" : percent(figure(contestant, "database")),
      `${Math.round(figure(contestant, "rss") / 1e6)} MB`,
    ]),
    statements: [
      `${figure(plain, "cores").toFixed(1)} of ${cpus().length} cores are busy through parse and forward (API, server, clients), ${figure(ours, "cores").toFixed(1)} through Parley (with PostgreSQL)`,
      `${verdict(kept >= 0.95)}  ${percent(kept)} of ${turns * perSecond} deltas/s were delivered one by one`,
      ...(addedMs === undefined
        ? []
        : [
            `${verdict(added <= addedMs)}  99 of 100 deltas reach their client within ${ms(added)} more than through parse and forward, target at most ${addedMs} ms`,
          ]),
      ...(withinMs === undefined
        ? []
        : [
            `${verdict(p99 <= withinMs)}  99 of 100 deltas reach their client ${ms(p99)} after they left the API, target at most ${withinMs} ms`,
          ]),
      `${verdict(ratio <= 2)}  ${ratio.toFixed(2)}x the CPU of parse and forward, target at most 2x`,
    ],
  };
}
