// What a core carries: a model of load from measured periods, checked against clusters of several nodes and servers.
import { cpus } from "node:os";
import { startPostgres } from "../postgres-server.mjs";
import { memoryOfSockets, observe, observeTalk, startCluster, storedIn, sum } from "../scale/cluster.mjs";
import { createModel, habit, planned, project } from "../scale/model.mjs";
import { median } from "../summarise.mjs";

const perSecond = 50;

/** Loads from which the model follows: short answers, long ones, few of them. And one that it must predict. */
const loads = {
  short: { people: 100, everyMs: 2_000, answer: { deltas: 10, perSecond } },
  long: { people: 200, everyMs: 12_000, answer: { deltas: 400, perSecond } },
  thin: { people: 10, everyMs: 12_000, answer: { deltas: 400, perSecond } },
  mixed: { people: 150, everyMs: 6_000, answer: { deltas: 150, perSecond } },
};

const nodeCounts = [1, 2, 4];
const serverCounts = [1, 2, 3];

export const scenario = {
  name: "scale",
  title:
    "what a core of a node and of a database carries, predicted and measured, on one to four nodes and one to three servers",
  page: "docs/scale.md",
  async run({ quick, log }) {
    const servers = [];
    for (let index = 0; index < Math.max(...serverCounts); index += 1) {
      const server = await startPostgres();
      if (server === undefined)
        return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
      servers.push(server);
    }
    const pace = { seconds: quick ? 8 : 15, warmUpSeconds: quick ? 5 : 8, rounds: quick ? 1 : 2 };
    try {
      return await measure(servers, pace, log);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

async function measure(servers, pace, log) {
  const { model, bystander, elsewhere, ...sizes } = await calibrate(servers, pace, log);
  const runs = await check(servers, model, pace, log);
  return [
    costs({ model, bystander, elsewhere, ...sizes }, servers[0].name),
    checked(runs, pace),
    projected(model, sizes),
  ];
}

/** Runs the periods that the model follows from. */
async function calibrate(servers, { seconds, warmUpSeconds, rounds }, log) {
  const talk = async (name, cluster, options) => {
    const { everyMs } = loads[name];
    return observeTalk(cluster, { everyMs, warmUpSeconds, seconds, ...options });
  };
  const withCluster = async (title, { name, nodes = 1, count = 1 }, work) => {
    log(`  ${title}`);
    const { people, answer } = loads[name];
    const cluster = await startCluster({ servers: servers.slice(0, count), nodes, people, answer });
    try {
      return await work(cluster);
    } finally {
      await cluster.stop();
    }
  };
  const samples = [];
  const sizes = [];
  for (let round = 1; round <= rounds; round += 1) {
    const of = `round ${round} of ${rounds}: `;
    const short = await withCluster(`${of}short answers`, { name: "short" }, async (cluster) => ({
      idle: await observe(cluster, seconds),
      bytesPerSocket: await memoryOfSockets(cluster, 2_000),
      used: await talk("short", cluster),
    }));
    const long = await withCluster(`${of}long answers`, { name: "long" }, async (cluster) => {
      const before = await storedIn(cluster);
      const used = await talk("long", cluster);
      const after = await storedIn(cluster);
      return { used, storedPerTurn: (after.bytes - before.bytes) / (after.turns - before.turns) };
    });
    const thin = await withCluster(`${of}few long answers`, { name: "thin" }, (cluster) =>
      talk("thin", cluster),
    );
    const idleOnThree = await withCluster(
      `${of}idle on three servers`,
      { name: "short", count: 3 },
      (cluster) => observe(cluster, seconds),
    );
    const idleBeside = await withCluster(
      `${of}an idle node beside a busy one`,
      { name: "long", nodes: 2 },
      (cluster) => talk("long", cluster, { busyNodes: 1 }),
    );
    const elsewhere = await withCluster(
      `${of}answers that are read at another node`,
      { name: "long", nodes: 2 },
      (cluster) => talk("long", cluster, { followed: true }),
    );
    samples.push({
      idle: short.idle,
      idleOnThree,
      short: short.used,
      long: long.used,
      thin,
      idleBeside,
      elsewhere,
    });
    sizes.push({ bytesPerSocket: short.bytesPerSocket, storedPerTurn: long.storedPerTurn });
  }
  const models = samples.map(createModel);
  const model = createModel(medianOf(samples));
  const { idle } = model;
  return {
    model,
    spread: { node: models.map((each) => each.node), database: models.map((each) => each.database) },
    /** CPU of a node that only receives the notifications of one busy node. */
    bystander: median(samples.map(({ idleBeside }) => idleBeside.nodes[1])) - idle.node,
    /** CPU of both nodes for a delta that is read at another node than the one of its turn, beyond the turn's own. */
    elsewhere: median(
      samples.map(({ elsewhere: { nodes, turnsPerSecond } }) => {
        // Readers elsewhere get the deltas of a write in one piece: what was sent by the model counts.
        const deltasPerSecond = turnsPerSecond * loads.long.answer.deltas;
        const own = model.predict({ nodes: 2, servers: 1 }, { turnsPerSecond, deltasPerSecond });
        return (sum(nodes) - own.nodes) / deltasPerSecond;
      }),
    ),
    bytesPerSocket: median(sizes.map(({ bytesPerSocket }) => bytesPerSocket)),
    storedPerTurn: median(sizes.map(({ storedPerTurn }) => storedPerTurn)),
  };
}

/** Takes the median of every figure over the rounds. */
function medianOf(samples) {
  const [first] = samples;
  if (typeof first === "number") return median(samples);
  if (Array.isArray(first)) return first.map((_, index) => medianOf(samples.map((sample) => sample[index])));
  return Object.fromEntries(
    Object.keys(first).map((key) => [key, medianOf(samples.map((sample) => sample[key]))]),
  );
}

/** Runs the load that the model must predict, on every number of nodes and servers. */
async function check(servers, model, { seconds, warmUpSeconds, rounds }, log) {
  const { people, everyMs, answer } = loads.mixed;
  const runs = [];
  for (const nodes of nodeCounts) {
    for (const count of serverCounts) {
      const samples = [];
      for (let round = 1; round <= rounds; round += 1) {
        log(`  ${nodes} nodes, ${count} servers, round ${round} of ${rounds}`);
        const cluster = await startCluster({ servers: servers.slice(0, count), nodes, people, answer });
        try {
          samples.push(await observeTalk(cluster, { everyMs, warmUpSeconds, seconds }));
        } finally {
          await cluster.stop();
        }
      }
      const used = medianOf(samples);
      runs.push({
        nodes,
        servers: count,
        used,
        predicted: model.predict({ nodes, servers: count }, used),
      });
    }
  }
  return runs;
}

const us = (seconds) => `${(seconds * 1e6).toFixed(1)} us`;
const ms = (seconds) => `${(seconds * 1e3).toFixed(2)} ms`;
const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
const kb = (bytes) => `${(bytes / 1e3).toFixed(bytes < 1e4 ? 2 : 0)} KB`;
const whole = (value) => Math.round(value).toLocaleString("en-US");
const amount = (value) => (value < 10 ? value.toFixed(1) : whole(value));

function costs({ model, bystander, elsewhere, spread, bytesPerSocket, storedPerTurn }, database) {
  const range = (values, format) => {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted.length === 1 ? "" : `${format(sorted[0])} .. ${format(sorted.at(-1))}`;
  };
  const { node, database: base, wal, commits, sent, idle } = model;
  const rangeOf = (kind, unit) =>
    range(
      spread[kind].map((each) => each[unit]),
      unit === "turn" ? ms : us,
    );
  return {
    title: `costs on one node and one server (${database}, ${cpus().length} cores)`,
    columns: ["", "per turn", "range", "per delta", "range", "for each node (and server)"],
    rows: [
      [
        "CPU of a node",
        ms(node.turn),
        rangeOf("node", "turn"),
        us(node.delta),
        rangeOf("node", "delta"),
        percent(node.writing),
      ],
      [
        "CPU of the database",
        ms(base.turn),
        rangeOf("database", "turn"),
        us(base.delta),
        rangeOf("database", "delta"),
        percent(base.writing),
      ],
      ["commits", commits.turn.toFixed(1), "", commits.delta.toFixed(3), "", commits.writing.toFixed(1)],
      ["write-ahead log", kb(wal.turn), "", `${wal.delta.toFixed(0)} B`, "", kb(wal.writing)],
      ["sent to the reader", kb(sent.turn), "", `${sent.delta.toFixed(0)} B`, "", ""],
    ],
    statements: [
      `an answer of ${loads.long.answer.deltas} deltas takes ${kb(storedPerTurn)} of tables and indexes when it is sealed`,
      `a delta that is read at another node than the one that runs the turn takes ${us(elsewhere)} more`,
      `an idle node takes ${percent(idle.node)} of a core, ${percent(idle.nodePerServer)} more for each further server, and ${percent(idle.server)} of a core of each database`,
      `beside a busy node, an idle one takes ${percent(Math.max(0, bystander))} of a core for its notifications`,
      `an idle socket takes ${kb(bytesPerSocket)} of memory`,
    ],
  };
}

function checked(runs, { seconds, rounds }) {
  const ratio = (measured, predicted) => measured / predicted;
  const rows = runs.map(({ nodes, servers, used, predicted }) => [
    String(nodes),
    String(servers),
    used.turnsPerSecond.toFixed(1),
    whole(used.deltasPerSecond),
    percent(sum(used.nodes)),
    percent(predicted.nodes),
    `${ratio(sum(used.nodes), predicted.nodes).toFixed(2)}x`,
    percent(sum(used.servers)),
    percent(predicted.servers),
    `${ratio(sum(used.servers), predicted.servers).toFixed(2)}x`,
    `${used.p50.toFixed(1)} ms`,
    `${used.p99.toFixed(1)} ms`,
  ]);
  const worst = (key) =>
    Math.max(...runs.map(({ used, predicted }) => Math.abs(ratio(sum(used[key]), predicted[key]) - 1)));
  const verdict = (error) => (error <= 0.3 ? "PASS" : "MISS");
  const { deltas } = loads.mixed.answer;
  return {
    title: `${loads.mixed.people} people, an answer of ${deltas} deltas every ${loads.mixed.everyMs / 1_000} s each, over ${seconds} s (median of ${rounds})`,
    columns: [
      "nodes",
      "servers",
      "turns/s",
      "deltas/s",
      "all nodes",
      "model",
      "ratio",
      "all servers",
      "model",
      "ratio",
      "latency p50",
      "p99",
    ],
    rows,
    statements: [
      `${verdict(worst("nodes"))}  the model is at most ${percent(worst("nodes"))} off for the nodes, target 30 %`,
      `${verdict(worst("servers"))}  the model is at most ${percent(worst("servers"))} off for the database servers, target 30 %`,
    ],
  };
}

function projected(model, sizes) {
  const columns = [1_000, 100_000, 1_000_000].map((people) => project(model, people, sizes));
  const row = (name, of) => [name, ...columns.map(of)];
  const mb = (bytes) => `${amount(bytes / 1e6)} MB`;
  return {
    title: `by the model: people who talk at once, each a message every ${habit.everySeconds} s and an answer of ${habit.deltas} deltas within ${habit.answerSeconds} s`,
    columns: ["", ...columns.map(({ people }) => whole(people))],
    rows: [
      row("turns/s", ({ turnsPerSecond }) => amount(turnsPerSecond)),
      row("turns running", ({ running }) => whole(running)),
      row("deltas/s", ({ deltasPerSecond }) => whole(deltasPerSecond)),
      row("installations", ({ cells }) => whole(cells)),
      row("cores of nodes", ({ nodeCores }) => nodeCores.toFixed(1)),
      row(`nodes, ${percent(planned.share)} of a core each`, ({ nodes }) => whole(nodes)),
      row("cores of databases", ({ databaseCores }) => databaseCores.toFixed(1)),
      row(`servers of ${planned.serverCores} cores, ${percent(planned.share)} of each`, ({ servers }) =>
        whole(servers),
      ),
      row("connections to each server", ({ connectionsPerServer }) => whole(connectionsPerServer)),
      row("commits/s", ({ commitsPerSecond }) => whole(commitsPerSecond)),
      row("write-ahead log per second", ({ walPerSecond }) => mb(walPerSecond)),
      row("sent to readers per second", ({ sentPerSecond }) => mb(sentPerSecond)),
      row("stored per day", ({ storedPerDay }) => `${amount(storedPerDay / 1e9)} GB`),
      row("memory of sockets", ({ memoryOfSockets: bytes }) => mb(bytes)),
    ],
  };
}
