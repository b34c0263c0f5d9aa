import type { ClaimedDelivery, LogStore } from "@parley/core/ports";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { openLogStore } from "../open-log-store.js";
import { PostgresMemoryStore } from "../postgres-memory-store.js";
import { PostgresDatabase } from "./postgres-database.js";
import { admission, batch, commit, held, message, node, sealing, start } from "./turns.test-support.js";

/** Records the statements that go through it. */
class RecordingDatabase implements Database {
  readonly statements: Statement[] = [];
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  query(statement: Statement): Promise<ResultRow[]> {
    this.statements.push(statement);
    return this.#database.query(statement);
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    this.statements.push(...statements);
    return this.#database.batch(statements);
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
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

  close(): Promise<void> {
    return this.#database.close();
  }
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Explained {
  readonly "QUERY PLAN": { Plan: PlanNode }[];
}

function* nodesOf(plan: PlanNode): Generator<PlanNode> {
  yield plan;
  for (const child of plan.Plans ?? []) yield* nodesOf(child);
}

/** Tables with a handful of rows at any time: reading all of them is the best plan. */
const small = new Set([
  "node",
  "shard",
  "conversation_change",
  "conversation_notice",
  "pg_locks",
  "pg_database",
]);

const owner = "ada";
const big = "big";
const medium = "medium";
const leaf = "fork-10";

/** One log of 60,000 messages, one of 1,000, 20,000 small ones, and ten forks in a row. */
const fill = `
CREATE FUNCTION pg_temp.id_key(id text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || substr(encode(sha256(convert_to(id, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint
$$;
INSERT INTO parley.conversation (log, id, owner, title, status, created_at, last_activity_at, updated_at, changed_at)
SELECT nextval('parley.log_number'), id, 'ada', 'title of ' || id, 'open', now(), now() - n * interval '1 second', now(), nextval('parley.conversation_change')
FROM (SELECT 'c' || n AS id, n FROM generate_series(1, 20000) n
  UNION ALL VALUES ('big', 0), ('medium', 0)) AS logs;
INSERT INTO parley.conversation_head (log, owner, next_seq, sealed_seq, active_at)
SELECT log, owner, CASE id WHEN 'big' THEN 60001 WHEN 'medium' THEN 1001 ELSE 3 END,
  CASE id WHEN 'big' THEN 60000 WHEN 'medium' THEN 1000 ELSE 2 END, now() FROM parley.conversation;
INSERT INTO parley.conversation_message
  (id, id_key, log, role, type, content, created_at, first_seq, part_count, turn, body_hash)
SELECT c.id || '-' || n, pg_temp.id_key(c.id || '-' || n), h.log, 'user', 'text',
  jsonb_build_object('format', 2, 'parts', jsonb_build_array(jsonb_build_object('type', 'text',
    'text', 'word' || (n % 5000) || ' of ' || c.id))),
  now(), n, 1, (n + 1) / 2, CASE n % 2 WHEN 1 THEN 'h' END
FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
CROSS JOIN LATERAL generate_series(1, h.sealed_seq) n;
INSERT INTO parley.conversation_turn
  (log, id, ordinal, status, first_seq, last_seq, metrics, provider_calls, started_at, sealed_at)
SELECT h.log, 't' || n, n, 'sealed', n * 2 - 1, n * 2, '{"turnId":"t"}', '[{"id":"p","createdAt":1}]', now(), now()
FROM parley.conversation_head h CROSS JOIN LATERAL generate_series(1, h.sealed_seq / 2) n;
INSERT INTO parley.receipt (log, message_id, body_hash, outcome, turn_id)
SELECT log, 'waited-' || id, 'h', 'queued', 't1' FROM parley.conversation_message WHERE first_seq % 2 = 0;
UPDATE parley.conversation_head SET turn_count = sealed_seq / 2;
UPDATE parley.conversation_head SET turn_id = 'open', turn_count = 2, node = 'node-1', fence = 1, started_at = now()
WHERE log IN (SELECT log FROM parley.conversation WHERE id IN (SELECT 'c' || n FROM generate_series(1, 1000) n));
INSERT INTO parley.conversation_turn (log, id, ordinal, status, first_seq, last_seq, started_at)
SELECT log, 'open', 2, 'running', 3, 2, now() FROM parley.conversation_head WHERE turn_id IS NOT NULL;
INSERT INTO parley.turn_journal (log, turn, first_n, event_count, epoch, data)
SELECT log, turn_count, n * 10, 10, 1, repeat('x', 200)
FROM parley.conversation_head CROSS JOIN generate_series(0, 19) n WHERE turn_id IS NOT NULL;
INSERT INTO parley.queued_message
  (log, id, rank, mode, role, type, content, created_at, part_count, queued_at)
SELECT log, 'q' || n, n, 'queue', 'user', 'text', '{"format":2,"parts":[{"type":"text","text":"x"}]}', now(), 1, now()
FROM parley.conversation_head CROSS JOIN generate_series(1, 5) n WHERE turn_id IS NOT NULL;
INSERT INTO parley.compaction (log, seq, kind, from_seq, to_seq)
SELECT log, n, 'made', 1, 2 FROM parley.conversation_head CROSS JOIN generate_series(1, 2) n;
INSERT INTO parley.input_request (created_at, decided_at, log, turn, place, logged, owner, request_id, step, kind,
  tool_call_id, tool_name, tool_hash, arguments_hash, arguments_text, response)
SELECT now(), now(), log, 1, n, true, owner, 't1.0.' || n, '+.0', 'approval', 'k', 'pay', 'h', 'h', '{}', '{}'
FROM parley.conversation_head CROSS JOIN generate_series(1, 3) n;
INSERT INTO parley.input_request (created_at, log, turn, place, owner, request_id, step, kind, tool_call_id, tool_name,
  tool_hash, arguments_hash, arguments_text, expires_at)
SELECT now(), log, turn_count, n, owner, 'open.0.' || n, '+.0', 'approval', 'k', 'pay', 'h', 'h', '{}',
  now() + n * interval '1 day'
FROM parley.conversation_head CROSS JOIN generate_series(1, 3) n
WHERE log IN (SELECT log FROM parley.conversation WHERE id IN (SELECT 'c' || n FROM generate_series(501, 1000) n));
INSERT INTO parley.input_grant (created_at, owner, id, tool_name, tool_hash, request_id, scope)
SELECT now(), 'owner-' || n, 'g' || n, 'pay', 'h', 'r', '{"in":"owner"}' FROM generate_series(1, 5000) n;
INSERT INTO parley.webhook (created_at, owner, id, url, label, events, secret)
SELECT now(), CASE WHEN n <= 2 THEN 'ada' ELSE 'owner-' || n END, 'w' || n, 'https://hooks.example', '',
  ARRAY['input.requested', 'input.answered', 'turn.sealed', 'conversation.created'], 'whsec_c2VjcmV0'
FROM generate_series(1, 5000) n;
INSERT INTO parley.outbox (owner, webhook, number, place, log, id, type, data, state, created_at, due_at)
SELECT CASE WHEN n % 10 = 0 THEN 'ada' ELSE 'owner-' || (3 + n % 4998) END,
  'w' || CASE WHEN n % 10 = 0 THEN 1 + n / 10 % 2 ELSE 3 + n % 4998 END, n, 0, 1 + n % 5000, 'e' || n, 'turn.sealed', '{}',
  CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'delivered' END, now(), now() + (n % 3 - 1) * interval '1 hour'
FROM generate_series(1, 40000) n;
INSERT INTO parley.branch_pointer (owner, chat_id, log) SELECT 'owner-' || n, 'chat', n FROM generate_series(1, 5000) n;
INSERT INTO parley.file_owner (owner) SELECT 'owner-' || n FROM generate_series(1, 5000) n;
INSERT INTO parley.blob (number, size, owner, hash, check_at)
SELECT n, 1, CASE n % 2 WHEN 0 THEN 'ada' ELSE 'owner-' || (1 + n % 5000) END, md5(n::text) || md5(n::text),
  CASE WHEN n % 100 = 0 THEN now() + (n % 3 - 1) * interval '1 hour' END
FROM generate_series(1, 40000) n;
SELECT setval('parley.blob_number', 100000);
INSERT INTO parley.blob_piece (blob, n, data) SELECT n, 0, 'x' FROM generate_series(1, 40000) n;
INSERT INTO parley.derived_file (blob, variant, data) SELECT n, 'thumbnail', 'x' FROM generate_series(1, 40000) n;
INSERT INTO parley.blob_ref (log, seq, blob)
SELECT 1 + n % 20000, 1 + n / 20000, 2 * (1 + n % 20000) FROM generate_series(0, 39999) n;
INSERT INTO parley.upload (owner, id, blob, expires_at, is_finished)
SELECT 'owner-' || (1 + n % 5000), 'u' || n, n, now() + (n % 3 - 1) * interval '1 hour', true
FROM generate_series(1, 20000) n;
SELECT setval('parley.conversation_change', 100000);
INSERT INTO parley.search_owner (number, owner, through, open)
SELECT 1, 'ada', max(changed_at), ARRAY(SELECT log FROM parley.conversation_head WHERE turn_id IS NOT NULL) FROM parley.conversation;
INSERT INTO parley.search_owner (number, owner) SELECT n + 1, 'none-' || n FROM generate_series(1, 5000) n;
SELECT setval('parley.search_owner_number', 5001);
INSERT INTO parley.search_entry (created_ms, owner, log, first_seq, words)
SELECT date_part('epoch', m.created_at) * 1000, 1, log, first_seq,
  array_to_tsvector(ARRAY['1:word' || (first_seq % 5000), '1:of', '1:' || c.id])
FROM parley.conversation_message m JOIN parley.conversation c USING (log)
UNION ALL
SELECT date_part('epoch', created_at) * 1000, 1, log, 0, array_to_tsvector(ARRAY['1:title', '1:of', '1:' || id])
FROM parley.conversation;
`;

describeOnPostgres("plans at 100,000 messages", (postgres) => {
  let database: TestDatabase;
  let recording: RecordingDatabase;
  let store: LogStore;
  let root: ReturnType<typeof openLogStore>;
  let client: pg.Client;
  beforeAll(async () => {
    database = await postgres.createDatabase();
    recording = new RecordingDatabase(new PostgresDatabase({ url: database.url }));
    root = openLogStore(recording, { search: { searchMs: 60_000 } });
    await root.migrate();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(fill);
    store = root.forOwner(owner);
    await root.heartbeat(node, 600_000);
    let parent = medium;
    for (let depth = 1; depth <= 10; depth++) {
      const newId = `fork-${depth}`;
      await store.fork({ conversationId: parent, atSeq: 1_000 + (depth - 1) * 2, newId });
      const turn = await start(store, newId);
      await store.seal(sealing(turn, [message(newId, "Answer", "assistant")]));
      parent = newId;
    }
    await root.indexSearch({ owner, limit: 1_000 });
    await client.query("VACUUM ANALYZE");
  }, 120_000);
  afterAll(async () => {
    await client.end();
    await root.close();
    await database.drop();
  });

  /** Returns the plan for these values and, for a prepared statement, also the generic one, because either may run. */
  async function plansOf({ text, values = [], name }: Statement): Promise<PlanNode[]> {
    const bound = await client.query<Explained>({
      text: `EXPLAIN (FORMAT JSON) ${text}`,
      values: [...values],
    });
    if (name === undefined) return [planOf(bound)];
    await client.query("SET plan_cache_mode = force_generic_plan");
    await client.query(`PREPARE examined AS ${text}`);
    const literals = values.map((value) => {
      if (value === null) return "NULL";
      const array = typeof value === "object";
      return client.escapeLiteral(
        array ? `{${value.map((each) => JSON.stringify(each)).join(",")}}` : `${value}`,
      );
    });
    const call = literals.length === 0 ? "examined" : `examined(${literals.join(", ")})`;
    const generic = await client.query<Explained>(`EXPLAIN (FORMAT JSON) EXECUTE ${call}`);
    await client.query("DEALLOCATE examined");
    await client.query("RESET plan_cache_mode");
    return [planOf(bound), planOf(generic)];
  }

  function planOf({ rows }: { rows: Explained[] }): PlanNode {
    const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
    if (plan === undefined) throw new Error("there is no plan");
    return plan;
  }

  function expectNoScans(what: string, statement: Statement, plan: PlanNode): void {
    const scans = [...nodesOf(plan)].filter(
      (each) => each["Node Type"] === "Seq Scan" && !small.has(each["Relation Name"] ?? ""),
    );
    const relations = scans.map((scan) => scan["Relation Name"]);
    expect({ what, statement: statement.text, relations }).toMatchObject({ relations: [] });
  }

  async function checkIndexed(what: string, call: () => Promise<unknown>): Promise<PlanNode[]> {
    recording.statements.length = 0;
    await call();
    const plans: PlanNode[] = [];
    for (const statement of [...recording.statements]) {
      for (const plan of await plansOf(statement)) {
        plans.push(plan);
        expectNoScans(what, statement, plan);
      }
    }
    return plans;
  }

  it("of a turn's statements, from admission to seal, are by index", async () => {
    const turn = await start(store, big);
    await store.seal(sealing(turn));
    await checkIndexed("admission", () => store.admit(admission(big, "Again")));
    const open = await store.readOpenTurn({ conversationId: big });
    const { log = 0, turnId = "", fence = 0 } = open ?? {};
    const running = { conversationId: big, log, turnId, fence };
    await checkIndexed("flush", () => root.flushJournal([batch(running, 0, owner)]));
    await checkIndexed("read of the open turn", () => store.readOpenTurn({ conversationId: big }));
    const answer = message(big, "Answer", "assistant");
    await checkIndexed("commit", () => store.commitStep(commit(running, [answer], true)));
    await checkIndexed("repeated commit", () => store.commitStep(commit(running, [answer], true)));
    const end = sealing(running, [message(big, "End", "assistant")]);
    await checkIndexed("seal", () => store.seal(end));
    await checkIndexed("repeated seal", () => store.seal(end));
  });

  it("of a flush for a thousand turns are by index", async () => {
    const batches = Array.from({ length: 1_000 }, (_, index) =>
      batch({ log: index + 1, turnId: "open", fence: 1 }, 1_000, owner),
    );
    await checkIndexed("flush", () => root.flushJournal(batches));
  });

  it("of queueing, promotion, stop, take-over and release are by index", async () => {
    const turn = { conversationId: "c1", turnId: "open", fence: 1 };
    const queued = admission("c1", "Steer");
    await checkIndexed("queueing", () => store.admit(queued));
    await checkIndexed("list of the queue", () => store.queue("c1", { op: "list" }));
    const edit = { op: "edit" as const, id: queued.message.id, text: "Other", before: "q1" };
    await checkIndexed("edit", () => store.queue("c1", edit));
    const answer = message("c1", "Answer", "assistant");
    await checkIndexed("promotion", () => store.commitStep(commit(turn, [answer], true)));
    await checkIndexed("stop", () => store.requestStop("c1"));
    await checkIndexed("take-over", () => store.takeOver({ ...turn, node }));
    await checkIndexed("release", () => store.release({ ...turn, fence: 2 }));
    await checkIndexed("heartbeat", () => root.heartbeat(node, 600_000));
    await checkIndexed("claim", () => root.claimExpired("node-2", 10));
    await checkIndexed("seal with a queue", () => store.seal(sealing(held({ ...turn, fence: 3 }))));
  });

  it("of requests for input, responses and standing approvals are by index", async () => {
    const turn = { conversationId: "c501", turnId: "open", fence: 1 };
    const respond = (requestId: string) =>
      store.respond({
        conversationId: turn.conversationId,
        requestId,
        node,
        grantId: crypto.randomUUID(),
        response: {
          type: "input-response",
          requestId,
          toolCallId: "k",
          toolName: "pay",
          decision: "allow",
          via: "http",
          scope: { in: "conversation" },
        },
      });
    await checkIndexed("pending", () => store.pendingInputs({ limit: 20 }));
    await checkIndexed("pending of one", () =>
      store.pendingInputs({ conversationId: turn.conversationId, limit: 20 }),
    );
    await checkIndexed("read", () => store.readInput(turn.conversationId, "open.0.1"));
    await checkIndexed("response to a held turn", () => respond("open.0.1"));
    await checkIndexed("responses", () => store.readResponses(turn));
    await checkIndexed("grants", () =>
      store.grants({ toolName: "pay", conversationId: turn.conversationId }),
    );
    await checkIndexed("expiry", () => root.expireInputs(10));
    await client.query("DELETE FROM parley.input_request WHERE request_id = 'open.0.1'");
    await checkIndexed("wait", () =>
      store.commitStep({
        ...commit(turn, [message(turn.conversationId, "Asks", "assistant")], false),
        wait: true,
      }),
    );
    await checkIndexed("response to a turn that waits", () => respond("open.0.2"));
    await checkIndexed("seal", () => store.seal(sealing(held({ ...turn, fence: 2 }))));
  });

  it("of the search for conversations that are unused, and of their removal, are by index", async () => {
    const query = { idPrefix: "oa.", origin: "responses", forMs: 0, limit: 10 };
    await checkIndexed("unused", () => root.findUnused(query));
    await checkIndexed("temporary", () => root.findUnused({ temporary: true, forMs: 0, limit: 10 }));
    const id = crypto.randomUUID();
    await store.create({ id, settings: { temporary: true } });
    await checkIndexed("keep", () => store.set(id, { temporary: null }));
    await checkIndexed("remove", () => store.remove(id, { cascade: false, unusedForMs: 0 }));
  });

  it("of uploads, of messages with files and of the collector are by index", async () => {
    const id = crypto.randomUUID();
    const hash = "0f".repeat(32);
    const piece = { id, n: 0, data: new Uint8Array(10), stalledMs: 1_000, ownerBytes: 1e9 };
    await checkIndexed("begin", () => store.beginUpload({ id, stalledMs: 600_000 }));
    await checkIndexed("piece", () => store.writePiece(piece));
    const end = { id, hash, name: "a", mediaType: "b/c", unsentMs: 600_000 };
    await checkIndexed("finish", () => store.finishUpload(end));
    const { blob } = await store.finishUpload(end);
    await checkIndexed("find", () => store.findUpload(id));
    await checkIndexed("find by hash", () => store.findBlob(hash));
    await checkIndexed("read", () => store.readBlob({ blob, offset: 0, length: 10 }));
    const derived = { blob, variant: "thumbnail", data: new Uint8Array(1), ownerBytes: 2 ** 40 } as const;
    await checkIndexed("save a derived form", () => store.saveDerived(derived));
    await checkIndexed("find a derived form", () => store.findDerived(derived));
    await checkIndexed("usage", () => store.fileUsage());
    await checkIndexed("secret", () => store.fileSecret("secret"));
    const conversationId = crypto.randomUUID();
    const sent = message(conversationId, "Look");
    sent.content.push({ type: "file", mediaType: "b/c", hash, size: 10 });
    await checkIndexed("admission", () => store.admit(admission(conversationId, "Look", { message: sent })));
    const waiting = { ...message(conversationId, "And"), content: sent.content };
    await checkIndexed("queueing", () => store.admit(admission(conversationId, "And", { message: waiting })));
    await checkIndexed("taking out", () => store.queue(conversationId, { op: "remove", id: waiting.id }));
    await checkIndexed("removal", () => store.remove(conversationId, { cascade: false }));
    await checkIndexed("collection", () => root.collectBlobs(10));
    await checkIndexed("drop", () => store.dropUpload(id));
  });

  it("of events, claims of deliveries, their settlement and replay are by index", async () => {
    await checkIndexed("creation", () => store.create({ id: crypto.randomUUID(), settings: {} }));
    const ask = { limit: 8, leaseMs: 1_000, healthyOnly: false };
    const claimed: ClaimedDelivery[] = [];
    await checkIndexed("claim", async () => {
      claimed.push(...(await root.outbox.claim({ ...ask, except: [] })).deliveries);
    });
    expect(claimed.map(({ webhookId }) => webhookId).sort()).toEqual(["w1", "w2"]);
    const except = [{ owner, webhookId: "w1" }];
    await checkIndexed("claim of the others", () => root.outbox.claim({ ...ask, except }));
    const [first, second] = claimed;
    if (first === undefined || second === undefined) throw new Error("two deliveries are claimed");
    await checkIndexed("success", () => root.outbox.settle(first, { kind: "delivered", keepMs: 1 }));
    await checkIndexed("failure", () => root.outbox.settle(second, { kind: "retry", retryMs: 1 }));
    const webhookId = "w2";
    await checkIndexed("list", () => store.deliveries({ webhookId, limit: 20, before: "500.0" }));
    await checkIndexed("replay", () => store.replayDeliveries({ webhookId, since: Date.now() + 60_000 }));
    await checkIndexed("change", () => store.changeWebhook("w1", { enabled: false, keepMs: 1 }));
    await checkIndexed("sweep", () => root.outbox.sweep(10));
    await checkIndexed("endpoints", () => store.webhooks());
    await checkIndexed("removal", () => store.removeWebhook("w1"));
  });

  it("of windows, pages, records, feeds and searches are by index", async () => {
    for (const conversationId of [big, medium, leaf]) {
      await checkIndexed("newest", () => store.readNewest({ conversationId, limit: 50 }));
      await checkIndexed("older", () => store.readNewest({ conversationId, limit: 50, before: 500 }));
      await checkIndexed("added", () => store.readAfter({ conversationId, seq: 500, limit: 50 }));
      for (const ascending of [true, false])
        await checkIndexed("list", () => store.listMessages(conversationId, { limit: 50, ascending }));
      await checkIndexed("chunks", () => store.readChunks({ conversationId, limit: 100 }));
      await checkIndexed("chunks since", () => store.readChunks({ conversationId, sinceSeq: 990 }));
      await checkIndexed("record", () => store.get(conversationId));
      await checkIndexed("last call", () => store.lastCall(conversationId));
      await checkIndexed("turn", () => store.readTurn(conversationId, "t10"));
    }
    await checkIndexed("receipt", () => store.findReceipt(big, "big-1"));
    await checkIndexed("list", () => store.list({ limit: 20 }));
    const { next } = await store.list({ limit: 20 });
    await checkIndexed("next page", () => store.list({ limit: 20, before: next ?? "" }));
    for (const model of [undefined, "test/model"]) {
      const query = { limit: 20, pinnedFirst: true, ...(model === undefined ? {} : { model }) };
      await checkIndexed("pinned first", () => store.list(query));
      const { next: second } = await store.list(query);
      if (second === undefined) continue;
      await checkIndexed("behind the pinned ones", () => store.list({ ...query, before: second }));
      await checkIndexed("among the pinned ones", () => store.list({ ...query, before: `pinned~${second}` }));
    }
    const { last } = await store.changed({ limit: 1 });
    await checkIndexed("changes", () => store.changed({ since: last - 10, limit: 20 }));
    const watched = Array.from({ length: 400 }, (_, index) => ({ owner: `watched-${index}`, since: last }));
    const followed = Array.from({ length: 400 }, (_, index) => ({ log: index + 1, owner, seq: 9 }));
    await checkIndexed("news", () =>
      root.news({ owners: [...watched, { owner, since: last }], conversations: followed }),
    );
    await checkIndexed("append", () => store.appendMessages([message(big, "Appended")]));
    await checkIndexed("fork", () =>
      store.fork({ conversationId: medium, atSeq: 500, newId: crypto.randomUUID() }),
    );
  });

  /** Returns the statements of a search, each with its plans. The settings before a statement apply to it. */
  async function plansOfSearch(search: () => Promise<unknown>): Promise<[Statement, PlanNode[]][]> {
    recording.statements.length = 0;
    await search();
    const statements = [...recording.statements];
    const plans: [Statement, PlanNode[]][] = [];
    await client.query("BEGIN");
    for (const statement of statements) {
      if (statement.text.includes("set_config")) await client.query(statement.text);
      else plans.push([statement, await plansOf(statement)]);
    }
    await client.query("ROLLBACK");
    return plans;
  }

  const places = (hits: readonly { conversationId: string; seq: number }[]) =>
    hits.map(({ conversationId, seq }) => [conversationId, seq]);

  it("of searches are by index, whatever is looked for", async () => {
    for (const conversationId of [undefined, big, medium, leaf]) {
      for (const q of ["word4999", "medium", "word7 of ", "of", "w", "nothing"]) {
        const within = conversationId === undefined ? {} : { conversationId };
        const plans = await plansOfSearch(() => store.search({ q, limit: 5, ...within }));
        for (const [statement, each] of plans) for (const plan of each) expectNoScans(q, statement, plan);
        const byTerms = plans.filter(([{ text }]) => text.includes("FROM parley.search_entry\n"));
        const indexes = byTerms.flatMap(([, each]) =>
          each.flatMap((plan) => [...nodesOf(plan)].map((node) => node["Index Name"])),
        );
        // The newest entries have enough of the others: the forks have the titles of what they continue.
        const isAsked = conversationId === undefined && !["of", "w", "medium"].includes(q);
        expect([q, indexes.includes("search_entry_words")]).toEqual([q, isAsked]);
      }
    }
    const common = await store.search({ q: "of big", limit: 5 });
    expect(places(common.hits)).toEqual([60_000, 59_999, 59_998, 59_997, 59_996].map((seq) => [big, seq]));
    const within = await store.search({ q: "of", limit: 3, conversationId: leaf });
    expect(places(within.hits)).toEqual([1_000, 999, 998].map((seq) => [leaf, seq]));
    expect([common.partial, within.partial]).toEqual([undefined, undefined]);
  });

  it("of one owner's searches touch nothing of another's 100,000 messages", async () => {
    const stranger = root.forOwner("grace");
    await stranger.createConversation({ id: "hers" });
    const texts = Array.from({ length: 1_500 }, (_, n) => (n % 500 === 7 ? `Of course ${n}` : `Never ${n}`));
    await stranger.appendMessages(texts.map((text) => message("hers", text)));
    while ((await root.indexSearch({ owner: "grace", limit: 500 })).more);
    await client.query("VACUUM ANALYZE search_entry");
    const mine = await stranger.search({ q: "of", limit: 5 });
    expect(places(mine.hits)).toEqual([1_008, 508, 8].map((seq) => ["hers", seq]));
    expect(mine.partial).toBeUndefined();
    recording.statements.length = 0;
    await stranger.search({ q: "of", limit: 5 });
    let byTerms = 0;
    await client.query("BEGIN");
    for (const { text, values = [] } of recording.statements) {
      if (text.includes("set_config")) {
        await client.query(text);
        continue;
      }
      const { rows } = await client.query<Explained>({
        text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values: [...values],
      });
      const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
      const pages = (plan?.["Shared Hit Blocks"] ?? 0) + (plan?.["Shared Read Blocks"] ?? 0);
      // A thousand of her own entries are read; the word that only she has is in three of them.
      expect(pages).toBeLessThan(300);
      if (!text.includes("FROM parley.search_entry\n")) continue;
      byTerms += 1;
      expect(pages).toBeLessThan(20);
    }
    await client.query("ROLLBACK");
    expect(byTerms).toBe(1);
    await stranger.fork({ conversationId: "hers", atSeq: 100, newId: "heir" });
    await stranger.remove("hers", { cascade: false });
    expect(places((await stranger.search({ q: "of", limit: 5 })).hits)).toEqual([["heir", 8]]);
  });

  it("of a turn and of the reads of a page are made once and kept", async () => {
    const single = new PostgresDatabase({ url: database.url, maxConnections: 1 });
    const own = openLogStore(single);
    onTestFinished(() => own.close());
    const log = own.forOwner(owner);
    // A connection tries five plans for the values at hand before it compares them with one for any values.
    for (let round = 0; round < 20; round++) {
      const turn = await start(log, big);
      const step = [message(big, "Step", "assistant")];
      await log.commitStep(commit(turn, step, true));
      await log.commitStep(commit(turn, [message(big, "One", "tool"), message(big, "Two", "tool")], true));
      await log.readOpenTurn({ conversationId: big });
      await log.seal(sealing(turn, [message(big, "Answer", "assistant")]));
      await log.readNewest({ conversationId: big, limit: 50 });
      await log.readChunks({ conversationId: big, limit: 100 });
      await log.get(big);
      await log.lastCall(big);
    }
    const rows = await single.query({
      text: "SELECT name FROM pg_prepared_statements WHERE custom_plans > 10 ORDER BY name",
    });
    expect(rows.map((row) => row.name)).toEqual([]);
  });

  it("of the doctor's look at the log are by index, and each reads a page of it", async () => {
    recording.statements.length = 0;
    await root.examine({ fix: false });
    const pages = recording.statements.filter(({ name }) => name === "examine_log");
    // 103,000 messages, a thousand at a time.
    expect(pages.length).toBeGreaterThan(100);
    for (const plan of await plansOf(pages[50] as Statement)) {
      const log = [...nodesOf(plan)].filter((each) => each["Relation Name"] === "conversation_message");
      expect(log.map((each) => each["Index Name"])).toEqual(["conversation_message_place"]);
    }
  });

  /** Returns the number of database pages that a read of messages touches. None of its plans sorts messages. */
  async function pagesOf(read: (conversationId: string) => Promise<unknown>, conversationId: string) {
    recording.statements.length = 0;
    await read(conversationId);
    const [statement] = recording.statements;
    const { rows } = await client.query({
      text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement?.text}`,
      values: [...(statement?.values ?? [])],
    });
    const plan = rows[0]?.["QUERY PLAN"][0]?.Plan as PlanNode;
    for (const each of [plan, ...(await plansOf(statement as Statement))]) {
      const nodes = [...nodesOf(each)];
      expect(nodes.map((node) => node["Node Type"])).toContain("Nested Loop");
      const sorts = nodes.filter((node) => node["Node Type"] === "Sort");
      const sorted = sorts.flatMap((sort) => [...nodesOf(sort)].map((node) => node["Relation Name"]));
      expect(sorted).not.toContain("conversation_message");
    }
    return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  }

  const memory = () => new PostgresMemoryStore(recording, { owner });
  it.each<[string, (conversationId: string) => Promise<unknown>]>([
    ["the newest messages", (conversationId) => store.readNewest({ conversationId, limit: 50 })],
    ["an engine's newest", (id) => store.listMessages(id, { limit: 50, ascending: false })],
    ["an engine's oldest", (id) => store.listMessages(id, { limit: 50 })],
    ["an agent's newest", (threadId) => memory().listMessages({ threadId, limit: 50, orderBy: "desc" })],
    ["an agent's oldest", (threadId) => memory().listMessages({ threadId, limit: 50 })],
  ])(
    "of %s touch as many pages in a long log as in a short one, and few more through ancestors",
    async (_, read) => {
      const short = await pagesOf(read, medium);
      const long = await pagesOf(read, big);
      const inherited = await pagesOf(read, leaf);
      // An index may be a level deeper.
      expect(long).toBeLessThanOrEqual(short + 3);
      // Each ancestor costs a lookup in three indexes.
      expect(inherited).toBeLessThanOrEqual(short + 10 * 9);
    },
  );
});

describeOnPostgres("a chain of 600 forks", (postgres) => {
  it("is walked in a few steps, wherever a page lies", async () => {
    const made = await postgres.createDatabase();
    const recording = new RecordingDatabase(new PostgresDatabase({ url: made.url }));
    const root = openLogStore(recording);
    const client = new pg.Client({ connectionString: made.url });
    await client.connect();
    onTestFinished(async () => {
      await client.end();
      await root.close();
      await made.drop();
    });
    await root.migrate();
    await root.heartbeat(node, 600_000);
    const store = root.forOwner(owner);
    const answer = async (id: string) => {
      const turn = await start(store, id);
      await store.seal(sealing(turn, [message(id, "Answer", "assistant")]));
    };
    await answer("0");
    for (let depth = 1; depth <= 600; depth++) {
      // One half continues again and again, the other half is one message that was edited again and again.
      const atSeq = depth <= 300 ? depth * 2 : 602;
      await store.fork({ conversationId: `${depth - 1}`, atSeq, newId: `${depth}` });
      if (depth <= 300) await answer(`${depth}`);
    }
    const steps = async (read: () => Promise<unknown>): Promise<number> => {
      recording.statements.length = 0;
      await read();
      const [statement] = recording.statements;
      const { rows } = await client.query({
        text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement?.text}`,
        values: [...(statement?.values ?? [])],
      });
      const nodes = [...nodesOf(rows[0]?.["QUERY PLAN"][0]?.Plan as PlanNode)];
      return nodes.find((each) => each["Node Type"] === "Recursive Union")?.["Actual Rows"] ?? Number.NaN;
    };
    // Twice the logarithm of 600 to get there, and a log for every two messages.
    for (const before of [603, 500, 300, 100, 5]) {
      const page = () => store.readNewest({ conversationId: "600", limit: 4, before });
      expect(await steps(page)).toBeLessThanOrEqual(30);
    }
    const window = await steps(() => store.readChunks({ conversationId: "600", sinceSeq: 0, beforeSeq: 5 }));
    expect(window).toBeLessThanOrEqual(30);
  });
});

describeOnPostgres("a database without statistics", (postgres) => {
  it("reads as few rows for a turn in a long conversation as in a short one", async () => {
    const made = await postgres.createDatabase();
    const database = new PostgresDatabase({ url: made.url, maxConnections: 1 });
    const root = openLogStore(database);
    onTestFinished(async () => {
      await root.close();
      await made.drop();
    });
    await root.migrate();
    // These tables are not analyzed before their plans are made and kept.
    await database.query({
      text: `DO $$ DECLARE t record; BEGIN
        FOR t IN SELECT oid::regclass AS name FROM pg_class
          WHERE relkind = 'r' AND relnamespace = 'parley'::regnamespace LOOP
          EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', t.name);
        END LOOP; END $$`,
    });
    const store = root.forOwner(owner);
    const rowsRead = async (): Promise<number> => {
      // A connection reports its counters at the end of a round trip, and this statement forces that for this one.
      await database.query({ text: "SELECT 1 FROM (SELECT pg_stat_force_next_flush()) AS flushed" });
      const rows = await database.query({
        text: `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read FROM pg_stat_user_tables
            WHERE relname IN ('conversation_message', 'conversation_turn', 'receipt')`,
      });
      return Number(rows[0]?.read);
    };
    const turns = async (count: number): Promise<number> => {
      const before = await rowsRead();
      for (let index = 0; index < count; index++) {
        const turn = await start(store, "long");
        await store.commitStep(commit(turn, [message("long", "Step", "assistant")], true));
        await store.readOpenTurn({ conversationId: "long" });
        await store.seal(sealing(turn, [message("long", "Answer", "assistant")]));
        await store.readNewest({ conversationId: "long", limit: 5 });
      }
      return ((await rowsRead()) - before) / count;
    };
    await turns(100);
    const early = await turns(50);
    await turns(100);
    const late = await turns(50);
    expect(late).toBeLessThanOrEqual(early * 1.2);
  });
});
