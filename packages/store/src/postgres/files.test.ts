import { createHash } from "node:crypto";
import type { LogStore, LogStoreRoot, UploadRecord } from "@parley/core/ports";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";
import { admission, message, node } from "./turns.test-support.js";

const owner = "ada";

describeOnPostgres("files and the collector on two connections", (postgres) => {
  let database: TestDatabase;
  let root: LogStoreRoot;
  let store: LogStore;
  /** A second connection, which holds the locks that the first waits for. */
  let holder: pg.Client;
  let watcher: pg.Client;
  beforeAll(async () => {
    database = await postgres.createDatabase();
    root = openPostgres({ url: database.url, listenUrl: false }).store;
    await root.migrate();
    await root.heartbeat(node, 600_000);
    store = root.forOwner(owner);
    watcher = new pg.Client({ connectionString: database.url });
    await watcher.connect();
  });
  beforeEach(async () => {
    holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
  });
  afterEach(() => holder.end());
  afterAll(async () => {
    await watcher.end();
    await root.close();
    await database.drop();
  });

  /** Resolves when a connection waits for a lock. */
  async function someoneWaits(): Promise<void> {
    for (;;) {
      const { rows } = await watcher.query<{ waiting: number }>(
        "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows[0]?.waiting === 1) return;
    }
  }

  /** Creates a file that nothing keeps. */
  async function unsentFile(): Promise<UploadRecord> {
    const id = crypto.randomUUID();
    const data = crypto.getRandomValues(new Uint8Array(100));
    await store.beginUpload({ id, stalledMs: 600_000 });
    await store.writePiece({ id, n: 0, data, stalledMs: 600_000, ownerBytes: 1e9 });
    const hash = createHash("sha256").update(data).digest("hex");
    return store.finishUpload({ id, hash, name: "a", mediaType: "b/c", unsentMs: 0 });
  }

  function sending({ hash, size }: UploadRecord, conversationId: string) {
    const sent = message(conversationId, "Look");
    sent.content.push({ type: "file", mediaType: "b/c", hash, size, filename: "a" });
    return admission(conversationId, "Look", { message: sent });
  }

  it("what a transaction refers to that has not ended stays, and is looked at again when it has", async () => {
    const file = await unsentFile();
    await holder.query("BEGIN");
    await holder.query("INSERT INTO parley.blob_ref (log, seq, blob) VALUES (1000000, 1, $1)", [file.blob]);
    expect(await root.collectBlobs(100)).toMatchObject({ blobs: 0 });
    expect(await store.findBlob(file.hash)).not.toBeNull();
    await holder.query("COMMIT");
    await root.collectBlobs(100);
    expect(await store.findBlob(file.hash)).not.toBeNull();
    await watcher.query("DELETE FROM parley.blob_ref WHERE log = 1000000");
    await watcher.query("UPDATE parley.blob SET check_at = now() WHERE number = $1", [file.blob]);
  });

  it("what a transaction does not refer to after all is removed", async () => {
    const file = await unsentFile();
    await holder.query("BEGIN");
    await holder.query("INSERT INTO parley.blob_ref (log, seq, blob) VALUES (1000001, 1, $1)", [file.blob]);
    await root.collectBlobs(100);
    await holder.query("ROLLBACK");
    await root.collectBlobs(100);
    expect(await store.findBlob(file.hash)).toBeNull();
  });

  it("a message that waits for the collector is refused where its file is gone, and taken where it stays", async () => {
    for (const end of ["COMMIT", "ROLLBACK"] as const) {
      const file = await unsentFile();
      await holder.query("BEGIN");
      await holder.query("SELECT 1 FROM parley.blob WHERE number = $1 FOR UPDATE", [file.blob]);
      await holder.query("DELETE FROM parley.upload WHERE blob = $1", [file.blob]);
      await holder.query("DELETE FROM parley.blob_piece WHERE blob = $1", [file.blob]);
      await holder.query("DELETE FROM parley.blob WHERE number = $1", [file.blob]);
      await holder.query("UPDATE parley.file_owner SET bytes = bytes - 100 WHERE owner = $1", [owner]);
      const id = crypto.randomUUID();
      const sent = store.admit(sending(file, id)).then(
        ({ kind }) => kind,
        (error: { code?: unknown }) => error.code,
      );
      await someoneWaits();
      await holder.query(end);
      expect(await sent).toBe(end === "COMMIT" ? "invalid_request" : "started");
      expect((await store.get(id)) === null).toBe(end === "COMMIT");
    }
  });

  it("the removal of the last reference is seen by a collector that has just found it used", async () => {
    const file = await unsentFile();
    const id = crypto.randomUUID();
    await store.admit(sending(file, id));
    // Like a collector that has counted the reference and is about to clear its mark.
    await holder.query("BEGIN");
    await holder.query("SELECT 1 FROM parley.blob WHERE number = $1 FOR UPDATE", [file.blob]);
    const removed = store.remove(id, { cascade: false });
    await someoneWaits();
    await holder.query("UPDATE parley.blob SET check_at = NULL WHERE number = $1", [file.blob]);
    await holder.query("COMMIT");
    await removed;
    await root.collectBlobs(100);
    expect(await store.findBlob(file.hash)).toBeNull();
  });

  it("counts what the owner's files come to exactly, whatever has come and gone", async () => {
    const { rows } = await watcher.query<{ bytes: string; sum: string }>(
      "SELECT o.bytes, (SELECT coalesce(sum(size), 0) FROM parley.blob WHERE owner = o.owner) AS sum FROM parley.file_owner o",
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { bytes, sum } of rows) expect(bytes).toBe(sum);
  });

  it("what the collector would never find, and sums that are wrong, are found and put right by the doctor", async () => {
    const filesIn = async (fix: boolean) =>
      (await root.examine({ fix })).filter(({ area }) => area === "files");
    await root.collectBlobs(100);
    expect(await filesIn(false)).toMatchObject([{ level: "ok" }]);
    const file = await unsentFile();
    await watcher.query("DELETE FROM parley.upload WHERE blob = $1", [file.blob]);
    await watcher.query("UPDATE parley.blob SET check_at = NULL WHERE number = $1", [file.blob]);
    await watcher.query("UPDATE parley.file_owner SET bytes = bytes + 7");
    await root.collectBlobs(100);
    expect(await store.findBlob(file.hash)).not.toBeNull();
    expect(await filesIn(false)).toMatchObject([{ level: "warning", fixable: true }]);
    expect(await filesIn(true)).toMatchObject([{ level: "warning", fixed: true }]);
    expect(await store.findBlob(file.hash)).toBeNull();
    expect(await filesIn(false)).toMatchObject([{ level: "ok" }]);
  });

  it("keeps pieces outside of their rows and uncompressed", async () => {
    const { rows } = await watcher.query<{ attstorage: string }>(
      "SELECT attstorage FROM pg_attribute WHERE attrelid = 'parley.blob_piece'::regclass AND attname = 'data'",
    );
    expect(rows).toEqual([{ attstorage: "e" }]);
  });
});
