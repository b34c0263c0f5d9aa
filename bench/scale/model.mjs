// The model of load: what a turn and a delta take of a node and of a database, from measured periods.
import { sum } from "./cluster.mjs";

/**
 * Derives the costs of a turn, of a delta, and of writing at all, from three periods, after the idle use is subtracted.
 * The last one is there because a node writes the deltas of all its turns on a server together, at a fixed rate: the
 * fewer of them there are, the more each takes. A figure without such a part follows from the first two periods.
 */
function solve([short, long, thin], figureOf) {
  const equation = (period) => [period.turnsPerSecond, period.deltasPerSecond, 1, figureOf(period)];
  const [turn, delta, writing] = eliminate([short, long, thin].map(equation));
  if (writing >= 0) return { turn, delta, writing };
  const [turnAlone, deltaAlone] = eliminate([short, long].map(equation).map(([a, b, , d]) => [a, b, d]));
  return { turn: turnAlone, delta: deltaAlone, writing: 0 };
}

/** Solves linear equations, each with its right side as the last number. */
function eliminate(equations) {
  const rows = [...equations];
  for (const [index] of rows.entries()) {
    const pivot = rows[index];
    for (const [other, row] of rows.entries()) {
      if (other === index) continue;
      const factor = row[index] / pivot[index];
      rows[other] = row.map((value, column) => value - factor * pivot[column]);
    }
  }
  return rows.map((row, index) => row.at(-1) / row[index]);
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
    /**
     * Returns the cores that all nodes and all servers together take. A node collects what it writes once for all
     * servers; each server receives a statement from each node.
     */
    predict({ nodes, servers }, { turnsPerSecond, deltasPerSecond }) {
      const work = ({ turn, delta, writing }, writers) =>
        turn * turnsPerSecond + delta * deltasPerSecond + writing * writers;
      return {
        nodes: nodes * (idleNode + nodePerServer * (servers - 1)) + work(node, nodes),
        servers: nodes * servers * idleServer + work(database, nodes * servers),
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
  const { cells, nodes, servers } = placesFor(model, { turnsPerSecond, deltasPerSecond });
  const predicted = model.predict(
    { nodes, servers },
    { turnsPerSecond: turnsPerSecond / cells, deltasPerSecond: deltasPerSecond / cells },
  );
  const work = ({ turn, delta, writing }) =>
    turn * turnsPerSecond + delta * deltasPerSecond + writing * nodes * servers * cells;
  return {
    people,
    turnsPerSecond,
    deltasPerSecond,
    running: turnsPerSecond * habit.answerSeconds,
    cells,
    nodeCores: cells * predicted.nodes,
    nodes: cells * nodes,
    databaseCores: cells * predicted.servers,
    servers: cells * servers,
    connectionsPerServer: nodes * planned.connectionsPerNode,
    commitsPerSecond: work(model.commits),
    walPerSecond: work(model.wal),
    sentPerSecond: work(model.sent),
    storedPerDay: turnsPerSecond * 86_400 * storedPerTurn,
    memoryOfSockets: people * bytesPerSocket,
  };
}

/** Most installations that a projection divides people into. */
const mostCells = 200;

/**
 * Returns a number of installations of their own ("cells"), with the nodes and servers of each. Within one, every node
 * writes to every server, which limits its size. The fewest cells are chosen that need at most one and a half times as
 * many database servers as the best division.
 */
function placesFor(model, { turnsPerSecond, deltasPerSecond }) {
  const divisions = [];
  for (let cells = 1; cells <= mostCells; cells += 1) {
    const load = { turnsPerSecond: turnsPerSecond / cells, deltasPerSecond: deltasPerSecond / cells };
    const places = placesOfCell(model, load);
    if (places !== undefined) divisions.push({ cells, ...places, total: cells * places.servers });
  }
  const fewest = Math.min(...divisions.map(({ total }) => total));
  const chosen = divisions.find(({ total }) => total <= 1.5 * fewest);
  if (chosen === undefined) throw new Error("the model finds no number of nodes and servers that is enough");
  return chosen;
}

/**
 * Returns the fewest nodes and servers of one installation whose planned use is not exceeded. Each further one adds
 * work of its own, so that their numbers follow from each other; `undefined` if no number is enough.
 */
function placesOfCell(model, load) {
  let nodes = 1;
  let servers = 1;
  while (nodes < 10_000 && servers < 1_000) {
    const predicted = model.predict({ nodes, servers }, load);
    const next = {
      nodes: Math.max(nodes, Math.ceil(predicted.nodes / planned.share)),
      servers: Math.max(servers, Math.ceil(predicted.servers / (planned.serverCores * planned.share))),
    };
    if (next.nodes === nodes && next.servers === servers) return next;
    ({ nodes, servers } = next);
  }
  return undefined;
}
