// One turn to a thousand sockets: CPU per delivery of the server, compared with `ws` with a frame built once.
import { cpus } from "node:os";
import { startPostgres } from "../postgres-server.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";
import { startChild } from "../whole-path/child.mjs";

const conversationId = "fan-out";

/**
 * Starts fresh processes for one measurement: a server, sockets that follow, a stream of a second that warms
 * the server up, and the measured one, from its first event to its last.
 */
async function stretch({ server: name, options, go, subscribe }, { sockets, perSecond, deltas }) {
  const warmUp = perSecond;
  const server = await startChild("./fan-out-servers.mjs", name, { ...options, perSecond, warmUp, deltas });
  const clients = [];
  try {
    // In two processes, so that they keep up if there are enough cores.
    const half = Math.ceil(sockets / 2);
    for (const count of [half, sockets - half])
      clients.push(
        await startChild("./fan-out-clients.mjs", "follow", { url: server.url, sockets: count, subscribe }),
      );
    await go(server.url);
    const receivedBefore = await allReceived(clients, sockets * warmUp);
    const before = await server.figures("gc");
    const startedAt = performance.now();
    await go(server.url);
    const received = (await allReceived(clients, sockets * (warmUp + deltas))) - receivedBefore;
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = await server.figures();
    return { us: (after.cpuUs - before.cpuUs) / received, perSecond: received / seconds };
  } finally {
    for (const client of clients) await client.stop();
    await server.stop();
  }
}

/**
 * Waits until every socket has received every delta; throws if deliveries stop before that. Returns the
 * number of messages: a turn has some of its own, which are deliveries like the others.
 */
async function allReceived(clients, wanted) {
  let last = -1;
  let since = performance.now();
  for (;;) {
    const answers = await Promise.all(clients.map((client) => client.figures("received")));
    const received = answers.reduce((sum, answer) => sum + answer.deltas, 0);
    if (received === wanted) return answers.reduce((sum, answer) => sum + answer.messages, 0);
    if (received > wanted) throw new Error(`${received} deliveries instead of ${wanted}`);
    if (received !== last) since = performance.now();
    if (performance.now() - since > 30_000)
      throw new Error(`${received} of ${wanted} deliveries, and no more`);
    last = received;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function sayGo(url) {
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  socket.send("go");
  // It stays until the process ends: it also receives the stream, but is not counted.
  socket.on("error", () => {});
  return socket;
}

async function sendMessage(url) {
  const response = await fetch(`${url}/conversations/${conversationId}/queue`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "go", mode: "queue" }),
  });
  if (!response.ok) throw new Error(`the message was answered with ${response.status}`);
}

async function compare(all, { shape, rounds, target, log }) {
  const contestants = all.map((contestant) => ({ ...contestant, samples: [] }));
  for (let round = 0; round < rounds; round++) {
    log(`  ${shape.perSecond} deltas/s to ${shape.sockets} sockets: round ${round + 1} of ${rounds}`);
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const options = await contestant.prepare?.();
      contestant.samples.push(await stretch({ ...contestant, options }, shape));
    }
  }
  const [limit] = contestants;
  const ratioOf = ({ samples }) => median(samples.map(({ us }, round) => us / limit.samples[round].us));
  const figure = ({ samples }, key) => median(samples.map((sample) => sample[key]));
  const ours = ratioOf(contestants.at(-1));
  return {
    title: `${shape.deltas} deltas at ${shape.perSecond}/s to ${shape.sockets} sockets: CPU per delivery of the server's process (${cpus().length} cores, median of ${rounds})`,
    columns: ["", "kind", "CPU", "deliveries/s", "ratio to the limit"],
    rows: contestants.map((contestant) => [
      contestant.name,
      contestant.kind,
      `${figure(contestant, "us").toFixed(2)} us`,
      `${Math.round(figure(contestant, "perSecond"))}`,
      `${ratioOf(contestant).toFixed(2)}x`,
    ]),
    statements: [
      `${ours <= target ? "PASS" : "MISS"}  Parley: ${ours.toFixed(2)}x of ws with a frame made once, target at most ${target}x`,
    ],
  };
}

export const scenario = {
  name: "fan-out",
  title: "one turn to 100 and 1,000 sockets, each delta delivered to each",
  async run({ quick, log }) {
    const postgres = await startPostgres();
    if (postgres === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    let databases = 0;
    const contestants = [
      { name: "ws, a frame made once", kind: "limit", server: "frameOnce", go: sayGo },
      { name: "ws, a text for each socket", kind: "peer", server: "textForEach", go: sayGo },
      {
        name: "Parley on PostgreSQL",
        kind: "ours",
        server: "parley",
        go: sendMessage,
        subscribe: { type: "chat.subscribe", conversationId },
        prepare: async () => ({ store: { url: await createDatabase(postgres, `fan_out_${databases++}`) } }),
      },
    ];
    const tables = [];
    try {
      // With one delta per write nearly all is the system's work, which varies more between rounds than ours.
      for (const { sockets, perSecond, fullRounds, target } of [
        { sockets: 1_000, perSecond: 200, fullRounds: 5, target: 1 },
        { sockets: 1_000, perSecond: 50, fullRounds: 9, target: 1 },
        // With fewer sockets the turn's own costs are shared by fewer deliveries.
        { sockets: 100, perSecond: 200, fullRounds: 5, target: 1.1 },
      ]) {
        const rounds = quick ? 2 : fullRounds;
        const shape = { sockets, perSecond, deltas: quick ? 2 * perSecond : 6 * perSecond };
        tables.push(await compare(contestants, { shape, rounds, target, log }));
      }
      return tables;
    } finally {
      await postgres.stop();
    }
  },
};
