import type { LogStoreRoot } from "@parley/core/ports";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { TcpProxy } from "../../../../test/harness/tcp-proxy.js";
import { type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
import { PostgresDatabase } from "./postgres-database.js";
import type { PostgresTimeouts } from "./timeouts.js";
import { admission, batch, start, textsOf } from "./turns.test-support.js";
import type { PostgresWake } from "./wake.js";

const unavailable = { code: "store_unavailable", retryable: true };

/** Short limits, and still long enough for answers on a busy machine where an answer is expected. */
const quick: Partial<PostgresTimeouts> = {
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 1_000,
  answerGraceMs: 200,
  briefTimeoutMs: 1_000,
  closeTimeoutMs: 200,
  wakeProbeMs: 100,
};

describeOnPostgres(
  "connections that go silent",
  (postgres) => {
    let database: TestDatabase;
    let direct: LogStoreRoot;
    beforeAll(async () => {
      database = await postgres.createDatabase();
      direct = openPostgres({ url: database.url, listenUrl: false }).store;
      await direct.migrate();
    });
    afterAll(async () => {
      await direct.close();
      await database.drop();
    });

    async function startProxy(): Promise<TcpProxy> {
      const proxy = await TcpProxy.start(database.url);
      onTestFinished(() => proxy.close());
      return proxy;
    }

    async function open(options: Partial<OpenPostgresOptions> = {}) {
      const proxy = await startProxy();
      const opened = openPostgres({
        url: proxy.through(database.url),
        listenUrl: false,
        ...quick,
        ...options,
      });
      onTestFinished(() => opened.store.close());
      return { proxy, ...opened, ada: opened.store.forOwner("ada") };
    }

    it("are found out before they are used again, and calls go on with others", async () => {
      const { proxy, ada } = await open({ trustMs: 0 });
      await Promise.all(Array.from({ length: 5 }, () => ada.get("any")));
      expect(proxy.size).toBeGreaterThan(1);
      proxy.freeze();
      expect(await ada.get("any")).toBeNull();
      const turn = await start(ada);
      expect((await ada.get(turn.conversationId))?.active?.turnId).toBe(turn.turnId);
    });

    it("are all given up with the first one: the others cost no time of their own", async () => {
      const { proxy, ada } = await open({ trustMs: 60_000 });
      await Promise.all(Array.from({ length: 8 }, () => ada.get("any")));
      proxy.freeze();
      // Sent on a connection that had just answered: the outcome is unknown.
      await expect(ada.get("any")).rejects.toMatchObject(unavailable);
      for (let call = 0; call < 8; call += 1) expect(await ada.get("any")).toBeNull();
    });

    it.each([
      ["before it reached the server", "before"],
      ["before its answer came back", "after"],
    ] as const)(
      "fail a write %s, and the same write again happens once, also when they thaw",
      async (_, when) => {
        const { proxy, ada } = await open({ trustMs: 60_000 });
        const id = crypto.randomUUID();
        const input = admission(id, `Once ${when}`);
        // The whole write is one transaction: it has happened when its end has reached the server.
        const point = (bytes: Buffer) =>
          (when === "before" ? /Once/ : /commit/i).test(bytes.toString("latin1"));
        const frozen = proxy.freezeAllAt((bytes) => (point(bytes) ? when : undefined));
        await expect(ada.admit(input)).rejects.toMatchObject(unavailable);
        await frozen;
        const outcome = await ada.admit(input);
        expect(outcome.kind).toBe(when === "before" ? "started" : "known");
        const before = proxy.size;
        proxy.thaw();
        // The server has read everything that waited when it has closed the old connections.
        await vi.waitFor(() => expect(proxy.size).toBeLessThan(before), 30_000);
        const { entries } = await direct.forOwner("ada").readNewest({ conversationId: id, limit: 5 });
        expect(textsOf(entries)).toEqual([`Once ${when}`]);
      },
    );

    it("fail the journal's flush, which is written once when it is repeated", async () => {
      const { proxy, store, ada } = await open({ trustMs: 60_000 });
      const turn = await start(ada);
      const frozen = proxy.freezeAllAt((bytes) => (bytes.includes("flush_journal") ? "after" : undefined));
      await expect(store.flushJournal([batch(turn, 0, "ada")])).rejects.toMatchObject(unavailable);
      await frozen;
      expect(await store.flushJournal([batch(turn, 0, "ada")])).toEqual(["ok"]);
      expect((await ada.readOpenTurn({ conversationId: turn.conversationId }))?.journal.length).toBe(1);
    });

    it("fail heartbeats, checks and the doctor, and none of them twice", async () => {
      const { proxy, store } = await open({ trustMs: 60_000, longStatementTimeoutMs: 1_000 });
      for (const call of [
        () => store.heartbeat("node", 1_000),
        () => store.check(),
        () => store.examine({ fix: false }),
      ]) {
        await call();
        proxy.freeze();
        await expect(call()).rejects.toMatchObject(unavailable);
        await call();
      }
    });

    it("are given up while they connect, and calls succeed as soon as others can", async () => {
      const { proxy, ada } = await open({ connectTimeoutMs: 300 });
      proxy.freeze({ andNew: true });
      await expect(ada.get("any")).rejects.toMatchObject(unavailable);
      proxy.thaw();
      await vi.waitFor(async () => expect(await ada.get("any")).toBeNull(), 30_000);
    });

    it("do not hold up the end of a store, neither idle nor in the middle of a statement", async () => {
      const { proxy, store, ada, database: pool } = await open({ statementTimeoutMs: 600_000 });
      await Promise.all([ada.get("any"), ada.get("any")]);
      const asked = pool.query({ text: "SELECT 1 FROM (SELECT pg_sleep(600)) AS slept" });
      const failed = expect(asked).rejects.toMatchObject(unavailable);
      proxy.freeze();
      await store.close();
      await failed;
    });

    it("are not those whose answer is long or comes slowly, nor those of long work", async () => {
      const patient = await open({ statementTimeoutMs: 60_000 });
      // A row every tenth of a second, for longer than a brief answer may take: bytes keep moving.
      const rows = await patient.database.query({
        text: "SELECT repeat('x', 10000) AS x, pg_sleep(0.1)::text AS slept FROM generate_series(1, 15)",
        budget: "brief",
      });
      expect(rows).toHaveLength(15);
      const { database: pool } = await open({ longStatementTimeoutMs: 60_000 });
      const sleep = "SELECT 1 AS one FROM (SELECT pg_sleep(1.6)) AS slept";
      await expect(pool.query({ text: sleep })).rejects.toMatchObject({
        ...unavailable,
        details: { sqlState: "57014" },
      });
      expect(await pool.query({ text: sleep, budget: "long" })).toHaveLength(1);
      const inTransaction = await pool.transaction(async (connection) => {
        await connection.query({ text: "SELECT 1 AS one" });
        return connection.query({ text: sleep, budget: "long" });
      });
      expect(inTransaction).toHaveLength(1);
    });

    it("do not silence wake-ups: the connection is probed, and opened again", async () => {
      const [nearProxy, farProxy] = [await startProxy(), await startProxy()];
      const [near, far] = [nearProxy, farProxy].map((proxy) => {
        const opened = openPostgres({ url: proxy.through(database.url), ...quick });
        onTestFinished(async () => {
          await opened.wake.close?.();
          await opened.store.close();
        });
        return opened.wake as PostgresWake;
      });
      if (near === undefined || far === undefined) throw new Error("two nodes");
      await Promise.all([near.ready(), far.ready()]);
      expect(await received(near, far)).toBe(true);
      farProxy.freeze();
      expect(await received(near, far)).toBe(true);
      nearProxy.freeze();
      expect(await received(near, far)).toBe(true);
      // Frozen again, it still closes.
      farProxy.freeze({ andNew: true });
      await far.close();
    });

    /** Notifies until the other side receives it: while a connection is silent, nothing is received. */
    function received(from: PostgresWake, by: PostgresWake): Promise<boolean> {
      return new Promise((resolve) => {
        const stop = by.listen((ids, kind) => {
          clearInterval(again);
          stop();
          resolve(ids.includes(1) && kind === "stop");
        });
        const again = setInterval(() => from.notify([1], "stop"), 50);
      });
    }

    it("and calls without a connection are reported by the check, until they have passed", async () => {
      const { store, database: pool } = await open({
        maxConnections: 1,
        connectTimeoutMs: 20,
        trustMs: 60_000,
      });
      await vi.waitFor(() => store.check(), 30_000);
      vi.useFakeTimers({ toFake: ["performance"] });
      onTestFinished(() => {
        vi.useRealTimers();
      });
      for (let second = 0; second < 3; second += 1) {
        await pool.transaction(async (connection) => {
          await connection.query({ text: "SELECT 1 AS one" });
          const calls = Array.from({ length: 4 }, () => store.heartbeat("node", 1_000));
          for (const call of await Promise.allSettled(calls)) {
            expect(call).toMatchObject({ status: "rejected", reason: unavailable });
          }
        });
        vi.advanceTimersByTime(1_000);
      }
      expect((await store.check()).trouble).toContain("for want of a database connection");
      vi.advanceTimersByTime(11_000);
      expect(await store.check()).toEqual({ schema: "current" });
    });

    it("hold a lock once, and not one transaction after the other", async () => {
      const proxy = await startProxy();
      const frozen = new PostgresDatabase({
        url: proxy.through(database.url),
        driver: { application_name: "frozen" },
      });
      onTestFinished(() => frozen.close());
      const other = new pg.Client({ connectionString: database.url });
      onTestFinished(() => other.end());
      await other.connect();
      await other.query("CREATE TABLE contended AS SELECT 1 AS id");
      const lock = "SELECT FROM contended FOR UPDATE";
      const open = async () => {
        const { rows } = await other.query(
          "SELECT state FROM pg_stat_activity WHERE application_name = 'frozen' AND datname = current_database()",
        );
        return rows.map(({ state }) => String(state)).sort();
      };
      let end = () => {};
      const never = new Promise<void>((resolve) => {
        end = resolve;
      });
      onTestFinished(() => end());
      const contend = () =>
        frozen
          .transaction(async (connection) => {
            await connection.query({ text: lock });
            await never;
          })
          .catch(() => undefined);
      contend();
      await expect.poll(open).toEqual(["idle in transaction"]);
      // The first one in the queue waits for the lock, the second one for its place in the queue, and then for the lock.
      contend();
      await expect.poll(open).toEqual(["active", "idle in transaction"]);
      contend();
      await expect.poll(open).toEqual(["active", "active", "idle in transaction"]);
      proxy.freeze();
      await other.query(lock);
      // The server has ended the one that had it. The others have given up, and hold nothing.
      expect(await open()).toEqual(["idle in transaction (aborted)", "idle in transaction (aborted)"]);
      // Its end reaches the frozen connections, so nothing waits for them.
      await proxy.close();
    });
  },
  "preferred",
);
