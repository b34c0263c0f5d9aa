// Costs that grow with sockets: a turn's latency with many sockets of its owner, its statements, and idle
// sockets with keys.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { ms } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";
import { startChild } from "../whole-path/child.mjs";
import { openReader } from "../whole-path/websocket-reader.mjs";

const latencyTarget = 1.5;
const statementTarget = 10;
const idleTarget = 0.01;

const share = (value) => `${(value * 100).toFixed(2)} %`;
const verdict = (isMet, line) => `${isMet ? "PASS" : "MISS"}  ${line}`;

/** Opens a socket that sends messages and waits for the end of each turn. */
async function openClient(url) {
  let onSealed = () => {};
  const socket = await openReader(Number(new URL(url).port), (bytes, start, end) => {
    if (bytes.latin1Slice(start, Math.min(end, start + 80)).includes('"turn-sealed"')) onSealed();
  });
  return {
    /** Resolves with the duration of the turn, from the message to its end. */
    turn(conversationId) {
      return new Promise((resolve) => {
        const from = performance.now();
        onSealed = () => resolve(performance.now() - from);
        socket.send({ type: "chat.send", conversationId, message: "Go." });
      });
    },
  };
}

/** Runs turns one after the other while this many sockets of their owner are open. */
async function measureTurns(postgres, { sockets, turns, name }) {
  const server = await startChild("./socket-servers.mjs", "parley", {
    store: { url: await createDatabase(postgres, name) },
  });
  let clients;
  try {
    const others = sockets - 1;
    clients = await startChild("./socket-clients.mjs", "stay", { url: server.url, sockets: others });
    const client = await openClient(server.url);
    for (let turn = 0; turn < 100; turn += 1) await client.turn("warm");
    await sleep(1_000);
    const before = await server.figures("statements");
    const cpuBefore = await server.figures();
    const receivedBefore = await clients.figures("received");
    const times = [];
    for (let turn = 0; turn < turns; turn += 1) times.push(await client.turn("measured"));
    const { cpuUs } = await server.figures();
    // The remaining reads and messages of the turns, but not the polls of a long idle period.
    await sleep(500);
    const after = await server.figures("statements");
    const received = await clients.figures("received");
    times.sort((left, right) => left - right);
    return {
      sockets,
      median: median(times),
      p95: times[Math.floor(times.length * 0.95)],
      cpuMs: (cpuUs - cpuBefore.cpuUs) / 1_000 / turns,
      statements: (after.statements - before.statements) / turns,
      received: others === 0 ? 0 : (received.messages - receivedBefore.messages) / others,
    };
  } finally {
    await clients?.stop();
    await server.stop();
  }
}

async function growth(postgres, { quick, log }) {
  const turns = quick ? 60 : 300;
  const measured = [];
  for (const sockets of quick ? [1, 1_000] : [1, 1_000, 4_000]) {
    log(`  ${sockets} sockets of one owner`);
    measured.push(await measureTurns(postgres, { sockets, turns, name: `sockets_${sockets}` }));
  }
  const [alone, ...grown] = measured;
  return {
    title: `${turns} turns one after the other, by the sockets of their owner, on ${postgres.name}`,
    columns: [
      "sockets",
      "turn, median",
      "95 %",
      "ratio",
      "CPU per turn",
      "statements per turn",
      "notices per socket",
    ],
    rows: measured.map((each) => [
      each.sockets,
      ms(each.median),
      ms(each.p95),
      `${(each.median / alone.median).toFixed(2)}x`,
      ms(each.cpuMs),
      each.statements.toFixed(1),
      Math.round(each.received),
    ]),
    statements: [
      ...grown.map(({ sockets, median: taken }) => {
        const ratio = taken / alone.median;
        const line = `a turn with ${sockets} sockets of its owner takes ${ratio.toFixed(2)}x of one with 1`;
        return verdict(ratio <= latencyTarget, `${line}, target at most ${latencyTarget}x`);
      }),
      verdict(
        alone.statements <= statementTarget,
        `a watched turn takes ${alone.statements.toFixed(1)} statements, target at most ${statementTarget}`,
      ),
    ],
  };
}

/** Measures the activity of the process and the database while idle. */
async function rest(server, postgres, restMs) {
  const before = { node: await server.figures(), database: cpuSecondsOf(postgres) };
  await sleep(restMs);
  const after = { node: await server.figures(), database: cpuSecondsOf(postgres) };
  return {
    node: (after.node.cpuUs - before.node.cpuUs) / 1_000 / restMs,
    database: ((after.database - before.database) * 1_000) / restMs,
  };
}

async function idle(postgres, { quick, log }) {
  const sockets = quick ? 1_000 : 5_000;
  // Two pings of each socket, and many checks of its key.
  const restMs = quick ? 15_000 : 60_000;
  const rows = [];
  const figures = new Map();
  for (const [name, options, count] of [
    ["none", { keys: 1 }, 0],
    [`${sockets} with a key each, of one owner`, { keys: sockets, owners: 1 }, sockets],
    [`${sockets} with a key each, of an owner each`, { keys: sockets, owners: sockets }, sockets],
  ]) {
    log(`  idle: ${name}`);
    const url = await createDatabase(postgres, `idle_${rows.length}`);
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
    const secrets = join(folder, "secrets.json");
    const server = await startChild("./socket-servers.mjs", "parley", {
      store: { url },
      secrets,
      ...options,
    });
    let clients;
    try {
      clients = await startChild("./socket-clients.mjs", "stay", {
        url: server.url,
        sockets: count,
        secrets,
      });
      await sleep(3_000);
      await server.figures("gc");
      await sleep(2_000);
      const figure = await rest(server, postgres, restMs);
      figures.set(name, figure);
      rows.push([name, share(figure.node), share(figure.database)]);
    } finally {
      await clients?.stop();
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  }
  const [[, none], ...others] = figures;
  return {
    title: `idle sockets with keys, over ${restMs / 1_000} s, on ${postgres.name}`,
    columns: ["sockets", "CPU of the node, of one core", "CPU of the database, of one core"],
    rows,
    statements: others.map(([name, { node, database }]) => {
      const [ofNode, ofDatabase] = [node - none.node, database - none.database];
      return verdict(
        ofNode < idleTarget,
        `${name}: ${share(ofNode)} of a core more than none (the database ${share(ofDatabase)}), target below 1 %`,
      );
    }),
  };
}

export const scenario = {
  name: "sockets",
  title: "what grows with sockets: a turn's latency and statements, and idle sockets with keys",
  async run(options) {
    const postgres = await startPostgres();
    if (postgres === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    try {
      return [await growth(postgres, options), await idle(postgres, options)];
    } finally {
      await postgres.stop();
    }
  },
};
