// One way of storing the answers of many running turns, in its own process: starts, then measures on request.
import { createPacer, PIECE } from "./paced-turns.mjs";

const [mode, url, turnsText, perSecondText] = process.argv.slice(2);
const turns = Number(turnsText);
const perSecond = Number(perSecondText);
const flushMs = 50;

process.on("disconnect", () => process.exit());
const pacer = createPacer(perSecond);
const modes = { journal: runtime, "no journal": runtime, "by hand": byHand, pace: byHand };
await modes[mode](mode);
pacer.start();
process.on("message", async ({ seconds }) => process.send(await measure(seconds)));
process.send({ ready: true });

async function measure(seconds) {
  const sentBefore = pacer.sent;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const { user, system } = process.cpuUsage(before);
  const took = performance.now() - startedAt;
  return { share: (user + system) / 1_000 / took, perSecond: ((pacer.sent - sentBefore) / took) * 1_000 };
}

/** Runs turns of a real runtime on PostgreSQL; with the journal off, everything but the journal. */
async function runtime(mode) {
  const [{ createRuntime, createModelCatalog }, { createProviderStream, TextDelta }, { openPostgres }] =
    await Promise.all([
      import("@parley/core/runtime"),
      import("@parley/core/messages"),
      import("@parley/store/postgres"),
    ]);
  const provider = {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async ({ signal }) =>
      createProviderStream(
        ({ write }) =>
          new Promise(() => {
            let text = "";
            pacer.add(() => {
              text += PIECE;
              write(new TextDelta(PIECE, text, 0));
            });
          }),
        { signal },
      ),
  };
  const { store, wake } = openPostgres({ url });
  await store.migrate();
  const node = await createRuntime({
    store,
    wake,
    models: createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 1_000_000 },
    ]),
    limits: { runningTurns: turns, runningTurnsPerOwner: turns },
    ...(mode === "journal" ? {} : { journal: { intervalMs: 3_600_000, bytes: 1_000_000_000 } }),
  });
  const owner = node.forOwner("bench");
  for (let index = 0; index < turns; index += 1) await owner.send({ message: "go" });
  while (pacer.size < turns) await new Promise((resolve) => setTimeout(resolve, 10));
}

/**
 * Writes the same bytes at the same pace: one statement per interval, with neither fence nor lock; or only
 * keeps the pace.
 */
async function byHand(mode) {
  const answers = Array.from({ length: turns }, (_, index) => ({
    log: 1_000_000 + index,
    turnId: `turn-${index}-0123456789abcdef01234567`,
    firstN: 0,
    text: "",
    lengths: [],
  }));
  for (const answer of answers) {
    pacer.add(() => {
      answer.text += PIECE;
      answer.lengths.push(PIECE.length);
    });
  }
  if (mode === "pace") {
    setInterval(() => {
      for (const answer of answers) Object.assign(answer, { text: "", lengths: [] });
    }, flushMs);
    return;
  }
  const { default: pg } = await import("pg");
  const { openPostgres } = await import("@parley/store/postgres");
  const schema = openPostgres({ url, listenUrl: false });
  await schema.store.migrate();
  await schema.store.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const text = `INSERT INTO parley.turn_journal (log, turn, first_n, event_count, epoch, data)
    SELECT * FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::text[])`;
  const flush = async () => {
    const batch = answers.filter(({ lengths }) => lengths.length > 0);
    const values = [
      batch.map(({ log }) => log),
      batch.map(() => 1),
      batch.map(({ firstN }) => firstN),
      batch.map(({ lengths }) => lengths.length),
      batch.map(() => 1),
      batch.map(({ turnId, text: grown, lengths }) =>
        JSON.stringify([["t", `${turnId}.0`, turnId, 0, grown, lengths]]),
      ),
    ];
    for (const answer of batch) {
      answer.firstN += answer.lengths.length;
      Object.assign(answer, { text: "", lengths: [] });
    }
    await client.query({ name: "flush", text, values });
    setTimeout(flush, flushMs);
  };
  setTimeout(flush, flushMs);
}
