// From a model's API to a client, every delta delivered: the server with its log compared with a pipe and
// with the AI SDK.
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { packageVersion } from "../package-version.mjs";
import { aiSdks } from "../peer-libraries.mjs";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { deltaText } from "../responses-stream.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";
import { startChild } from "../whole-path/child.mjs";
import {
  openForwarded,
  openPassedThrough,
  openResponses,
  openSocket,
  openUiMessages,
} from "../whole-path/clients.mjs";

const cases = [
  {
    name: "answers of 2,000 deltas at full speed",
    deltas: 2_000,
    perSecond: 0,
    parallel: 1,
    answers: { long: 40, quick: 10 },
  },
  {
    name: "20 answers of 400 deltas at a time, 50 deltas/s each",
    deltas: 400,
    perSecond: 50,
    parallel: 20,
    answers: { long: 20, quick: 20 },
    rounds: 5,
  },
  {
    // No other turn to share the journal's flush with, and little work to keep a process warm: each was used
    // before. When idle, V8 collects its memory and discards its optimized code; at 50 deltas/s it takes a
    // minute to compile it again. So each is used twice, with an idle period in between: neither the first
    // use nor that period is measured.
    name: "one answer of 400 deltas at a time, 50 deltas/s",
    deltas: 400,
    perSecond: 50,
    parallel: 1,
    answers: { long: 1, quick: 1 },
    rounds: 7,
    hurried: { long: 200, quick: 50 },
    rests: 4,
  },
];

function contestants({ databaseUrl, folder }) {
  return [
    { name: "byte pipe", kind: "limit", server: "bytePipe", open: openPassedThrough },
    { name: "parse and forward to a socket", kind: "limit", server: "parseAndForward", open: openForwarded },
    ...(databaseUrl === undefined
      ? []
      : [
          {
            name: "Parley on PostgreSQL",
            kind: "ours",
            server: "parley",
            options: { store: { url: databaseUrl } },
            open: openSocket,
          },
          {
            name: "Parley on PostgreSQL, by OpenAI's API",
            kind: "ours",
            server: "parley",
            options: { store: { url: databaseUrl } },
            open: openResponses,
            note: "the same over /v1/responses",
          },
        ]),
    {
      name: "Parley on PGlite",
      kind: "ours",
      server: "parley",
      options: { store: { folder } },
      open: openSocket,
      note: "database included",
    },
    ...aiSdks.map(({ name, package: library }) => ({
      name: `${name} over Hono (ai ${packageVersion(library)})`,
      kind: "peer",
      server: "aiSdk",
      options: { sdk: name },
      open: openUiMessages,
      note: "keeps nothing",
    })),
  ];
}

/**
 * Requests this many answers, this many at a time; throws unless each arrived completely. Returns the share
 * of deltas that arrived one by one: a client that joins a started turn gets its beginning in one piece.
 */
async function ask(client, { answers, parallel, deltas }) {
  let left = answers;
  let received = 0;
  let characters = 0;
  const worker = async () => {
    while (left-- > 0)
      await client.ask((delta) => {
        received += 1;
        characters += delta.length;
      });
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  let expected = 0;
  for (let n = 0; n < deltas; n++) expected += deltaText(n).length;
  if (received > answers * deltas || characters !== answers * expected)
    throw new Error(
      `${received} of ${answers * deltas} deltas, ${characters} of ${answers * expected} characters`,
    );
  return received / (answers * deltas);
}

/** Requests answers as in the measurement, from all at the same time if they are paced. */
async function warmUp({ deltas, perSecond, parallel, answers }, { quick, running, rounds }) {
  const each = perSecond > 0 ? parallel : answers[quick ? "quick" : "long"];
  const warm = async ({ client }) => {
    for (let round = 0; round < rounds; round++) {
      await client.prepare(each);
      await ask(client, { answers: each, parallel, deltas });
    }
  };
  if (parallel === 1 && perSecond > 0) await Promise.all(running.map(warm));
  else for (const contestant of running) await warm(contestant);
}

/** Requests answers at full speed, one after the other. */
async function hurry({ deltas, hurried }, { quick, running, upstream }) {
  const answers = hurried[quick ? "quick" : "long"];
  await upstream.figures("hurry");
  for (const { client } of running) {
    await client.prepare(answers);
    await ask(client, { answers, parallel: 1, deltas });
  }
  await upstream.figures("pace");
}

async function measure(each, { quick, log, server, folder }) {
  const { deltas, perSecond, parallel } = each;
  const answers = each.answers[quick ? "quick" : "long"];
  const rounds = quick ? 3 : (each.rounds ?? 7);
  const databaseUrl =
    server === undefined ? undefined : await createDatabase(server, `case_${cases.indexOf(each)}`);
  const upstream = await startChild("./upstream.mjs", "startUpstream", { deltas, perSecond });
  const running = [];
  const skipped = [];
  try {
    for (const contestant of contestants({
      databaseUrl,
      folder: join(folder, `case-${cases.indexOf(each)}`),
    })) {
      log(`  ${each.name}: starting ${contestant.name}`);
      const child = await startChild("./servers.mjs", contestant.server, {
        upstream: upstream.url,
        ...contestant.options,
      }).catch((error) => {
        if (contestant.kind !== "peer") throw error;
        skipped.push(`SKIPPED  ${contestant.name}: ${error.message}`);
      });
      if (child === undefined) continue;
      const client = await contestant.open(child.url);
      running.push({ ...contestant, child, client, samples: [], databaseSamples: [], shares: [] });
    }
    log(`  ${each.name}: warming up`);
    if (each.hurried !== undefined) {
      await hurry(each, { quick, running, upstream });
      await warmUp(each, { quick, running, rounds: each.rests });
      await hurry(each, { quick, running, upstream });
    }
    await warmUp(each, { quick, running, rounds: perSecond > 0 ? 1 : 3 });
    for (let round = 0; round < rounds; round++) {
      log(`  ${each.name}: round ${round + 1} of ${rounds}`);
      const order = round % 2 === 0 ? running : running.toReversed();
      for (const contestant of order) {
        await contestant.client.prepare(answers);
        // The young generation alone: V8 discards optimized code with the old one, in each process that has a
        // lot of it.
        const before = await contestant.child.figures("young-gc");
        const databaseBefore = server === undefined ? 0 : cpuSecondsOf(server);
        contestant.shares.push(await ask(contestant.client, { answers, parallel, deltas }));
        const after = await contestant.child.figures();
        const databaseAfter = server === undefined ? 0 : cpuSecondsOf(server);
        contestant.samples.push((after.cpuUs - before.cpuUs) / (answers * deltas));
        contestant.databaseSamples.push(((databaseAfter - databaseBefore) * 1e6) / (answers * deltas));
      }
    }
  } finally {
    for (const { child, client } of running) {
      client.close();
      await child.stop();
    }
    await upstream.stop();
  }
  return tableOf(each, running, { rounds, skipped });
}

function tableOf(each, running, { rounds, skipped }) {
  const [pipe] = running;
  const ratioTo = ({ samples }) => median(samples.map((sample, round) => sample / pipe.samples[round]));
  const us = (value) => `${value.toFixed(2)} us`;
  return {
    title: `${each.name}: CPU per delta of the server's process, median of ${rounds} rounds (${cpus().length} cores)`,
    columns: ["", "kind", "CPU", "min .. max", "ratio to the pipe", "one by one", "PostgreSQL beside it"],
    rows: running.map((contestant) => [
      contestant.note === undefined ? contestant.name : `${contestant.name}, ${contestant.note}`,
      contestant.kind,
      us(median(contestant.samples)),
      `${us(Math.min(...contestant.samples))} .. ${us(Math.max(...contestant.samples))}`,
      `${ratioTo(contestant).toFixed(2)}x`,
      `${(Math.min(...contestant.shares) * 100).toFixed(1)} %`,
      contestant.name === "Parley on PostgreSQL" ? us(median(contestant.databaseSamples)) : "",
    ]),
    statements: [
      ...running
        .filter(({ name }) => name === "Parley on PostgreSQL")
        .map((ours) => {
          const ratio = ratioTo(ours);
          return `${ratio <= 2 ? "PASS" : "MISS"}  ${ours.name}: ${ratio.toFixed(2)}x of the pipe, target at most 2x`;
        }),
      ...skipped,
    ],
  };
}

export const scenario = {
  name: "end-to-end",
  title:
    "a model's stream through the server to a client's socket, logged and resumable, every delta delivered",
  async run({ quick, log }) {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
    try {
      const tables = [];
      for (const each of cases) tables.push(await measure(each, { quick, log, server, folder }));
      return tables;
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
