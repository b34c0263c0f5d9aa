// One turn told to many sockets: the whole server beside `ws` with frames built once, at the same pace.
import { startChild } from "../load-child.mjs";
import { median } from "../summarise.mjs";

const EVERY_MS = 10;
const limit = { name: "ws, frame built once", mode: "ws" };
const plain = { name: "Parley, one message per frame", mode: "parley", protocol: "parley.v1" };
const batch = { name: "Parley, parley.v1.batch", mode: "parley", protocol: "parley.v1.batch" };
const contestants = [plain, limit, batch];

/** The CPU of one turn in the server's process, in microseconds. */
async function tellOnce({ contestant, server, clients, deltas, frames }) {
  await clients.ask({ type: "expect", name: contestant.name });
  await server.ask({ type: "start", frames });
  await clients.ask({ type: "heard", name: contestant.name, deltas });
  return (await server.ask({ type: "stop" })).cpuUs;
}

async function measure({ sockets, deltas, rounds, log }) {
  const servers = new Map();
  const samples = new Map(contestants.map(({ name }) => [name, []]));
  const children = [];
  const start = async (...args) => {
    const child = await startChild(...args);
    children.push(child);
    return child;
  };
  try {
    const clients = await start("./fan-out-clients.mjs");
    const execArgv = [...process.execArgv, "--expose-gc"];
    for (const { name, mode, protocol } of contestants) {
      log(`  ${sockets} sockets for ${name}`);
      const server = await start("./fan-out-server.mjs", [mode, deltas, EVERY_MS], { execArgv });
      servers.set(name, server);
      await clients.ask({ type: "open", name, url: server.url, protocol, sockets });
    }
    const tell = (contestant, frames) =>
      tellOnce({ contestant, server: servers.get(contestant.name), clients, deltas, frames });
    log("  warming up");
    await tell(plain);
    // The limit sends what Parley's turn told, event by event.
    const { texts } = await clients.ask({ type: "record", name: plain.name });
    await tell(limit, texts);
    await tell(batch);
    for (let round = 0; round < rounds; round += 1) {
      log(`  round ${round + 1} of ${rounds}`);
      const order = [0, 1, 2].map((n) => contestants[(n + round) % 3]);
      for (const contestant of order) {
        const cpuUs = await tell(contestant, contestant === limit ? texts : undefined);
        samples.get(contestant.name).push(cpuUs / (texts.length * sockets));
      }
    }
    return { samples, frames: texts.length, bytes: texts.join("").length };
  } finally {
    await Promise.all(children.map((child) => child.dismiss()));
  }
}

export const scenario = {
  name: "fan-out",
  title: "one turn of the runtime through the server to many sockets, memory store",
  async run({ quick, log }) {
    const sockets = quick ? 300 : 1_000;
    const deltas = quick ? 100 : 200;
    const rounds = 5;
    const { samples, frames, bytes } = await measure({ sockets, deltas, rounds, log });
    const us = (value) => `${value.toFixed(2)} us`;
    const against = samples.get(limit.name);
    const ratioOf = ({ name }) => median(samples.get(name).map((sample, round) => sample / against[round]));
    const rows = contestants.map((contestant) => {
      const own = samples.get(contestant.name);
      return [
        contestant.name,
        us(median(own)),
        `${us(Math.min(...own))} .. ${us(Math.max(...own))}`,
        contestant === limit ? "1x" : `${ratioOf(contestant).toFixed(2)}x`,
      ];
    });
    const statement = (contestant) => {
      const ratio = ratioOf(contestant);
      return `${ratio <= 1 ? "PASS" : "MISS"}  ${contestant.name}: ${ratio.toFixed(2)}x of ${limit.name} (at most 1x)`;
    };
    return [
      {
        title:
          `${sockets} sockets, ${frames} messages of ${Math.round(bytes / frames)} characters, a delta each ${EVERY_MS} ms ` +
          `(CPU of the server per delivery, median of ${rounds} rounds)`,
        columns: ["server", "CPU", "min .. max", "ratio"],
        rows,
        statements: [statement(plain), statement(batch)],
      },
    ];
  },
};
