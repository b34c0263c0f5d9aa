// Searches of a small owner, alone and beside a large one, and the size of the index behind them.
import { cpus } from "node:os";
import { startPostgres } from "../postgres-server.mjs";
import { median } from "../summarise.mjs";
import { createDatabase, walBytes, withClient, withoutWaiting } from "../turn-stores/postgres-size.mjs";

/**
 * Creates messages of about 60 words out of 20,000, of which few are common and most are rare, as in a
 * language.
 */
function createTexts(seed) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const word = () => `w${Math.floor(20_000 ** next()).toString(36)}`;
  return (name) => `${Array.from({ length: 40 + Math.floor(next() * 40) }, word).join(" ")} ${name}`;
}

const perConversation = 1_000;

async function write(root, owner, messages, log) {
  const store = root.forOwner(owner);
  const text = createTexts(messages);
  for (let from = 0; from < messages; from += perConversation) {
    const id = `${owner}-${from}`;
    await store.createConversation({ id });
    await store.appendMessages(
      Array.from({ length: perConversation }, (_, n) => ({
        id: `${id}-${n}`,
        conversationId: id,
        role: "user",
        createdAt: new Date(1_700_000_000_000 + (from + n) * 1_000),
        content: [{ type: "text", text: text(`only${from + n}`) }],
      })),
    );
    if (from % 50_000 === 0) log(`  ${owner}: ${from} of ${messages} messages`);
  }
}

async function index(root, owner) {
  const started = performance.now();
  while ((await root.indexSearch({ owner, limit: 200 })).more);
  return performance.now() - started;
}

const queries = {
  "a word that one message has": "only5000 ",
  "a word of every other message": "w1 ",
  "two common words": "w1 w2 ",
  "a common and a rare one": "w1 only77 ",
  "the beginning of many words": "w",
  "a word that none has": "nothing ",
};

/**
 * Measures the stores in turn, so that a slow period of the machine affects all of them: their times, by
 * query.
 */
async function measure(stores, rounds) {
  const times = {};
  for (const [name, q] of Object.entries(queries)) {
    const samples = stores.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [place, store] of stores.entries()) {
        const started = performance.now();
        const { partial } = await store.search({ q, limit: 50 });
        samples[place].push(performance.now() - started);
        if (partial) throw new Error(`the search for ${q} was partial`);
      }
    }
    times[name] = {
      each: samples.map(median),
      ratio: median(samples.at(-1).map((ms, round) => ms / samples[0][round])),
    };
  }
  return times;
}

const bytes = (value) => `${Math.round(value)} B`;

/** Returns the bytes of the index and of the log, after a VACUUM. */
function sizes(url) {
  return withClient(url, async (client) => {
    await client.query("VACUUM (ANALYZE)");
    const { rows } =
      await client.query(`SELECT pg_total_relation_size('parley.search_entry')::float8 AS entries,
      pg_relation_size('parley.search_entry_words')::float8 AS words, pg_total_relation_size('parley.conversation_message')::float8 AS log`);
    return rows[0];
  });
}

async function compare(server, { quick, log }) {
  const { openPostgres } = await import("@parley/store/postgres");
  const [small, large] = [10_000, quick ? 50_000 : 200_000];
  const roots = [];
  const open = async (name) => {
    const url = await createDatabase(server, name);
    const { store: root } = openPostgres({ url, listenUrl: false });
    roots.push(root);
    await root.migrate();
    await write(root, "small", small, log);
    await index(root, "small");
    return { url, root };
  };
  try {
    const alone = await open("alone");
    const { url, root } = await open("beside");
    await write(root, "large", large, log);
    log("  filling the index");
    const walBefore = await walBytes(url);
    const indexMs = await index(root, "large");
    const wal = (await walBytes(url)) - walBefore;
    await sizes(alone.url);
    const { entries, words, log: messages } = await sizes(url);
    const stores = [alone.root.forOwner("small"), root.forOwner("small")];
    await measure(stores, 10);
    const times = await measure(stores, quick ? 20 : 60);
    const itself = await measure([root.forOwner("large")], quick ? 5 : 20);
    const eight = performance.now();
    await Promise.all(Array.from({ length: 8 }, () => stores[1].search({ q: "w1 ", limit: 50 })));
    const eightMs = performance.now() - eight;
    const names = Object.keys(queries);
    const worst = median(names.map((name) => times[name].ratio));
    const each = (value) => bytes(value / (small + large));
    return [
      {
        title: `time of a search of an owner with ${small} messages (${server.name}, ${cpus().length} cores, medians)`,
        columns: ["", "alone", `beside ${large}`, "ratio", `of the owner with ${large}`],
        rows: names.map((name) => [
          name,
          ...times[name].each.map((ms) => `${ms.toFixed(1)} ms`),
          `${times[name].ratio.toFixed(2)}x`,
          `${itself[name].each[0].toFixed(1)} ms`,
        ]),
        statements: [
          `${worst <= 1.5 ? "PASS" : "MISS"}  another's messages make it ${worst.toFixed(2)}x (at most 1.5x, median of all queries)`,
          `      eight at once take ${eightMs.toFixed(0)} ms`,
        ],
      },
      {
        title: "the index, per message",
        columns: ["", ""],
        rows: [
          ["the message itself, with its indexes", each(messages)],
          ["its entry, with all indexes", each(entries)],
          ["of it the index of terms", each(words)],
          ["written ahead behind the seal", bytes(wal / large)],
          ["time to add it", `${((indexMs / large) * 1_000).toFixed(0)} µs`],
        ],
      },
    ];
  } finally {
    for (const each of roots) await each.close();
  }
}

export const scenario = {
  name: "search",
  title: "searches of one owner beside another's messages, on PostgreSQL",
  async run(options) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    try {
      return await withoutWaiting(server, () => compare(server, options));
    } finally {
      await server.stop();
    }
  },
};
