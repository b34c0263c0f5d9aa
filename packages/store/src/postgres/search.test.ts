import type { LogStore, LogStoreRoot } from "@parley/core/ports";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { changeNumber, takeChangeNumber } from "../operations/numbers.js";
import { type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
import { message, node, sealing, start } from "./turns.test-support.js";

async function append(store: LogStore, id: string, texts: readonly string[]): Promise<void> {
  await store.createConversation({ id });
  await store.appendMessages(texts.map((text) => message(id, text)));
}

async function indexAll(root: LogStoreRoot, owner: string): Promise<void> {
  while ((await root.indexSearch({ owner, limit: 200 })).more);
}

describeOnPostgres("a search", (postgres) => {
  async function opened(options: Partial<OpenPostgresOptions> = {}) {
    const made = await postgres.createDatabase();
    const { store: root, database } = openPostgres({
      url: made.url,
      listenUrl: false,
      ...options,
      // Long limits: no result is partial on a busy machine unless it is meant to be.
      search: { searchMs: 60_000, waitMs: 60_000, ...options.search },
    });
    const client = new pg.Client({ connectionString: made.url });
    await client.connect();
    onTestFinished(async () => {
      await client.end();
      await root.close();
      await made.drop();
    });
    await root.migrate();
    await root.heartbeat(node, 600_000);
    const count = async (table: string) => {
      const [row] = await database.query({ text: `SELECT count(*)::int4 AS count FROM ${table}` });
      return Number(row?.count);
    };
    return { root, client, count };
  }

  const places = async (store: LogStore, q: string, limit = 50) => {
    const { hits, partial } = await store.search({ q, limit });
    return { seqs: hits.map(({ seq }) => seq), ...(partial === undefined ? {} : { partial }) };
  };

  it("is exact for one owner whatever another has brought in", async () => {
    const { root } = await opened({
      search: { newestRows: 10, indexHits: 20, pageRows: 10, tailRows: 50, tailLogs: 5 },
    });
    const [mine, theirs] = [root.forOwner("mine"), root.forOwner("theirs")];
    await append(mine, "mine", ["the okapi", ...Array.from({ length: 30 }, (_, n) => `the other ${n}`)]);
    await indexAll(root, "mine");
    await append(
      theirs,
      "theirs",
      Array.from({ length: 300 }, (_, n) => `the import and the okapi ${n}`),
    );
    // Their own messages are not all searched before the index has them, and the result says so.
    expect(await places(theirs, "okapi", 500)).toMatchObject({ partial: true });
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexAll(root, "theirs");
      expect(await places(mine, "the okapi")).toEqual({ seqs: [1] });
      expect((await places(mine, "the")).seqs).toHaveLength(31);
      expect((await places(mine, "the", 5)).seqs).toEqual([31, 30, 29, 28, 27]);
      expect(await places(mine, "import")).toEqual({ seqs: [] });
    }
    expect((await places(theirs, "okapi", 500)).seqs).toHaveLength(300);
    // A common word, in a message that is older than all others that have it.
    expect(await places(theirs, "the import 3 ")).toEqual({ seqs: [4] });
  });

  it("that cannot look in time says that it is partial, and fails no other call", async () => {
    const { root, client } = await opened({ maxConnections: 3, search: { searchMs: 300, waitMs: 100 } });
    const store = root.forOwner("mine");
    await append(store, "mine", ["one okapi"]);
    await indexAll(root, "mine");
    await client.query("BEGIN");
    await client.query("LOCK TABLE parley.search_entry IN ACCESS EXCLUSIVE MODE");
    const searches = Array.from({ length: 8 }, () => store.search({ q: "okapi", limit: 5 }));
    // Searches never take the last connection.
    await append(root.forOwner("other"), "other", ["meanwhile"]);
    for (const result of await Promise.all(searches)) expect(result).toEqual({ hits: [], partial: true });
    await client.query("ROLLBACK");
    expect(await places(store, "okapi")).toEqual({ seqs: [1] });
  });

  it("of many at once takes its turn, and all are answered", async () => {
    const { root } = await opened({ maxConnections: 5 });
    const store = root.forOwner("mine");
    await append(
      store,
      "mine",
      Array.from({ length: 1_200 }, (_, n) => `the okapi ${n}`),
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => places(store, "okapi the", 20)));
    expect(answers.map(({ seqs }) => seqs.length)).toEqual(answers.map(() => 20));
  });

  it("leaves an owner to the node that is filling the index, without waiting", async () => {
    const { root, client } = await opened();
    const store = root.forOwner("mine");
    await append(store, "mine", ["one okapi"]);
    await indexAll(root, "mine");
    await append(store, "more", ["another okapi"]);
    await client.query("BEGIN");
    await client.query("SELECT FROM parley.search_owner WHERE owner = 'mine' FOR UPDATE");
    expect(await root.indexSearch({ owner: "mine", limit: 10 })).toEqual({ indexed: 0, more: false });
    expect((await places(store, "okapi")).seqs).toEqual([1, 1]);
    // A turn is not affected.
    const turn = await start(store, "more", "a third okapi");
    await store.seal(sealing(turn, []));
    await client.query("ROLLBACK");
    expect((await root.indexSearch({ owner: "mine", limit: 10 })).indexed).toBeGreaterThan(0);
    expect((await places(store, "okapi")).seqs).toHaveLength(3);
  });

  it("finds what a transaction commits that began before the index went past it", async () => {
    const { root, client } = await opened();
    const store = root.forOwner("mine");
    await append(store, "slow", ["first"]);
    await client.query("BEGIN");
    const { text, values = [] } = takeChangeNumber("mine");
    await client.query(text, [...values]);
    await client.query(`UPDATE parley.conversation SET changed_at = ${changeNumber}, title = 'late okapi'
      WHERE id = 'slow'`);
    await append(store, "fast", ["second"]);
    await indexAll(root, "mine");
    await client.query("COMMIT");
    expect(await places(store, "okapi")).toEqual({ seqs: [0] });
    await indexAll(root, "mine");
    expect(await places(store, "okapi")).toEqual({ seqs: [0] });
    expect(await places(store, "second")).toEqual({ seqs: [1] });
  });

  it("leaves nothing in the index of what is removed, also when it is removed while it is added", async () => {
    const { root, client, count } = await opened();
    const store = root.forOwner("mine");
    for (const id of ["a", "b"]) await append(store, id, ["one okapi", "two"]);
    await start(store, "open");
    await indexAll(root, "mine");
    await append(store, "c", ["three"]);
    // The doctor's batch has read the conversation, and waits to write it.
    await client.query("BEGIN");
    await client.query("LOCK TABLE parley.search_entry IN SHARE MODE");
    const indexing = root.indexSearch({ owner: "mine", limit: 10 });
    const isWaiting = async () => {
      const { rows } = await client.query(
        "SELECT FROM pg_locks WHERE NOT granted AND relation = 'search_entry'::regclass",
      );
      return rows.length > 0;
    };
    while (!(await isWaiting()));
    const removing = Promise.all(["c", "a", "open"].map((id) => store.remove(id, { cascade: true })));
    await client.query("COMMIT");
    await Promise.all([indexing, removing]);
    await store.remove("b", { cascade: false });
    expect(await count("search_entry")).toBe(0);
    expect(await count("search_owner WHERE open <> '{}'")).toBe(0);
  });

  it("is caught up by the doctor", async () => {
    const { root, count } = await opened();
    for (const owner of ["ada", "grace"]) {
      const store = root.forOwner(owner);
      for (let n = 0; n < 60; n++)
        await store.createConversation({ id: `${owner}-${n}`, title: `Title ${n}` });
    }
    const finding = async (fix: boolean) =>
      (await root.examine({ fix })).find(({ area }) => area === "search");
    expect(await finding(false)).toMatchObject({ level: "warning", fixable: true });
    expect((await finding(false))?.message).toContain("120 conversations of 2 owners");
    expect(await count("search_entry")).toBe(0);
    expect(await finding(true)).toMatchObject({ level: "warning", fixed: true });
    expect(await count("search_entry")).toBe(120);
    expect(await finding(false)).toEqual({
      area: "search",
      level: "ok",
      message: "The search index is complete",
    });
  });
});
