// The newest messages of a long conversation, read from PostgreSQL: the store compared with the indexed query
// alone, and peers.
import { cpus } from "node:os";
import { storeNames } from "../package-version.mjs";
import { startPostgres } from "../postgres-server.mjs";
import { planHotPath } from "../statement-plans.mjs";
import { median } from "../summarise.mjs";
import { openLangGraph } from "../turn-stores/langgraph.mjs";
import { openMastra } from "../turn-stores/mastra.mjs";
import { createDatabase, withClient } from "../turn-stores/postgres-size.mjs";

/** About 8,000 tokens of messages of 100 tokens. */
const limit = 80;
const windowTokens = 8_000;

const ancestors = 10;

/** Returns the SQL that fills logs of each length on the server itself; the store's schema and indexes. */
function fill(lengths) {
  const logs = lengths.map((length) => `('log-${length}', ${length})`).join(", ");
  return `
CREATE FUNCTION pg_temp.id_key(id text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || substr(encode(sha256(convert_to(id, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint
$$;
CREATE TEMP TABLE wanted AS SELECT * FROM (VALUES ${logs}) AS logs(id, length);
INSERT INTO parley.conversation (log, id, owner, title, status, created_at, last_activity_at, updated_at, changed_at)
SELECT nextval('parley.log_number'), id, 'owner', 'title', 'open', now(), now(), now(), nextval('parley.conversation_change') FROM wanted;
INSERT INTO parley.conversation_head (log, owner, next_seq, sealed_seq, turn_count, active_at)
SELECT log, 'owner', length + 1, length, length / 2, now() FROM wanted JOIN parley.conversation USING (id);
INSERT INTO parley.conversation_message
  (id, id_key, log, role, type, content, created_at, first_seq, part_count, turn)
SELECT id || '-' || n, pg_temp.id_key(id || '-' || n), log, CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'text',
  jsonb_build_object('format', 2, 'parts', jsonb_build_array(jsonb_build_object('type', 'text', 'text',
    'Message ' || n || ' of this conversation. ' || repeat('lorem ipsum dolor ', 22)))),
  now(), n, 1, (n + 1) / 2
FROM wanted JOIN parley.conversation USING (id) CROSS JOIN LATERAL generate_series(1, length) n;
INSERT INTO parley.conversation_turn
  (log, id, ordinal, status, first_seq, last_seq, provider_calls, started_at, sealed_at)
SELECT log, 'turn-' || n, n, 'sealed', n * 2 - 1, n * 2, '[{"id":"call","createdAt":1}]', now(), now()
FROM wanted JOIN parley.conversation USING (id) CROSS JOIN LATERAL generate_series(1, length / 2) n;`;
}

/** Reads the store's page by one prepared statement and the driver's own parsers. */
function byHand(pool, logs) {
  return async (conversationId) => {
    const { rows } = await pool.query({
      name: "newest",
      text: `SELECT id, role, content, created_at, first_seq, part_count, turn FROM parley.conversation_message
        WHERE log = $1 ORDER BY first_seq DESC LIMIT $2`,
      values: [logs.get(conversationId), limit],
    });
    return rows.length;
  };
}

function byStore(store) {
  return async (conversationId) => (await store.readNewest({ conversationId, limit })).entries.length;
}

/**
 * Compares only what a request needs: the smallest query that returns role and content of the rows, with the
 * whole path from the log to the messages passed to a provider, with counting, choosing, lowering and
 * hashing. First for a conversation that the node does not know, then for the next request of the same
 * conversation.
 */
function wholeWay({ pool, logs, store, core }) {
  const { BudgetedHistoryBuilder, KeptHistory } = core;
  const builder = new BudgetedHistoryBuilder();
  const kept = new Map();
  const build = async (id, more = {}) => {
    const conversation = { id, createdAt: new Date(), updatedAt: new Date() };
    const budget = { maxTokens: windowTokens };
    const request = { conversation, store, newUserMessages: [], budget, ...more };
    return builder.buildHistory(request);
  };
  return {
    async least(id) {
      const { rows } = await pool.query({
        name: "least",
        text: `SELECT role, content FROM parley.conversation_message
          WHERE log = $1 ORDER BY first_seq DESC LIMIT $2`,
        values: [logs.get(id), limit],
      });
      return rows.length;
    },
    async first(id) {
      const { messages } = await build(id);
      return messages.length;
    },
    async next(id) {
      let known = kept.get(id);
      if (known === undefined) {
        known = { kept: new KeptHistory(), previous: undefined };
        kept.set(id, known);
      }
      const { messages, manifest } = await build(id, known.previous === undefined ? known : { ...known });
      known.previous = { manifest };
      return messages.length;
    },
  };
}

const whole = {
  least: "role and content alone, by hand",
  first: "as a request's messages, first time",
  next: "as a request's messages, next time",
};

/**
 * Adds the counts that the store keeps with rows it writes itself, for the newest rows of a log that was
 * filled by hand.
 */
async function countRows(store, pool, log, conversationId) {
  const { countForRow } = await import("@parley/core/messages");
  const { entries } = await store.readNewest({ conversationId, limit: 4 * limit });
  const counted = entries.map(({ message }) => countForRow(message));
  await pool.query({
    text: `UPDATE parley.conversation_message m SET tokens = g.tokens, token_rule = $4
      FROM unnest($2::int4[], $3::int4[]) AS g(seq, tokens) WHERE m.log = $1 AND m.first_seq = g.seq`,
    values: [
      log,
      entries.map(({ firstSeq }) => firstSeq),
      counted.map(({ count }) => count),
      counted[0].rule,
    ],
  });
}

/**
 * Creates a chain of ten forks, each with four messages of its own: the window reaches back through all of
 * them.
 */
async function forkTenTimes(store, from, length) {
  let parent = from;
  let seq = length;
  for (let depth = 1; depth <= ancestors; depth++) {
    const newId = `fork-${depth}`;
    await store.fork({ conversationId: parent, atSeq: seq, newId });
    const messages = Array.from({ length: 4 }, (_, index) => ({
      id: `${newId}-${index}`,
      conversationId: newId,
      role: index % 2 === 0 ? "user" : "assistant",
      createdAt: new Date(),
      content: [{ type: "text", text: `Message of fork ${depth}. ${"lorem ipsum dolor ".repeat(22)}` }],
    }));
    await store.appendMessages(messages);
    parent = newId;
    seq += 4;
  }
  return parent;
}

async function time(read, conversationId, count) {
  const started = performance.now();
  for (let index = 0; index < count; index++) {
    const found = await read(conversationId);
    if (Math.abs(found - limit) > limit / 4) throw new Error(`${found} messages instead of ${limit}`);
  }
  return (performance.now() - started) / count;
}

/**
 * Opens the same messages in the peers' own stores: each a conversation per length and a function to read the
 * newest.
 */
async function openPeers(server, lengths, log) {
  const peers = [];
  const skipped = [];
  const enter = async (name, database, open, fillOne) => {
    const url = await createDatabase(server, database);
    let peer;
    try {
      peer = await open(url);
    } catch (error) {
      skipped.push(`SKIPPED  ${name}: ${String(error.message).split("\n")[0]}`);
      return;
    }
    const ids = new Map();
    for (const length of lengths) {
      log(`  filling ${name} with ${length} messages`);
      ids.set(length, await withClient(url, (client) => fillOne(peer, client, length)));
    }
    await withClient(url, (client) => client.query("VACUUM ANALYZE"));
    peers.push({ name, ids, read: (id) => peer.readNewest(id, limit), close: () => peer.close() });
  };
  await enter(storeNames.mastra, "mastra", openMastra, (peer, client, length) => peer.fill(client, length));
  await enter(storeNames.langGraph, "langgraph", openLangGraph, async (peer, _, length) => {
    const id = `log-${length}`;
    await peer.seed(id, messagesOf(length));
    return id;
  });
  return { peers, skipped };
}

function messagesOf(length) {
  return Array.from({ length }, (_, index) => ({
    id: `message-${index + 1}`,
    role: index % 2 === 0 ? "user" : "assistant",
    content: [
      {
        type: "text",
        text: `Message ${index + 1} of this conversation. ${"lorem ipsum dolor ".repeat(22)}`,
      },
    ],
  }));
}

/** Measures a few reads of each, alternating with the query by hand: peers take up to seconds for one. */
async function measurePeers({ server, byHand: readByHand, byStore: readByStore, quick, log }) {
  const lengths = quick ? [10_000] : [10_000, 100_000];
  const { peers, skipped } = await openPeers(server, lengths, log);
  try {
    const ours = [
      { name: "by hand", read: readByHand },
      { name: "@parley/store", read: readByStore },
    ];
    const rows = [...ours, ...peers].map(({ name }) => [name]);
    for (const length of lengths) {
      log(`  reading from ${length} messages`);
      const reads = [...ours, ...peers].map(({ read, ids }) => ({
        read,
        id: ids?.get(length) ?? `log-${length}`,
        samples: [],
      }));
      for (const [place, each] of reads.entries()) {
        try {
          each.count = (await time(each.read, each.id, 1)) > 100 ? 1 : 20;
        } catch (error) {
          // A peer may not get that far; our contestant and the limit must.
          if (place < ours.length) throw error;
          each.failed = String(error.message).split("\n")[0];
        }
      }
      for (let round = 0; round < (quick ? 3 : 5); round++)
        for (const { read, id, count, failed, samples } of reads)
          if (failed === undefined) samples.push(await time(read, id, count));
      const [first] = reads;
      for (const [place, { failed, samples }] of reads.entries()) {
        if (failed !== undefined) {
          rows[place].push(`fails: ${failed}`);
          continue;
        }
        const ratio = median(samples.map((sample, round) => sample / first.samples[round]));
        rows[place].push(`${milliseconds(median(samples))} (${ratio.toFixed(ratio < 10 ? 2 : 0)}x)`);
      }
    }
    return {
      title: "the same window out of the peers' stores",
      columns: ["", ...lengths.map((length) => `${length} messages`)],
      rows,
      statements: skipped,
    };
  } finally {
    for (const peer of peers) await peer.close();
  }
}

const milliseconds = (value) => `${value.toFixed(value < 10 ? 3 : 0)} ms`;

export const scenario = {
  name: "window-read",
  title: "the newest 80 messages (about 8,000 tokens) of logs of growing length, and through ten ancestors",
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    const lengths = quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000];
    const url = server.urlOf("postgres");
    const { default: pg } = await import("pg");
    const { openPostgres } = await import("@parley/store/postgres");
    const opened = openPostgres({ url, listenUrl: false });
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    pool.on("error", () => {});
    try {
      await opened.store.migrate();
      log(`  filling logs of ${lengths.join(", ")} messages`);
      await pool.query(fill(lengths));
      await pool.query("VACUUM ANALYZE");
      const store = opened.store.forOwner("owner");
      const { rows: numbers } = await pool.query("SELECT id, log FROM parley.conversation");
      const logs = new Map(numbers.map(({ id, log }) => [id, log]));
      const [shortest] = lengths;
      const leaf = await forkTenTimes(store, `log-${shortest}`, shortest);
      const longId = `log-${lengths.at(-1)}`;
      await countRows(store, pool, logs.get(longId), longId);
      const way = wholeWay({ pool, logs, store, core: await import("@parley/core") });
      const reads = [
        ...lengths.flatMap((length) => [
          { name: `${length}, by hand`, read: byHand(pool, logs), id: `log-${length}` },
          { name: `${length}, @parley/store`, read: byStore(store), id: `log-${length}` },
        ]),
        { name: `${ancestors} ancestors, @parley/store`, read: byStore(store), id: leaf },
        { name: whole.least, read: way.least, id: longId },
        { name: whole.first, read: way.first, id: longId },
        { name: whole.next, read: way.next, id: longId },
      ];
      const rounds = quick ? 15 : 40;
      for (const { read, id } of reads) await time(read, id, 200);
      for (let round = 0; round < rounds; round++) {
        if (round % 10 === 0) log(`  round ${round + 1} of ${rounds}`);
        for (const each of round % 2 === 0 ? reads : reads.toReversed()) {
          each.samples ??= [];
          each.samples.push(await time(each.read, each.id, 40));
        }
      }
      const named = (name) => reads.find((each) => each.name === name);
      const ratio = (left, right) =>
        median(named(left).samples.map((sample, round) => sample / named(right).samples[round]));
      const statement = (what, value, most) =>
        `${value <= most ? "PASS" : "MISS"}  ${what}: ${value.toFixed(2)}x (at most ${most}x)`;
      const longest = lengths.at(-1);
      const beside = await measurePeers({
        server,
        byHand: byHand(pool, logs),
        byStore: byStore(store),
        quick,
        log,
      });
      const plans = await withClient(url, (client) =>
        planHotPath({ url, client, owner: "owner", conversationId: `log-${longest}`, large: shortest * 10 }),
      );
      return [
        {
          title: `time per window (${server.name}, ${cpus().length} cores, median of ${rounds} rounds)`,
          columns: ["messages", "time"],
          rows: reads.map(({ name, samples }) => [name, `${median(samples).toFixed(3)} ms`]),
          statements: [
            ...lengths
              .slice(1)
              .map((length) =>
                statement(
                  `the store beside the query by hand at ${length}`,
                  ratio(`${length}, @parley/store`, `${length}, by hand`),
                  1.5,
                ),
              ),
            statement(
              `${longest} messages beside ${shortest}`,
              ratio(`${longest}, @parley/store`, `${shortest}, @parley/store`),
              1.2,
            ),
            statement(
              "a request of a live conversation beside the least query",
              ratio(whole.next, whole.least),
              1.5,
            ),
            statement(
              "the first request of a conversation, counted, chosen, lowered and hashed, beside the least query",
              ratio(whole.first, whole.least),
              1.5,
            ),
            "Of a first request the rows are the smaller part: lowering and hashing are done once for each message.",
            statement(
              "ten ancestors beside none",
              ratio(`${ancestors} ancestors, @parley/store`, `${shortest}, @parley/store`),
              3,
            ),
          ],
        },
        {
          title: `plans of a turn and of the reads of a page in a log of ${longest} messages`,
          columns: ["indexes in use"],
          rows: plans.indexes.map((name) => [name]),
          statements: [
            `${plans.whole.length === 0 ? "PASS" : "MISS"}  ${plans.statements} statements read large tables by an index: ${plans.whole.length === 0 ? "all of them" : plans.whole.join(", ")}`,
          ],
        },
        beside,
      ];
    } finally {
      await opened.store.close();
      await pool.end();
      await server.stop();
    }
  },
};
