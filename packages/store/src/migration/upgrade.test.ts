import { PGlite } from "@electric-sql/pglite";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import type { Database } from "../database.js";
import { idKey } from "../id-key.js";
import { openLogStore } from "../open-log-store.js";
import { PgliteDatabase } from "../pglite/pglite-database.js";
import { PostgresDatabase } from "../postgres/postgres-database.js";
import { admission, commit, message, node, sealing, textsOf } from "../postgres/turns.test-support.js";
import { migrationFolders, readMigrations } from "./migrations.js";

/**
 * A database as the migrations up to the fourth left it: a conversation with a sealed turn, a turn that runs and a
 * message that waits, and a fork of a log that was removed.
 */
const wideRows = `
INSERT INTO conversation (id, owner, title, status, context_size, created_at, last_activity_at, updated_at, changed_at)
VALUES ('old', 'ada', 'Old', 'open', 30, now(), now(), now(), conversation_changed('ada')),
  ('~1~gone', 'ada', 'Gone', 'removed', NULL, now(), now(), now(), conversation_changed('ada'));
INSERT INTO conversation (id, owner, title, status, parent_id, parent_seq, created_at, last_activity_at, updated_at,
  changed_at) VALUES ('fork', 'ada', 'Fork', 'open', '~1~gone', 2, now(), now(), now(), conversation_changed('ada'));
INSERT INTO conversation_head
  (conversation_id, owner, next_seq, sealed_seq, turn_count, turn_id, node, fence, started_at, active_at)
VALUES ('old', 'ada', 4, 2, 2, 't2', 'node-1', 2, now(), now()), ('fork', 'ada', 3, 2, 0, NULL, '', 0, NULL, now());
INSERT INTO conversation_message (id, thread_id, role, type, content, created_at, first_seq, part_count, turn_id, step)
SELECT id, thread, role, 'text',
  jsonb_build_object('format', 2, 'parts', jsonb_build_array(jsonb_build_object('type', 'text', 'text', words))),
  now(), seq, 1, turn, step
FROM (VALUES ('m1', 'old', 'user', 'Question', 1, 't1', NULL), ('m2', 'old', 'assistant', 'Answer', 2, 't1', '+.0'),
  ('m3', 'old', 'user', 'Another question', 3, 't2', NULL), ('m1', '~1~gone', 'user', 'Before', 1, NULL, NULL),
  ('m4', '~1~gone', 'assistant', 'Shared', 2, NULL, NULL)) AS rows(id, thread, role, words, seq, turn, step);
INSERT INTO conversation_turn (conversation_id, id, ordinal, status, reason, first_seq, last_seq, metrics, provider_calls,
  started_at, sealed_at, sealed_fence)
VALUES ('old', 't1', 1, 'sealed', 'stop', 1, 2,
  '{"turnId":"t1","usage":{"inputTokens":20,"outputTokens":10},"steps":[],"contextSize":30,"model":"a/one"}',
  '[{"id":"p1","createdAt":1}]', now(), now(), 1);
INSERT INTO conversation_turn (conversation_id, id, ordinal, status, first_seq, last_seq, steps, started_at)
VALUES ('old', 't2', 2, 'running', 3, 3, '[{"stepId":"t2.0","usage":{"inputTokens":1,"outputTokens":1}}]', now());
INSERT INTO receipt (conversation_id, message_id, body_hash, outcome, turn_id)
VALUES ('old', 'm1', 'Question', 'started', 't1'), ('old', 'm3', 'Another question', 'queued', 't2'),
  ('old', 'q1', 'Later', 'queued', NULL);
INSERT INTO queued_message (conversation_id, id, rank, mode, role, type, content, created_at, part_count, queued_at)
VALUES ('old', 'q1', 1, 'queue', 'user', 'text', '{"format":2,"parts":[{"type":"text","text":"Later"}]}', now(), 1, now())`;

/** Migrates a database as a version did that had `count` migrations. */
async function migrateOlder(database: Database, count: number): Promise<void> {
  await database.query({
    text: "CREATE TABLE schema_migration (place integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz)",
  });
  const migrations = (await readMigrations(migrationFolders.older)).slice(0, count);
  for (const [place, { name, statements }] of migrations.entries()) {
    for (const text of statements) await database.query({ text });
    const text = "INSERT INTO schema_migration (place, name) VALUES ($1, $2)";
    await database.query({ text, values: [place, name] });
  }
}

function carriesOver(open: () => Promise<Database>): void {
  it("finds messages by the same key as a writer computes", async () => {
    const database = await open();
    onTestFinished(() => database.close());
    await migrateOlder(database, 8);
    const ids = [
      ...["018bcfe5-6808-7045-8abc-002aa4f3ccb5", "ffffffff-ffff-7fff-bfff-ffffffffffff"],
      ...["018BCFE5-6808-7045-8ABC-002AA4F3CCB5", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "m1", "", "ü\n🙂"],
      "018bcfe5-6808-7045-8abc-002aa4f3ccb5.1",
    ];
    const rows = await database.query({
      text: "SELECT id_key(id)::text AS key FROM unnest($1::text[]) WITH ORDINALITY AS given(id, place) ORDER BY place",
      values: [ids],
    });
    expect(rows.map(({ key }) => key)).toEqual(ids.map(idKey));
  });

  it("is carried over: logs, turns, metrics, receipts and what runs", async () => {
    const database = await open();
    onTestFinished(() => database.close());
    await migrateOlder(database, 4);
    for (const text of wideRows.split(";")) await database.query({ text });
    const root = openLogStore(database);
    await root.migrate();
    const store = root.forOwner("ada");

    const { entries } = await store.readNewest({ conversationId: "old", limit: 10 });
    expect(textsOf(entries)).toEqual(["Another question", "Answer", "Question"]);
    expect(entries.map(({ turnId, stepId }) => [turnId, stepId])).toEqual([
      ["t2", undefined],
      ["t1", "t1.0"],
      ["t1", undefined],
    ]);
    const shared = await store.readNewest({ conversationId: "fork", limit: 10 });
    expect(textsOf(shared.entries)).toEqual(["Shared", "Before"]);
    // The index begins empty, and is filled afterwards.
    for (const isIndexed of [false, true]) {
      if (isIndexed) {
        expect(await root.unindexedOwners({})).toEqual({ owners: ["ada"] });
        // A title of each of the two that have one, and five messages.
        expect(await root.indexSearch({ owner: "ada", limit: 100 })).toEqual({ indexed: 7, more: false });
        expect(await root.unindexedOwners({})).toEqual({ owners: [] });
      }
      const places = async (q: string) =>
        (await store.search({ q, limit: 5 })).hits.map(({ conversationId, seq }) => [conversationId, seq]);
      expect(await places("another")).toEqual([["old", 3]]);
      expect(await places("share")).toEqual([["fork", 2]]);
      expect(await places("old")).toEqual([["old", 0]]);
    }

    const metrics = {
      turnId: "t1",
      usage: { inputTokens: 20, outputTokens: 10 },
      steps: [],
      contextSize: 30,
      model: "a/one",
    };
    expect((await store.get("old"))?.lastModel).toBe("a/one");
    expect((await store.get("fork"))?.lastModel).toBeUndefined();
    expect(await store.metrics("old")).toEqual([metrics]);
    expect(await store.readTurn("old", "t1")).toMatchObject({ turn: { ordinal: 1, metrics } });
    expect(await store.lastCall("old")).toMatchObject({ id: "p1" });

    const started = { outcome: "started", turnId: "t1" };
    expect(await store.findReceipt("old", "m1")).toEqual(started);
    expect(await store.findReceipt("old", "m3")).toEqual({ outcome: "queued", turnId: "t2" });
    expect(await store.findReceipt("old", "q1")).toEqual({ outcome: "queued" });
    const again = admission("old", "Question", { message: message("old", "Question", "user", "m1") });
    expect(await store.admit(again)).toEqual({ kind: "known", ...started });
    await expect(store.admit({ ...again, bodyHash: "other" })).rejects.toMatchObject({
      code: "message_conflict",
    });

    expect(await store.readOpenTurn({ conversationId: "old" })).toMatchObject({
      turnId: "t2",
      steps: [{ stepId: "t2.0", usage: { inputTokens: 1, outputTokens: 1 } }],
    });
    const turn = { conversationId: "old", turnId: "t2", fence: 2 };
    await store.commitStep(commit(turn, [message("old", "Step", "assistant")]));
    const sealed = await store.seal(sealing(turn, [message("old", "End", "assistant")]));
    expect(sealed).toMatchObject({ firstSeq: 3, lastSeq: 5, next: { entries: [{ firstSeq: 6 }] } });
    const { conversation } = await store.fork({ conversationId: "old", atSeq: 2, newId: "other" });
    expect(conversation).toMatchObject({ contextSize: 30, lastModel: "a/one", lastSeq: 2 });
    expect(await root.claimExpired(node, 10)).toHaveLength(1);
    expect((await root.examine({ fix: false })).filter(({ area }) => area === "log")).toMatchObject([
      { level: "ok" },
    ]);
  });
}

describeOnPostgres("a database with rows of an older version", (postgres) => {
  carriesOver(async () => new PostgresDatabase({ url: (await postgres.createDatabase()).url }));
});

describe("a folder of PGlite with rows of an older version", () => {
  carriesOver(async () => new PgliteDatabase(await PGlite.create()));
});
