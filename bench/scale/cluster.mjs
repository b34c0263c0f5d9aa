// A cluster on this machine: nodes, database servers, a model's API and people who talk, each in its own process.
import { setTimeout as delay } from "node:timers/promises";
import { cpuSecondsOf } from "../postgres-server.mjs";
import { createDatabase, databaseBytes, withClient } from "../turn-stores/postgres-size.mjs";
import { startChild } from "../whole-path/child.mjs";

let clusters = 0;

/**
 * Starts `nodes` nodes on the given database servers, with a key and a conversation for each of `people` persons.
 * One server has one schema, as by default; several have one shard each.
 */
export async function startCluster({ servers, nodes, people, answer }) {
  const name = `scale_${clusters++}`;
  const urls = await Promise.all(servers.map((server) => createDatabase(server, name)));
  const [first = ""] = urls;
  const shards = urls.map((url, index) => ({ name: `s${index}`, url }));
  const store = urls.length === 1 ? { url: first } : { shards };
  const upstream = await startChild("./upstream.mjs", "startUpstream", { ...answer, stamped: true });
  const started = [];
  const stop = async () => {
    await Promise.all(started.map((node) => node.stop()));
    await upstream.stop();
  };
  try {
    for (let index = 0; index < nodes; index += 1) {
      const owners = index === 0 ? people : 0;
      started.push(await startChild("./servers.mjs", "parley", { upstream: upstream.url, store, owners }));
    }
    const [{ url, started: start }] = started;
    const conversations = [];
    for (const secret of start.secrets)
      conversations.push({ secret, id: await createConversation(url, secret) });
    return { servers, urls, nodes: started, people: conversations, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createConversation(url, secret) {
  const response = await fetch(`${url}/conversations`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: "{}",
  });
  if (!response.ok)
    throw new Error(`POST /conversations answered ${response.status}: ${await response.text()}`);
  return (await response.json()).conversation.id;
}

/** CPU of every process, commits and write-ahead log of the cluster so far. */
async function readCounters({ nodes, servers, urls }) {
  const [ofNodes, ofServers] = await Promise.all([
    Promise.all(nodes.map((node) => node.figures())),
    Promise.all(urls.map(databaseCounters)),
  ]);
  return {
    at: performance.now(),
    nodes: ofNodes.map(({ cpuUs }) => cpuUs / 1e6),
    memory: ofNodes.map(({ rss }) => rss),
    servers: servers.map((server) => cpuSecondsOf(server)),
    commits: ofServers.map(({ commits }) => commits),
    wal: ofServers.map(({ wal }) => wal),
  };
}

function databaseCounters(url) {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal,
              (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS commits`,
    );
    return rows[0];
  });
}

/** Returns what the cluster used within `seconds`: in cores, and per second. */
export async function observe(cluster, seconds) {
  const before = await readCounters(cluster);
  await delay(seconds * 1_000);
  const after = await readCounters(cluster);
  const took = (after.at - before.at) / 1_000;
  const rates = (key) => after[key].map((value, index) => (value - before[key][index]) / took);
  return {
    nodes: rates("nodes"),
    servers: rates("servers"),
    commits: sum(rates("commits")),
    wal: sum(rates("wal")),
    memory: after.memory,
  };
}

/** Lets all people talk; returns what the cluster used meanwhile, with the rates of turns and deltas. */
export async function observeTalk(cluster, { everyMs, warmUpSeconds, seconds, followed, busyNodes }) {
  const urls = cluster.nodes.slice(0, busyNodes).map(({ url }) => url);
  const clients = await startChild("./people-clients.mjs", "talk", {
    urls,
    people: cluster.people,
    everyMs,
    followed,
  });
  try {
    await clients.figures("start");
    await delay(warmUpSeconds * 1_000);
    await clients.figures("mark");
    const used = await observe(cluster, seconds);
    const report = await clients.figures("report");
    await untilEnded(clients);
    if (report.failure !== undefined) throw new Error(`a client received: ${report.failure}`);
    return {
      ...used,
      turnsPerSecond: report.turns / seconds,
      deltasPerSecond: report.deltas / seconds,
      bytesPerSecond: report.bytes / seconds,
      late: report.late,
      p50: report.p50,
      p99: report.p99,
    };
  } finally {
    await clients.stop();
  }
}

/** Sends no more messages, and waits until every answer has ended. */
async function untilEnded(clients) {
  await clients.figures("stop");
  for (let waited = 0; waited < 240; waited += 1) {
    const { running } = await clients.figures("report");
    if (running === 0) return;
    await delay(250);
  }
  throw new Error("not every answer came to its end");
}

/** Returns the bytes of all tables and indexes, and the number of turns in them. */
export async function storedIn({ urls }) {
  const sizes = [];
  for (const url of urls) {
    const bytes = await databaseBytes(url);
    const turns = await withClient(url, async (client) => {
      const { rows } = await client.query("SELECT count(*)::int AS turns FROM parley.conversation_turn");
      return rows[0].turns;
    });
    sizes.push({ bytes, turns });
  }
  return { bytes: sum(sizes.map(({ bytes }) => bytes)), turns: sum(sizes.map(({ turns }) => turns)) };
}

/** Returns the memory that an idle socket takes on the first node. */
export async function memoryOfSockets({ nodes: [node], people }, sockets) {
  const before = await node.figures("gc");
  const clients = await startChild("./people-clients.mjs", "idle", {
    url: node.url,
    secrets: people.map(({ secret }) => secret),
    sockets,
  });
  const after = await node.figures("gc");
  await clients.stop();
  return (after.rss - before.rss) / sockets;
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);
