// The model of load: what a turn and a delta take of a node and of a database, from measured periods.
import { sum } from "./cluster.mjs";

/**
 * Derives the costs of a turn, of a delta, and of a node that writes to a server at all, from three periods, after the
 * idle use is subtracted. The last one is there because a node writes the deltas of all its turns on a server together,
 * at a fixed rate: the fewer of them there are, the more each takes.
 */
function solve(periods, figureOf) {
  const rows = periods.map((period) => [period.turnsPerSecond, period.deltasPerSecond, 1, figureOf(period)]);
  for (const [index] of rows.entries()) {
    const pivot = rows[index];
    for (const [other, row] of rows.entries()) {
      if (other === index) continue;
      const factor = row[index] / pivot[index];
      rows[other] = row.map((value, column) => value - factor * pivot[column]);
    }
  }
  const [turn, delta, writing] = rows.map((row, index) => row[3] / row[index]);
  return { turn, delta, writing };
}

/** Creates the model from periods on one node and one server, and idle periods with one and with three servers. */
export function createModel({ idle, idleOnThree, short, long, thin }) {
  const idleNode = sum(idle.nodes);
  const idleServer = sum(idle.servers);
  const nodePerServer = Math.max(0, (sum(idleOnThree.nodes) - idleNode) / 2);
  const costs = (figureOf) => solve([short, long, thin], figureOf);
  const node = costs(({ nodes }) => sum(nodes) - idleNode);
  const database = costs(({ servers }) => sum(servers) - idleServer);
  return {
    node,
    database,
    wal: costs(({ wal }) => wal - idle.wal),
    commits: costs(({ commits }) => commits - idle.commits),
    sent: costs(({ bytesPerSecond }) => bytesPerSecond),
    idle: { node: idleNode, nodePerServer, server: idleServer },
    /** Returns the cores that all nodes and all servers together take. */
    predict({ nodes, servers }, { turnsPerSecond, deltasPerSecond }) {
      const work = ({ turn, delta, writing }) =>
        turn * turnsPerSecond + delta * deltasPerSecond + writing * nodes * servers;
      return {
        nodes: nodes * (idleNode + nodePerServer * (servers - 1)) + work(node),
        servers: nodes * servers * idleServer + work(database),
      };
    },
  };
}

/** Habits of people: a message every two minutes, and an answer that takes eight seconds. */
export const habit = { everySeconds: 120, deltas: 400, answerSeconds: 8 };

/** Planned use: of the core of a node, and of the cores of a database server. */
export const planned = { share: 0.6, serverCores: 8, connectionsPerNode: 11 };

/** Returns what a number of people who talk at once needs. */
export function project(model, people, { storedPerTurn, bytesPerSocket }) {
  const turnsPerSecond = people / habit.everySeconds;
  const deltasPerSecond = turnsPerSecond * habit.deltas;
  const load = { turnsPerSecond, deltasPerSecond };
  const { nodes, servers } = placesFor(model, load);
  const predicted = model.predict({ nodes, servers }, load);
  const work = ({ turn, delta, writing }) =>
    turn * turnsPerSecond + delta * deltasPerSecond + writing * nodes * servers;
  return {
    people,
    ...load,
    running: turnsPerSecond * habit.answerSeconds,
    nodeCores: predicted.nodes,
    nodes,
    databaseCores: predicted.servers,
    servers,
    connectionsPerServer: nodes * planned.connectionsPerNode,
    commitsPerSecond: work(model.commits),
    walPerSecond: work(model.wal),
    sentPerSecond: work(model.sent),
    storedPerDay: turnsPerSecond * 86_400 * storedPerTurn,
    memoryOfSockets: people * bytesPerSocket,
  };
}

/**
 * Returns the fewest nodes and servers whose planned use is not exceeded. Each further one adds work of its own, so that
 * their numbers follow from each other; `undefined` if no number is enough.
 */
function placesFor(model, load) {
  let nodes = 1;
  let servers = 1;
  for (let step = 0; step < 1_000; step += 1) {
    const predicted = model.predict({ nodes, servers }, load);
    const next = {
      nodes: Math.max(nodes, Math.ceil(predicted.nodes / planned.share)),
      servers: Math.max(servers, Math.ceil(predicted.servers / (planned.serverCores * planned.share))),
    };
    if (next.nodes === nodes && next.servers === servers) return next;
    ({ nodes, servers } = next);
    if (nodes > 1e6 || servers > 1e6) break;
  }
  return { nodes: Number.NaN, servers: Number.NaN };
}
