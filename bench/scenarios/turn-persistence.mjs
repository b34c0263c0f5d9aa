// One turn with two tool calls, made durable: the store compared with the same rows by hand-written SQL, and
// with peers.
import { cpus } from "node:os";
import { storeNames } from "../package-version.mjs";
import { startPostgres } from "../postgres-server.mjs";
import { median } from "../summarise.mjs";
import { openByHand } from "../turn-stores/by-hand.mjs";
import { openLangGraph } from "../turn-stores/langgraph.mjs";
import { openMastra } from "../turn-stores/mastra.mjs";
import { openParley, openStepByStep } from "../turn-stores/parley.mjs";
import { nextId, turnOf } from "../turn-stores/persisted-turn.mjs";
import { createDatabase, databaseBytes, walBytes, withoutWaiting } from "../turn-stores/postgres-size.mjs";
import { openRaw } from "../turn-stores/raw.mjs";

/** Concurrent turns, where several conversations write. */
const parallel = 16;

/** Required shares of the raw statements' speed, and the allowed ratio of write-ahead log. */
const targets = { alone: 0.75, parallel: 0.6, append: 0.5, wal: 2 };

/**
 * Runs this many turns, this many at a time, each worker in its own conversations of 1,000 turns. `verb` is
 * how a contestant writes them: as turns in four commits, or their messages appended in one call.
 */
async function runTurns(contestant, { turns, inFlight, verb = "turn" }) {
  contestant.workers ??= {};
  contestant.workers[verb] ??= Array.from({ length: parallel }, () => ({ id: nextId(), number: 0 }));
  const started = performance.now();
  const before = process.cpuUsage();
  await Promise.all(
    contestant.workers[verb].slice(0, inFlight).map(async (worker) => {
      for (let count = 0; count < turns / inFlight; count++) {
        if (worker.number === 1_000) Object.assign(worker, { id: nextId(), number: 0 });
        await contestant[verb](worker.id, worker.number++);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { ms: (performance.now() - started) / turns, cpuMs: (user + system) / 1_000 / turns };
}

async function measure(contestants, { turns, inFlight, verb, rounds, log }) {
  for (const contestant of contestants) await runTurns(contestant, { turns: turns * 4, inFlight, verb });
  const samples = contestants.map(() => []);
  for (let round = 0; round < rounds; round++) {
    if (round % 10 === 0) log(`  ${verb}, ${inFlight} at a time: round ${round + 1} of ${rounds}`);
    const order = contestants.map((_, place) => place);
    if (round % 2 === 1) order.reverse();
    for (const place of order)
      samples[place].push(await runTurns(contestants[place], { turns, inFlight, verb }));
  }
  /** Returns how many times faster one contestant is than another. */
  const speed = (place, against) =>
    median(samples[place].map(({ ms }, round) => samples[against][round].ms / ms));
  const placeOf = (wanted) => contestants.findIndex(({ key }) => key === wanted);
  const compared = ["raw", "by hand"].filter((key) => placeOf(key) !== -1);
  const rows = contestants.map(({ name }, place) => {
    const figure = (key) => median(samples[place].map((sample) => sample[key]));
    return [
      name,
      `${figure("ms").toFixed(3)} ms`,
      `${figure("cpuMs").toFixed(3)} ms`,
      ...compared.map((key) => `${speed(place, placeOf(key)).toFixed(2)}x`),
    ];
  });
  const columns = ["", "wall", "CPU of the node", ...compared.map((key) => `speed beside ${key}`)];
  return { rows, columns, speedBeside: (key) => speed(placeOf("ours"), placeOf(key)) };
}

const atLeast = (speed, wanted, subject) =>
  `${speed >= wanted ? "PASS" : "MISS"}  ${subject} ${speed.toFixed(2)}x of the raw statements' speed (at least ${wanted}x)`;

/**
 * Returns the bytes that a turn leaves in the database, early and late in conversations of 1,000 turns, and
 * its write-ahead log: of its own commits, and of the search index that is filled after them, all at once
 * here.
 */
async function bytesPerTurn(url, contestant, { conversations, turns }) {
  const ids = Array.from({ length: conversations }, nextId);
  const through = async (from, to) => {
    const before = await databaseBytes(url);
    const figures = { wal: 0, indexWal: 0, index: 0 };
    for (let number = from; number < to; number++) {
      const start = await walBytes(url);
      await Promise.all(ids.map((id) => contestant.turn(id, number)));
      figures.wal += (await walBytes(url)) - start;
    }
    const own = (await databaseBytes(url)) - before;
    const start = await walBytes(url);
    await contestant.index?.();
    figures.indexWal = (await walBytes(url)) - start;
    figures.index = (await databaseBytes(url)) - before - own;
    const turns = conversations * (to - from);
    return Object.fromEntries(Object.entries({ own, ...figures }).map(([name, sum]) => [name, sum / turns]));
  };
  const tenth = turns / 10;
  // Turns of earlier rounds must not be counted here.
  await contestant.index?.();
  const first = await through(0, tenth);
  await through(tenth, turns - tenth);
  const last = await through(turns - tenth, turns);
  return { first, last };
}

/** Grows a contestant's conversations to this many turns. */
function grow(server, contestant, to) {
  return withoutWaiting(server, async () => {
    contestant.grown ??= Array.from({ length: contestant.seed === undefined ? 5 : 1 }, nextId).map((id) => ({
      id,
      number: 0,
    }));
    await Promise.all(
      contestant.grown.map(async (each) => {
        if (contestant.seed !== undefined && to > each.number) {
          // A store that writes the whole conversation at each step would take an hour to get there turn by
          // turn.
          Object.assign(each, { id: nextId(), number: to });
          await contestant.seed(each.id, messagesOf(each.id, to));
        }
        while (each.number < to) await contestant.turn(each.id, each.number++);
      }),
    );
  });
}

/** Alternates the contestants' turns, so that a slow period of the machine affects all of them. */
async function lateTurns(contestants, turns) {
  const times = contestants.map(() => []);
  for (let count = 0; count < turns; count++) {
    for (const [place, contestant] of contestants.entries()) {
      // A store that takes a second and a megabyte per turn shows it in a few turns.
      if (contestant.seed !== undefined && count >= 5) continue;
      for (const each of contestant.grown) {
        const started = performance.now();
        await contestant.turn(each.id, each.number++);
        times[place].push(performance.now() - started);
      }
    }
  }
  return times;
}

function messagesOf(id, turns) {
  return Array.from({ length: turns }, () => {
    const { user, calling, results, last } = turnOf(id);
    return [user, calling, ...results, last];
  }).flat();
}

const bytes = (value) => (value < 10_000 ? `${Math.round(value)} B` : `${Math.round(value / 1_000)} KB`);

/**
 * Runs turns one after the other in conversations that already have this many: returns their speed, and the
 * bytes they leave.
 */
async function growth(server, contestants, { quick, log }) {
  const lengths = quick ? [10, 100] : [10, 100, 1_000];
  const sizes = () =>
    Promise.all(contestants.map((contestant) => databaseBytes(contestant.url, { compact: true })));
  const rows = contestants.map(({ name }) => [name]);
  for (const length of lengths) {
    const turns = length === 10 ? 10 : 20;
    for (const contestant of contestants) {
      log(`  growing to turn ${length}: ${contestant.name}`);
      await grow(server, contestant, length - (contestant.seed === undefined ? turns : 5));
    }
    const before = await sizes();
    const times = await lateTurns(contestants, turns);
    const after = await sizes();
    const limit = median(times[0]);
    for (const [place, row] of rows.entries()) {
      const ms = median(times[place]);
      const speed = 1_000 / ms;
      const ratio = limit / ms;
      const left = (after[place] - before[place]) / times[place].length;
      row.push(
        `${speed.toFixed(speed < 10 ? 1 : 0)}/s (${ratio.toFixed(ratio < 0.1 ? 4 : 2)}x), ${bytes(left)}`,
      );
    }
  }
  return {
    title:
      "turns per second, one at a time, and bytes that each leaves (compacted), in conversations that grow",
    columns: ["", ...lengths.map((length) => `turn ${length}`)],
    rows,
  };
}

export const scenario = {
  name: "turn-persistence",
  title: "a turn with two tool calls made durable in four commits, on PostgreSQL with fsync",
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    const contestants = [];
    const skipped = [];
    const enter = async (name, database, open, key) => {
      const url = await createDatabase(server, database);
      try {
        contestants.push({ name, key, url, ...(await open(url)) });
      } catch (error) {
        // A peer may be absent; our contestants and the limits may not.
        if (key !== undefined) throw error;
        skipped.push(`SKIPPED  ${name}: ${String(error.message).split("\n")[0]}`);
      }
    };
    try {
      await enter("by hand, with our indexes", "by_hand", openByHand, "by hand");
      await enter("@parley/store", "parley", openParley, "ours");
      await enter("raw: same commits, no secondary indexes", "raw", openRaw, "raw");
      await enter("@parley/store, statement by statement", "parley_steps", openStepByStep);
      await enter(storeNames.mastra, "mastra", openMastra);
      await enter(storeNames.langGraph, "langgraph", openLangGraph);
      // Peers whose turns cost the same at any length take part in the rounds.
      const even = contestants.filter(({ seed }) => seed === undefined);
      // Many short rounds: the time of a disk's sync changes from one second to the next.
      const turns = 48;
      const rounds = quick ? 20 : 60;
      const tables = [];
      const where = `${server.name}, ${cpus().length} cores, median of ${rounds}`;
      for (const inFlight of [1, parallel]) {
        const { rows, columns, speedBeside } = await measure(even, {
          turns,
          inFlight,
          verb: "turn",
          rounds,
          log,
        });
        const share = 1 / speedBeside("by hand");
        const wanted = inFlight === 1 ? targets.alone : targets.parallel;
        tables.push({
          title: `time per turn, ${inFlight} at a time (${where})`,
          columns,
          rows,
          statements: [
            `${share <= 1.3 ? "PASS" : "MISS"}  @parley/store takes ${share.toFixed(2)}x of by hand (at most 1.3x)`,
            atLeast(speedBeside("raw"), wanted, "a turn reaches"),
          ],
        });
      }
      const appending = even.filter(({ append }) => append !== undefined);
      for (const inFlight of [1, parallel]) {
        const { rows, columns, speedBeside } = await measure(appending, {
          turns,
          inFlight,
          verb: "append",
          rounds,
          log,
        });
        tables.push({
          title: `time per appendMessages of a turn's five messages, ${inFlight} at a time (${where})`,
          columns,
          rows,
          statements: [atLeast(speedBeside("raw"), targets.append, "appendMessages reaches")],
        });
      }
      const sized = contestants.filter(({ key }) => key !== undefined);
      const sizes = [];
      for (const contestant of sized) {
        log(`  bytes per turn: ${contestant.name}`);
        const size = { conversations: quick ? 10 : 20, turns: quick ? 100 : 1_000 };
        sizes.push(await withoutWaiting(server, () => bytesPerTurn(contestant.url, contestant, size)));
      }
      const { user, calling, results: outcomes, last: end } = turnOf("");
      const content = [user, calling, ...outcomes, end].reduce(
        (sum, message) => sum + JSON.stringify(message.content).length,
        0,
      );
      const sizesOf = (wanted) => sizes[sized.findIndex(({ key }) => key === wanted)];
      const ours = sizesOf("ours");
      const raw = sizesOf("raw");
      const written = ours.last.wal / raw.last.wal;
      const indexed = (ours.last.wal + ours.last.indexWal) / raw.last.wal;
      const worst = Math.max(ours.first.own, ours.last.own);
      const row = (name, { first, last }, size, wal) => [
        name,
        bytes(first[size]),
        bytes(last[size]),
        bytes(first[wal]),
        bytes(last[wal]),
      ];
      tables.push({
        title: `bytes per turn, tables and indexes after VACUUM (its messages' parts as JSON: ${content} B), and written ahead`,
        columns: ["", "first tenth", "last tenth", "written ahead", "last tenth"],
        rows: [
          ...sizes.map((size, place) => row(sized[place].name, size, "own", "wal")),
          row("its search index, behind the seal", ours, "index", "indexWal"),
        ],
        statements: [
          `${worst <= 3_072 ? "PASS" : "MISS"}  at most ${bytes(worst)} per turn (at most 3 KB)`,
          `${written <= targets.wal ? "PASS" : "MISS"}  a turn writes ${written.toFixed(2)}x of the raw statements' log (at most ${targets.wal}x), ${indexed.toFixed(2)}x with the search index`,
        ],
      });
      tables.push({ ...(await growth(server, contestants, { quick, log })), statements: skipped });
      return tables;
    } finally {
      for (const contestant of contestants) await contestant.close();
      await server.stop();
    }
  },
};
