import type { WakeKind } from "@parley/core/ports";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";
import { PostgresWake } from "./wake.js";

describeOnPostgres("wake-ups between nodes", (postgres) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgres.createDatabase();
  });
  afterAll(() => database.drop());

  async function nodes(count: number): Promise<PostgresWake[]> {
    const wakes = Array.from({ length: count }, () => new PostgresWake({ url: database.url }));
    onTestFinished(async () => {
      await Promise.all(wakes.map((wake) => wake.close()));
    });
    await Promise.all(wakes.map((wake) => wake.ready()));
    return wakes;
  }

  /** Collects what is heard until `count` ids of the kind are there. */
  function hear(wake: PostgresWake, kind: WakeKind, count: number): Promise<string[]> {
    const ids: string[] = [];
    return new Promise((resolve) => {
      const stop = wake.listen((heard, heardKind) => {
        if (heardKind !== kind) return;
        ids.push(...heard);
        if (ids.length < count) return;
        stop();
        resolve(ids);
      });
    });
  }

  it("reach every node with their kind, the own one once", async () => {
    const [first, second, third] = await nodes(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error("three nodes");
    let own = 0;
    first.listen(() => {
      own += 1;
    });
    const heard = [second, third].map((wake) => hear(wake, "stop", 1));
    first.notify(["a"], "stop");
    expect(await Promise.all(heard)).toEqual([["a"], ["a"]]);
    // What comes back to the sender would have come before this answer.
    const back = hear(first, "news", 1);
    second.notify(["b"]);
    expect(await back).toEqual(["b"]);
    expect(own).toBe(2);
  });

  it("of one tick travel together, each id once, however many there are", async () => {
    const [from, to] = await nodes(2);
    if (from === undefined || to === undefined) throw new Error("two nodes");
    const ids = Array.from({ length: 1_000 }, (_, index) => `${"x".repeat(120)}${index}`);
    const heard = hear(to, "news", ids.length);
    const client = new pg.Client({ connectionString: database.url });
    onTestFinished(() => client.end());
    await client.connect();
    await client.query("LISTEN parley_wake");
    // Notifications come in the order they were sent, but not always all of them before the next answer: the last
    // one, sent behind them, says that all are here.
    let notifications = 0;
    const last = new Promise<void>((resolve) => {
      client.on("notification", ({ payload }) => {
        if (payload === JSON.stringify(["open", "last"])) resolve();
        else notifications += 1;
      });
    });
    for (const id of ids) from.notify([id]);
    for (const id of ids) from.notify([id]);
    expect((await heard).toSorted()).toEqual(ids.toSorted());
    from.notify(["last"], "open");
    await last;
    expect(notifications).toBe(20);
  });

  it("are the process's own where there is nothing to listen to", async () => {
    const opened = openPostgres({ url: database.url, transactionPooler: true });
    onTestFinished(() => opened.store.close());
    const heard = new Promise((resolve) => opened.wake.listen((ids, kind) => resolve([ids, kind])));
    opened.wake.notify(["a"]);
    expect(await heard).toEqual([["a"], "news"]);
    await opened.wake.close?.();
  });

  it("end with their listener, and leave no connection behind", async () => {
    const [wake] = await nodes(1);
    const stop = wake?.listen(() => {
      throw new Error("nobody listens any more");
    });
    stop?.();
    wake?.notify(["a"]);
    await wake?.close();
    wake?.notify(["b"]);
    const client = new pg.Client({ connectionString: database.url });
    onTestFinished(() => client.end());
    await client.connect();
    for (;;) {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'parley wake'",
      );
      if (rows.length === 0) return;
    }
  });
});
