// One turn with two tool calls, made durable in four commits: the store beside the same rows by hand-written SQL.
import { cpus } from "node:os";
import { startPostgres } from "../postgres-server.mjs";

const text = (words) => Array.from({ length: words }, (_, index) => `word${(index * 7) % 100}`).join(" ");
const question = text(8);
const thought = text(8);
const answer = text(50);
const result = JSON.stringify({ degrees: 4, wind: "north", note: text(4) });

/** Ids as the runtime makes them: UUIDs of version 7, which ascend. */
let made = 0;
function nextId() {
  made += 1;
  const time = (1_700_000_000_000 + Math.floor(made / 8)).toString(16).padStart(12, "0");
  const rest = (made * 2_654_435_761).toString(16).padStart(16, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${(made % 4_096).toString(16).padStart(3, "0")}-8abc-${rest}`;
}

/** The rows of one turn: a question, an answer with two calls, two results, the last answer. */
function turnOf(conversationId) {
  const call = (toolCallId) => ({
    type: "tool-call",
    name: "weather",
    arguments: { city: "Oslo" },
    argumentsText: '{"city": "Oslo"}',
    toolCallId,
  });
  const outcome = (toolCallId) => ({
    type: "tool-result",
    name: "weather",
    result: JSON.parse(result),
    resultText: result,
    toolCallId,
    isError: false,
  });
  const message = (role, content) => ({ id: nextId(), conversationId, role, createdAt: new Date(), content });
  return {
    turnId: nextId(),
    user: message("user", [{ type: "text", text: question }]),
    calling: message("assistant", [
      { type: "text", text: thought },
      call("call_0123456789ab"),
      call("call_cdef01234567"),
    ]),
    results: [
      message("tool", [outcome("call_0123456789ab")]),
      message("tool", [outcome("call_cdef01234567")]),
    ],
    last: message("assistant", [{ type: "text", text: answer }]),
  };
}

function metricsOf(turnId) {
  const step = (index) => ({
    stepId: `${turnId}.${index}`,
    usage: { inputTokens: 1_000, outputTokens: 100 },
    ttftMs: 200,
    decodeMs: 800,
    genTotalMs: 1_000,
    model: "provider/model",
  });
  return {
    turnId,
    usage: { inputTokens: 2_000, outputTokens: 200 },
    durationMs: 2_500,
    contextSize: 1_100,
    steps: [step(0), step(1)],
  };
}

async function openStore(url) {
  const { openPostgres } = await import("@parley/store/postgres");
  const opened = openPostgres({ url, listenUrl: false, maxConnections: 10 });
  await opened.store.migrate();
  const store = opened.store.forOwner("owner");
  return {
    close: () => opened.store.close(),
    async turn(conversationId) {
      const { turnId, user, calling, results, last } = turnOf(conversationId);
      const outcome = await store.admit({
        node: "node",
        conversationId,
        message: user,
        bodyHash: "0123456789abcdef",
        ifBusy: "queue",
        mode: "steer",
        choices: {},
        turnId,
        queueLength: 50,
        title: "title",
      });
      const held = { conversationId, turnId, fence: outcome.turn.fence };
      const metrics = metricsOf(turnId);
      const step = { ...held, stepId: `${turnId}.0`, steps: [], providerCalls: [] };
      await store.commitStep({ ...step, messages: [calling], promoteSteers: false });
      await store.commitStep({
        ...step,
        messages: results,
        promoteSteers: true,
        steps: metrics.steps.slice(0, 1),
      });
      await store.seal({
        ...held,
        stepId: `${turnId}.1`,
        messages: [last],
        reason: "stop",
        metrics,
        providerCalls: [],
        next: { node: "node", turnId: `${turnId}x`, pauseQueue: false, openNext: true },
      });
    },
  };
}

/**
 * The same rows in the same tables with the same indexes, in as many commits, each one prepared statement: what someone
 * who knows the schema would write who needs no fence, no queue, no receipt for a repeated call, no journal and no
 * answer. The store's own schema is used, so that both pay for the same indexes.
 */

async function openByHand(url) {
  const { openPostgres } = await import("@parley/store/postgres");
  const { default: pg } = await import("pg");
  const schema = openPostgres({ url, listenUrl: false });
  await schema.store.migrate();
  await schema.store.close();
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on("error", () => {});
  const touched = "changed_at = nextval('conversation_change'), updated_at = now(), last_activity_at = now()";
  const insertRows = (from, place) => `
    INSERT INTO conversation_message (thread_id, id, role, type, content, created_at, first_seq, part_count, turn_id, step)
    SELECT $1, g.id, g.role, g.type, g.content::jsonb, g.created_at, ${from}.seq + g.start, g.parts, $2, ${place}
    FROM ${from}, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::int4[], $9::int4[])
      AS g(id, role, type, content, created_at, start, parts)`;
  const statements = {
    create: `WITH c AS (INSERT INTO conversation (id, owner, title, status, created_at, last_activity_at, updated_at, changed_at)
      VALUES ($1, 'owner', 'title', 'open', now(), now(), now(), nextval('conversation_change')))
      INSERT INTO conversation_head (conversation_id, owner, next_seq, sealed_seq, active_at) VALUES ($1, 'owner', 1, 0, now())`,
    admit: `WITH h AS (UPDATE conversation_head SET turn_id = $2, node = 'node', fence = fence + 1,
        turn_count = turn_count + 1, next_seq = next_seq + $10::int4, started_at = now(), active_at = now()
        WHERE conversation_id = $1 RETURNING next_seq - $10::int4 AS seq, turn_count),
      t AS (INSERT INTO conversation_turn (conversation_id, id, ordinal, status, first_seq, last_seq, started_at)
        SELECT $1, $2, turn_count, 'running', seq, seq, now() FROM h),
      r AS (INSERT INTO receipt (conversation_id, message_id, body_hash, outcome, turn_id)
        VALUES ($1, ($3::text[])[1], '0123456789abcdef', 'started', $2)),
      c AS (UPDATE conversation SET ${touched} WHERE id = $1) ${insertRows("h", "NULL")}`,
    commit: `WITH h AS (UPDATE conversation_head SET next_seq = next_seq + $10::int4, active_at = now()
        WHERE conversation_id = $1 RETURNING next_seq - $10::int4 AS seq),
      t AS (UPDATE conversation_turn SET steps = $11::jsonb, last_seq = h.seq + $10::int4 - 1 FROM h
        WHERE id = $2 AND conversation_id = $1) ${insertRows("h", "'+.0'")}`,
    seal: `WITH h AS (UPDATE conversation_head SET turn_id = NULL, node = '', next_seq = next_seq + $10::int4,
        sealed_seq = next_seq + $10::int4 - 1, started_at = NULL, active_at = now()
        WHERE conversation_id = $1 RETURNING next_seq - $10::int4 AS seq, sealed_seq),
      t AS (UPDATE conversation_turn SET status = 'sealed', reason = 'stop', steps = NULL, metrics = $11::jsonb,
        last_seq = h.sealed_seq, sealed_at = now(), sealed_fence = 1 FROM h WHERE id = $2 AND conversation_id = $1),
      c AS (UPDATE conversation SET ${touched}, context_size = 1100 WHERE id = $1) ${insertRows("h", "'+.1'")}`,
  };
  const part = ({ type, name, arguments: _, argumentsText, result: __, resultText, toolCallId, ...rest }) =>
    type === "text"
      ? { type, ...rest }
      : {
          ...rest,
          type: "tool-invocation",
          toolCallId,
          toolName: name,
          ...(type === "tool-call"
            ? { argsText: argumentsText, state: "call" }
            : { resultText, state: "result" }),
        };
  const rows = (conversationId, turnId, messages) => {
    let start = 0;
    const starts = messages.map(({ content }) => {
      start += content.length;
      return start - content.length;
    });
    return [
      conversationId,
      turnId,
      messages.map(({ id }) => id),
      messages.map(({ role }) => role),
      messages.map(({ role }) => (role === "tool" ? "tool" : "text")),
      messages.map(({ content }) => JSON.stringify({ format: 2, parts: content.map(part) })),
      messages.map(({ createdAt }) => createdAt.toISOString()),
      starts,
      messages.map(({ content }) => content.length),
      start,
    ];
  };
  const run = (name, values) => pool.query({ name, text: statements[name], values });
  return {
    close: () => pool.end(),
    async turn(conversationId, number) {
      const { turnId, user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await run("create", [conversationId]);
      const metrics = metricsOf(turnId);
      await run("admit", rows(conversationId, turnId, [user]));
      await run("commit", [...rows(conversationId, turnId, [calling]), null]);
      await run("commit", [
        ...rows(conversationId, turnId, results),
        JSON.stringify(metrics.steps.slice(0, 1)),
      ]);
      await run("seal", [...rows(conversationId, turnId, [last]), JSON.stringify(metrics)]);
    },
  };
}

/** So many turns, so many at a time, each worker in conversations of its own of 1,000 turns. */
async function runTurns(contestant, { turns, inFlight }) {
  contestant.workers ??= Array.from({ length: 10 }, () => ({ id: nextId(), number: 0 }));
  const started = performance.now();
  const before = process.cpuUsage();
  await Promise.all(
    contestant.workers.slice(0, inFlight).map(async (worker) => {
      for (let count = 0; count < turns / inFlight; count++) {
        if (worker.number === 1_000) Object.assign(worker, { id: nextId(), number: 0 });
        await contestant.turn(worker.id, worker.number++);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { ms: (performance.now() - started) / turns, cpuMs: (user + system) / 1_000 / turns };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(contestants, { turns, inFlight, rounds, log }) {
  for (const contestant of contestants) await runTurns(contestant, { turns: turns * 10, inFlight });
  const samples = contestants.map(() => []);
  for (let round = 0; round < rounds; round++) {
    if (round % 10 === 0) log(`  ${inFlight} at a time: round ${round + 1} of ${rounds}`);
    const order = contestants.map((_, place) => place);
    if (round % 2 === 1) order.reverse();
    for (const place of order) samples[place].push(await runTurns(contestants[place], { turns, inFlight }));
  }
  const ratio = median(samples[1].map(({ ms }, round) => ms / samples[0][round].ms));
  const rows = contestants.map(({ name }, place) => {
    const figure = (key) => median(samples[place].map((sample) => sample[key]));
    return [name, `${figure("ms").toFixed(3)} ms`, `${figure("cpuMs").toFixed(3)} ms`];
  });
  return { rows, ratio };
}

/** Bytes that a turn leaves in the database, early and late in conversations of 1,000 turns. */
async function bytesPerTurn(url, contestant, { conversations, turns }) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const size = async () => {
    await client.query("VACUUM");
    const { rows } = await client.query(
      "SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    return rows[0].bytes;
  };
  const ids = Array.from({ length: conversations }, nextId);
  const through = async (from, to) => {
    const before = await size();
    for (let number = from; number < to; number++) {
      await Promise.all(ids.map((id) => contestant.turn(id, number)));
    }
    return ((await size()) - before) / (conversations * (to - from));
  };
  const tenth = turns / 10;
  const first = await through(0, tenth);
  await through(tenth, turns - tenth);
  const last = await through(turns - tenth, turns);
  await client.end();
  return { first, last };
}

export const scenario = {
  name: "turn-persistence",
  title: "a turn with two tool calls made durable in four commits, on PostgreSQL with fsync",
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    const contestants = [];
    try {
      const { default: pg } = await import("pg");
      const admin = new pg.Client({ connectionString: server.urlOf("postgres") });
      await admin.connect();
      for (const name of ["by_hand", "parley"]) await admin.query(`CREATE DATABASE ${name}`);
      await admin.end();
      contestants.push(
        { name: "by hand", ...(await openByHand(server.urlOf("by_hand"))) },
        { name: "@parley/store", ...(await openStore(server.urlOf("parley"))) },
      );
      // Many short rounds: the time of a disk's sync changes from one second to the next.
      const turns = 50;
      const rounds = quick ? 20 : 80;
      const tables = [];
      for (const inFlight of [1, 10]) {
        const { rows, ratio } = await measure(contestants, { turns, inFlight, rounds, log });
        tables.push({
          title: `time per turn, ${inFlight} at a time (${server.name}, ${cpus().length} cores, median of ${rounds})`,
          columns: ["", "wall", "CPU of the node"],
          rows,
          statements: [
            `${ratio <= 1.3 ? "PASS" : "MISS"}  @parley/store takes ${ratio.toFixed(2)}x of by hand (at most 1.3x)`,
          ],
        });
      }
      const sizes = [];
      for (const [place, name] of ["by_hand", "parley"].entries()) {
        log(`  bytes per turn: ${name}`);
        sizes.push(
          await bytesPerTurn(server.urlOf(name), contestants[place], {
            conversations: quick ? 10 : 20,
            turns: quick ? 100 : 1_000,
          }),
        );
      }
      const bytes = (value) => `${Math.round(value)} B`;
      const { user, calling, results: outcomes, last: end } = turnOf("");
      const content = [user, calling, ...outcomes, end].reduce(
        (sum, message) => sum + JSON.stringify(message.content).length,
        0,
      );
      const [, ours] = sizes;
      const worst = Math.max(ours.first, ours.last);
      tables.push({
        title: `bytes per turn, tables and indexes after VACUUM (its messages' parts as JSON: ${content} B)`,
        columns: ["", "first tenth", "last tenth"],
        rows: sizes.map(({ first, last }, place) => [contestants[place].name, bytes(first), bytes(last)]),
        statements: [`${worst <= 3_072 ? "PASS" : "MISS"}  at most ${bytes(worst)} per turn (at most 3 KB)`],
      });
      return tables;
    } finally {
      for (const contestant of contestants) await contestant.close();
      await server.stop();
    }
  },
};
