// The cost of journaling many running turns to PostgreSQL, compared with hand-written inserts of the same
// bytes.
import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";

const turns = 400;
const perSecond = 50;
const modes = ["pace", "by hand", "no journal", "journal"];

/** Measures one mode for some seconds: shares of a core in the node and in the database. */
async function measure(server, mode, { database, warmUpSeconds, seconds }) {
  const url = await createDatabase(server, database);
  const child = fork(new URL("../journal-process.mjs", import.meta.url), [
    mode,
    url,
    String(turns),
    String(perSecond),
  ]);
  try {
    await message(child);
    await measured(child, warmUpSeconds);
    const before = cpuSecondsOf(server);
    const figures = await measured(child, seconds);
    return { ...figures, database: (cpuSecondsOf(server) - before) / seconds };
  } finally {
    const ended = once(child, "exit");
    if (child.connected) child.disconnect();
    await ended;
  }
}

function measured(child, seconds) {
  const reply = message(child);
  child.send({ seconds });
  return reply;
}

function message(child) {
  return new Promise((resolve, reject) => {
    const onExit = (code) => reject(new Error(`the process ended (${code})`));
    child.once("exit", onExit);
    child.once("message", (value) => {
      child.off("exit", onExit);
      resolve(value);
    });
  });
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;

export const scenario = {
  name: "journal",
  title: `${turns} running turns at ${perSecond} deltas/s each, journaled to PostgreSQL in grouped flushes`,
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    try {
      const rounds = quick ? 1 : 3;
      const samples = Object.fromEntries(modes.map((mode) => [mode, []]));
      for (let round = 0; round < rounds; round++) {
        for (const [place, mode] of modes.entries()) {
          log(`  round ${round + 1} of ${rounds}: ${mode}`);
          const options = {
            database: `round_${round}_${place}`,
            warmUpSeconds: quick ? 2 : 4,
            seconds: quick ? 4 : 10,
          };
          samples[mode].push(await measure(server, mode, options));
        }
      }
      const wanted = turns * perSecond;
      for (const [mode, figures] of Object.entries(samples)) {
        const slowest = Math.min(...figures.map((each) => each.perSecond));
        if (slowest < wanted * 0.95)
          throw new Error(`${mode}: only ${Math.round(slowest)} of ${wanted} deltas/s were sent`);
      }
      const part = (mode, without) =>
        median(samples[mode].map(({ share }, round) => share - samples[without][round].share));
      const ours = part("journal", "no journal");
      const limit = part("by hand", "pace");
      const row = (name, mode, without) => [
        name,
        percent(part(mode, without)),
        percent(median(samples[mode].map(({ share }) => share))),
        percent(median(samples[mode].map(({ database }) => database))),
      ];
      return [
        {
          title: `share of a core at ${wanted} deltas/s (${server.name}, ${cpus().length} cores, median of ${rounds})`,
          columns: ["", "the journal's part", "the whole process", "PostgreSQL"],
          rows: [
            row("unnest inserts by hand", "by hand", "pace"),
            row("the runtime's journal", "journal", "no journal"),
          ],
          statements: [
            `${ours <= 0.25 ? "PASS" : "MISS"}  the journal takes ${percent(ours)} of a core, ${(ours / limit).toFixed(2)}x of by hand (at most 25 %)`,
          ],
        },
      ];
    } finally {
      await server.stop();
    }
  },
};
