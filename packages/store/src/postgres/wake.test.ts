import { randomUUID } from "node:crypto";
import type { WakeKind } from "@parley/core/ports";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { PoolingProxy } from "../../../../test/harness/pooling-proxy.js";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openPostgres } from "./open-postgres.js";
import { PostgresWake, type PostgresWakeOptions } from "./wake.js";

describeOnPostgres("wake-ups between nodes", (postgres) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgres.createDatabase();
  });
  afterAll(() => database.drop());

  async function nodes(count: number, options: Partial<PostgresWakeOptions> = {}): Promise<PostgresWake[]> {
    const wakes = Array.from({ length: count }, () => new PostgresWake({ url: database.url, ...options }));
    onTestFinished(async () => {
      await Promise.all(wakes.map((wake) => wake.close()));
    });
    await Promise.all(wakes.map((wake) => wake.ready()));
    return wakes;
  }

  /** Collects received ids until there are `count` of the kind. */
  function receive(wake: PostgresWake, kind: WakeKind, count: number): Promise<number[]> {
    const ids: number[] = [];
    return new Promise((resolve) => {
      const stop = wake.listen((logs, receivedKind) => {
        if (receivedKind !== kind) return;
        ids.push(...logs);
        if (ids.length < count) return;
        stop();
        resolve(ids);
      });
    });
  }

  /** Receives everything that nodes send. */
  async function eavesdrop(): Promise<{ sent: string[]; until: (message: unknown[]) => Promise<void> }> {
    const client = new pg.Client({ connectionString: database.url });
    onTestFinished(() => client.end());
    await client.connect();
    const sent: string[] = [];
    const waiting = new Set<() => void>();
    client.on("notification", ({ payload }) => {
      sent.push(payload ?? "");
      for (const look of waiting) look();
    });
    await client.query("LISTEN parley_wake");
    const until = (message: unknown[]) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!sent.includes(JSON.stringify(message))) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    return { sent, until };
  }

  it("reach every node with their kind, the own one once", async () => {
    const [first, second, third] = await nodes(3);
    if (first === undefined || second === undefined || third === undefined) throw new Error("three nodes");
    let own = 0;
    first.listen(() => {
      own += 1;
    });
    const received = [second, third].map((wake) => receive(wake, "stop", 1));
    first.notify([1], "stop");
    expect(await Promise.all(received)).toEqual([[1], [1]]);
    // A notification that comes back to the sender would have arrived before this answer.
    const back = receive(first, "news", 1);
    second.notify([2]);
    expect(await back).toEqual([2]);
    expect(own).toBe(2);
  });

  it("of one tick travel together, each id once, however many there are", async () => {
    const [from, to] = await nodes(2);
    if (from === undefined || to === undefined) throw new Error("two nodes");
    const ids = Array.from({ length: 1_000 }, (_, index) => Number.MAX_SAFE_INTEGER - index);
    const received = receive(to, "news", ids.length);
    const { sent, until } = await eavesdrop();
    for (const id of ids) from.notify([id]);
    for (const id of ids) from.notify([id]);
    expect((await received).toSorted()).toEqual(ids.toSorted());
    // The last one, sent behind them, shows that all have arrived: they come in order, if not before the next answer.
    from.notify([7], "open");
    await until(["open", 7]);
    expect(sent.filter((payload) => payload.startsWith(`["news",`))).toHaveLength(3);
  });

  it("stay in the process while no other node listens, and are sent as soon as one does", async () => {
    const { sent, until } = await eavesdrop();
    const [first] = await nodes(1, { answerMs: 0 });
    await until(["hello"]);
    first?.notify([1]);
    const [second] = await nodes(1);
    await until(["here"]);
    if (first === undefined || second === undefined) throw new Error("two nodes");
    const received = [receive(first, "stop", 1), receive(second, "news", 1)];
    first.notify([2]);
    second.notify([3], "stop");
    expect(await Promise.all(received)).toEqual([[3], [2]]);
    expect(sent).not.toContain(JSON.stringify(["news", 1]));
  });

  it("go on until a node that is silent has had the time to answer", async () => {
    const { sent, until } = await eavesdrop();
    const [first] = await nodes(1, { silenceMs: 0, answerMs: 0 });
    await until(["hello"]);
    const [second] = await nodes(1);
    await until(["here"]);
    await second?.close();
    sent.length = 0;
    first?.notify([4]);
    await until(["news", 4]);
    expect(sent).toContain(JSON.stringify(["hello"]));
    first?.notify([5]);
    // A node that listens again is notified again.
    const [third] = await nodes(1);
    await until(["here"]);
    if (first === undefined || third === undefined) throw new Error("two nodes");
    const received = receive(third, "news", 1);
    first.notify([6]);
    expect(await received).toEqual([6]);
    expect(sent).not.toContain(JSON.stringify(["news", 5]));
  });

  it("are the process's own where there is nothing to listen to", async () => {
    const opened = openPostgres({ url: database.url, transactionPooler: true });
    onTestFinished(() => opened.store.close());
    const received = new Promise((resolve) => opened.wake.listen((ids, kind) => resolve([ids, kind])));
    opened.wake.notify([1]);
    expect(await received).toEqual([[1], "news"]);
    await opened.wake.close?.();
  });

  it("end with their listener, and leave no connection behind", async () => {
    const [wake] = await nodes(1);
    const stop = wake?.listen(() => {
      throw new Error("called after its end");
    });
    stop?.();
    wake?.notify([1]);
    await wake?.close();
    wake?.notify([2]);
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

  /** Returns true if a token's lock is free, checked as another node does. */
  async function hasEnded(token: string): Promise<boolean> {
    const { store } = openPostgres({ url: database.url, listenUrl: false });
    try {
      await store.migrate();
      const node = `node-${randomUUID()}`;
      await store.heartbeat(node, 60_000, token);
      const absent = await store.absentNodes();
      await store.retire(node);
      return absent.some((each) => each.node === node);
    } finally {
      await store.close();
    }
  }

  it("come with a presence that ends with the connection, and begins again with the next one", async () => {
    const [wake, other] = await nodes(2);
    if (wake === undefined || other === undefined) throw new Error("two nodes");
    const first = wake.presence.token();
    if (first === undefined) throw new Error("no presence");
    expect(other.presence.token()).not.toBe(first);
    expect(await hasEnded(first)).toBe(false);
    const changes: (string | undefined)[] = [];
    const again = new Promise<void>((resolve) => {
      wake.presence.onChange(() => {
        changes.push(wake.presence.token());
        if (changes.length === 2) resolve();
      });
    });
    await endSessions("parley wake");
    await again;
    expect(changes).toEqual([undefined, expect.any(String)]);
    expect([await hasEnded(first), await hasEnded(changes[1] ?? "")]).toEqual([true, false]);
  });

  it("come without a presence where a pooler stands between, announced or not", async () => {
    const proxy = await PoolingProxy.start(database.url, 1);
    onTestFinished(() => proxy.close());
    const wake = new PostgresWake({ url: proxy.through(database.url) });
    onTestFinished(() => wake.close());
    await wake.ready();
    expect(wake.presence.token()).toBeUndefined();
    const opened = openPostgres({ url: proxy.through(database.url), transactionPooler: true });
    onTestFinished(() => opened.store.close());
    expect(opened.wake.presence?.token()).toBeUndefined();
  });

  async function endSessions(name: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()",
      [name],
    );
    await client.end();
  }
});
