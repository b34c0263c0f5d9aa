import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { PostgresDatabase, type PostgresDatabaseOptions } from "./postgres-database.js";

async function pidOf(connection: Pick<PostgresDatabase, "query">): Promise<number> {
  const [row] = await connection.query(whoAmI);
  return Number(row?.pid);
}

const whoAmI = { text: "SELECT pg_backend_pid() AS pid", name: "who_am_i" };

describeOnPostgres("connections", (postgres) => {
  let testDatabase: TestDatabase;
  beforeAll(async () => {
    testDatabase = await postgres.createDatabase();
  });
  afterAll(() => testDatabase.drop());

  function open(options: Partial<PostgresDatabaseOptions> = {}): PostgresDatabase {
    const database = new PostgresDatabase({ url: testDatabase.url, ...options });
    onTestFinished(() => database.close());
    return database;
  }

  async function connectDirectly(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: testDatabase.url });
    onTestFinished(() => client.end());
    await client.connect();
    return client;
  }

  /** Resolves when the server has ended that connection. */
  async function gone(client: pg.Client, pid: number): Promise<void> {
    for (;;) {
      const { rows } = await client.query("SELECT FROM pg_stat_activity WHERE pid = $1", [pid]);
      if (rows.length === 0) return;
    }
  }

  it("go on with the one that was used last", async () => {
    const database = open();
    const pids = await Promise.all([pidOf(database), pidOf(database), pidOf(database)]);
    expect(new Set(pids).size).toBe(3);
    const last = await pidOf(database);
    expect(await database.transaction(pidOf)).toBe(last);
    expect(await pidOf(database)).toBe(last);
  });

  it("are shared by many where there is a single one", async () => {
    const database = open({ maxConnections: 1 });
    const first = await pidOf(database);
    const work = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? pidOf(database) : database.transaction(pidOf),
    );
    expect(new Set(await Promise.all(work))).toEqual(new Set([first]));
  });

  it("are replaced when they break while they are idle", async () => {
    const database = open();
    const other = await connectDirectly();
    const first = await pidOf(database);
    await other.query("SELECT pg_terminate_backend($1)", [first]);
    await gone(other, first);
    // The process may notice it a moment after the server has forgotten it.
    const next = await vi.waitFor(() => pidOf(database), 30_000);
    expect(next).not.toBe(first);
  });

  it("end after they have been idle for a while", async () => {
    const other = await connectDirectly();
    const database = open();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const pid = await pidOf(database);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await pidOf(database)).toBe(pid);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(await pidOf(database)).toBe(pid);
    // Ten seconds kept, and ten in the pool.
    await vi.advanceTimersByTimeAsync(21_000);
    await gone(other, pid);
    expect(await pidOf(database)).not.toBe(pid);
  });

  it("wait in a transaction for a lock for a limited time, then begin it again", async () => {
    const database = open();
    const other = await connectDirectly();
    await other.query("CREATE TABLE held (id integer)");
    await other.query("BEGIN");
    await other.query("LOCK TABLE held");
    let begun = 0;
    const work = database.transaction(async (connection) => {
      begun += 1;
      await connection.query({ text: "LOCK TABLE held" });
      return "done";
    });
    // A frozen process would get the lock next, and hold it: what it waits for has to end before that.
    await vi.waitFor(() => expect(begun).toBe(2), 30_000);
    await other.query("COMMIT");
    expect(await work).toBe("done");
    expect(begun).toBe(2);
  });

  it("are closed with the store", async () => {
    const other = await connectDirectly();
    const database = open();
    const pids = await Promise.all([pidOf(database), pidOf(database)]);
    await database.close();
    for (const pid of pids) await gone(other, pid);
    await expect(database.query(whoAmI)).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
