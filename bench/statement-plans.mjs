// The indexes that the store's statements use, according to a database that is already filled.
import { randomUUID } from "node:crypto";

const built = (file) => import(new URL(`../packages/store/dist/${file}`, import.meta.url));

/** Passes all calls on and records the statements. */
class RecordingDatabase {
  statements = [];
  #database;

  constructor(database) {
    this.#database = database;
  }

  query(statement) {
    this.statements.push(statement);
    return this.#database.query(statement);
  }

  batch(statements) {
    this.statements.push(...statements);
    return this.#database.batch(statements);
  }

  transaction(work) {
    return this.#database.transaction((connection) =>
      work({
        query: (statement) => {
          this.statements.push(statement);
          return connection.query(statement);
        },
        batch: (statements) => {
          this.statements.push(...statements);
          return connection.batch(statements);
        },
      }),
    );
  }

  close() {
    return this.#database.close();
  }
}

/**
 * Plays a turn and the reads of a page in a conversation, and asks the server for the plan of each of their
 * statements: for the values at hand and, if a statement is prepared, for any. Returns the indexes through
 * which the tables of at least `large` rows were read, and the statements that read one of them as a whole.
 */
export async function planHotPath({ url, client, owner, conversationId, large }) {
  const [{ openLogStore }, { PostgresDatabase }] = await Promise.all([
    built("open-log-store.js"),
    built("postgres/postgres-database.js"),
  ]);
  const recording = new RecordingDatabase(new PostgresDatabase({ url, maxConnections: 1 }));
  const root = openLogStore(recording);
  try {
    const statements = [];
    for (const [name, call] of hotPath(root, owner, conversationId)) {
      recording.statements.length = 0;
      await call();
      statements.push(...recording.statements.map((statement) => ({ name, statement })));
    }
    const { rows } = await client.query(
      "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= $1",
      [large],
    );
    const tables = new Set(rows.map(({ relname }) => relname));
    const indexes = new Set();
    const whole = new Set();
    for (const { name, statement } of statements) {
      for (const plan of await plansOf(client, statement)) {
        for (const node of nodesOf(plan)) {
          if (node["Index Name"] !== undefined) indexes.add(node["Index Name"]);
          if (node["Node Type"].endsWith("Seq Scan") && tables.has(node["Relation Name"]))
            whole.add(`${name} reads all of ${node["Relation Name"]}`);
        }
      }
    }
    return { statements: statements.length, indexes: [...indexes].sort(), whole: [...whole] };
  } finally {
    await root.close();
  }
}

/**
 * Runs everything from an admission to the seal, each call repeated as after a lost response, and the reads
 * of a window.
 */
function hotPath(root, owner, conversationId) {
  const store = root.forOwner(owner);
  const node = "node";
  const turnId = randomUUID();
  const message = (role) => ({
    id: randomUUID(),
    conversationId,
    role,
    createdAt: new Date(),
    content: [{ type: "text", text: "Words" }],
  });
  const admission = {
    ...{ node, conversationId, turnId, message: message("user"), bodyHash: "hash", choices: {} },
    ...{ ifBusy: "queue", mode: "steer", queueLength: 50, title: "title" },
  };
  let held;
  let log;
  const step = () => ({ ...held, stepId: `${turnId}.0`, steps: [], providerCalls: [] });
  const answer = message("assistant");
  const last = message("assistant");
  const seal = () =>
    store.seal({
      ...step(),
      messages: [last],
      reason: "stop",
      metrics: { turnId, usage: { inputTokens: 1, outputTokens: 1 }, steps: [] },
      next: { node, turnId: randomUUID(), pauseQueue: false, openNext: true },
    });
  return [
    [
      "admission",
      async () => {
        const { turn } = await store.admit(admission);
        held = { conversationId, turnId, fence: turn.fence };
        log = turn.log;
      },
    ],
    ["repeated admission", () => store.admit(admission)],
    [
      "flush",
      () =>
        root.flushJournal([{ log, owner, turnId, fence: held.fence, firstN: 0, count: 1, data: "events" }]),
    ],
    ["open turn", () => store.readOpenTurn({ conversationId })],
    ["commit", () => store.commitStep({ ...step(), messages: [answer], promoteSteers: true })],
    ["repeated commit", () => store.commitStep({ ...step(), messages: [answer], promoteSteers: true })],
    ["seal", seal],
    ["repeated seal", seal],
    ["newest", () => store.readNewest({ conversationId, limit: 80 })],
    ["older", () => store.readNewest({ conversationId, limit: 80, before: 500 })],
    ["chunks", () => store.readChunks({ conversationId, limit: 100 })],
    ["chunks since", () => store.readChunks({ conversationId, sinceSeq: 990, limit: 100 })],
    ["record", () => store.get(conversationId)],
    ["turn", () => store.readTurn(conversationId, turnId)],
    ["last call", () => store.lastCall(conversationId)],
    ["receipt", () => store.findReceipt(conversationId, admission.message.id)],
    ["append", () => store.appendMessages([message("user")])],
  ];
}

async function plansOf(client, { text, values = [], name }) {
  const explained = async (query) => (await client.query(query)).rows[0]["QUERY PLAN"][0].Plan;
  const bound = await explained({ text: `EXPLAIN (FORMAT JSON) ${text}`, values: [...values] });
  if (name === undefined) return [bound];
  await client.query("SET plan_cache_mode = force_generic_plan");
  await client.query(`PREPARE examined AS ${text}`);
  const literals = values.map((value) => {
    if (value === null) return "NULL";
    const given = Array.isArray(value)
      ? `{${value.map((each) => JSON.stringify(each)).join(",")}}`
      : `${value}`;
    return client.escapeLiteral(given);
  });
  const call = literals.length === 0 ? "examined" : `examined(${literals.join(", ")})`;
  const generic = await explained(`EXPLAIN (FORMAT JSON) EXECUTE ${call}`);
  await client.query("DEALLOCATE examined");
  await client.query("RESET plan_cache_mode");
  return [bound, generic];
}

function* nodesOf(plan) {
  yield plan;
  for (const child of plan.Plans ?? []) yield* nodesOf(child);
}
