import type { LogStoreRoot, Wake } from "@parley/core/ports";
import pg from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeOnOwnPostgres } from "../../../../test/harness/postgres.js";
import type { PostgresServer } from "../../../../test/harness/postgres-server.js";
import { openPostgres } from "./open-postgres.js";
import { admission, batch, commit, message, node, sealing, start, textsOf } from "./turns.test-support.js";
import type { PostgresWake } from "./wake.js";

const unavailable = { code: "store_unavailable", retryable: true };

describeOnOwnPostgres("when the server goes away", (postgres) => {
  let server: PostgresServer;
  let root: LogStoreRoot;
  beforeAll(async () => {
    server = await postgres.start();
    root = openPostgres({ url: server.url, listenUrl: false, connectTimeoutMs: 2_000 }).store;
    await root.migrate();
  });
  afterAll(async () => {
    await root.close();
    await server.stop();
  });

  async function withAdmin<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const terminateOthers = () =>
    withAdmin((client) =>
      client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley' AND pid <> pg_backend_pid()",
      ),
    );

  /** Calls again as long as the store reports a retryable failure. */
  async function persistently<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        expect(error).toMatchObject(unavailable);
      }
    }
  }

  it("calls fail as unavailable, and go on after its return with everything that was acknowledged", async () => {
    const store = root.forOwner("ada");
    const turn = await start(store);
    const id = turn.conversationId;
    await root.flushJournal([batch(turn, 0, "ada")]);
    await server.kill();
    const answer = message(id, "Answer", "assistant");
    await expect(store.commitStep(commit(turn, [answer]))).rejects.toMatchObject(unavailable);
    await expect(store.readOpenTurn({ conversationId: id })).rejects.toMatchObject(unavailable);
    await expect(root.heartbeat(node, 1_000)).rejects.toMatchObject(unavailable);
    await server.restart();
    const state = await persistently(() => store.readOpenTurn({ conversationId: id }));
    expect(state?.journal.length).toBe(1);
    const { entries } = await persistently(() => store.commitStep(commit(turn, [answer])));
    expect(entries[0]?.firstSeq).toBe(2);
    await store.seal(sealing(turn));
    expect((await store.get(id))?.lastSeq).toBe(2);
  });

  it("a call whose connection is cut is unavailable or done, and the same call again does it once", async () => {
    const store = root.forOwner("ada");
    const id = crypto.randomUUID();
    const input = admission(id, "Once");
    // Connections that the pool considers alive.
    await Promise.all(Array.from({ length: 5 }, () => store.get(id)));
    await terminateOthers();
    const outcome = await persistently(() => store.admit(input));
    const turnId = outcome.kind === "started" ? outcome.turn.turnId : outcome.turnId;
    expect(turnId).toBe(input.turnId);
    const { entries } = await store.readNewest({ conversationId: id, limit: 5 });
    expect(textsOf(entries)).toEqual(["Once"]);
  });

  it("a call that waits while its connection is cut is unavailable, and undone", async () => {
    const store = root.forOwner("ada");
    const turn = await start(store);
    const id = turn.conversationId;
    const holder = new pg.Client({ connectionString: server.url });
    onTestFinished(() => holder.end());
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query(
      "SELECT 1 FROM parley.conversation_head WHERE log = (SELECT log FROM parley.conversation WHERE id = $1) FOR UPDATE",
      [id],
    );
    const sealed = expect(store.seal(sealing(turn))).rejects.toMatchObject(unavailable);
    await withAdmin(async (client) => {
      for (;;) {
        const { rows } = await client.query(
          "SELECT 1 FROM pg_stat_activity WHERE application_name = 'parley' AND wait_event_type = 'Lock'",
        );
        if (rows.length > 0) return;
      }
    });
    await terminateOthers();
    await sealed;
    await holder.query("COMMIT");
    expect((await persistently(() => store.get(id)))?.active?.turnId).toBe(turn.turnId);
  });

  it("a server that takes no writes is unavailable, and its connections are not used again", async () => {
    const store = root.forOwner("ada");
    const id = crypto.randomUUID();
    await withAdmin((client) =>
      client.query("ALTER DATABASE postgres SET default_transaction_read_only = on"),
    );
    await terminateOthers();
    expect(await persistently(() => store.get(id))).toBeNull();
    await expect(store.admit(admission(id, "Hello"))).rejects.toMatchObject(unavailable);
    await withAdmin(async (client) => {
      await client.query("SET default_transaction_read_only = off");
      await client.query("ALTER DATABASE postgres RESET default_transaction_read_only");
    });
    // The connection that refused was closed: a new one finds a server that accepts writes.
    const outcome = await persistently(() => store.admit(admission(id, "Hello")));
    expect(outcome.kind).toBe("started");
  });

  it("a statement that takes too long is given up as unavailable", async () => {
    const hasty = openPostgres({ url: server.url, listenUrl: false, statementTimeoutMs: 100 });
    onTestFinished(() => hasty.store.close());
    const slow = hasty.database.query({ text: "SELECT 1 FROM (SELECT pg_sleep(60)) AS slept" });
    await expect(slow).rejects.toMatchObject(unavailable);
    expect(await hasty.database.query({ text: "SELECT 1 AS one" })).toEqual([{ one: 1 }]);
  });

  it("a server that takes no more connections makes the store unavailable, not stuck", async () => {
    const single = openPostgres({
      url: server.url,
      listenUrl: false,
      maxConnections: 1,
      // Long enough for a connection on a busy machine.
      connectTimeoutMs: 2_000,
    });
    onTestFinished(() => single.store.close());
    await single.database.transaction(async (connection) => {
      await connection.query({ text: "SELECT 1 AS one" });
      await expect(single.store.forOwner("ada").get("any")).rejects.toMatchObject(unavailable);
    });
    expect(await single.store.forOwner("ada").get("any")).toBeNull();
  });

  it("a wrong password says so, and that trying again is no use", async () => {
    const url = new URL(server.url);
    url.password = "wrong";
    const refused = openPostgres({ url: url.href, listenUrl: false });
    onTestFinished(() => refused.store.close());
    await expect(refused.store.migrate()).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: false,
    });
  });

  it("a closed store says so, and that trying again is no use", async () => {
    const { store } = openPostgres({ url: server.url, listenUrl: false });
    await store.close();
    await store.close();
    await expect(store.forOwner("ada").get("any")).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: false,
    });
  });

  it("wake-ups come again after a restart, and never fail the one who notifies", async () => {
    const open = () => openPostgres({ url: server.url });
    const [left, right] = [open(), open()];
    onTestFinished(async () => {
      for (const each of [left, right]) {
        await each.wake.close?.();
        await each.store.close();
      }
    });
    await (left.wake as PostgresWake).ready();
    await (right.wake as PostgresWake).ready();
    expect(await received(left.wake, right.wake)).toBe(true);
    await server.restart();
    expect(await received(left.wake, right.wake)).toBe(true);
  });

  /** Notifies until the other side receives it: while connections are down, nothing is received. */
  function received(from: Wake, by: Wake): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = by.listen((ids, kind) => {
        clearInterval(again);
        stop();
        resolve(ids.includes(1) && kind === "stop");
      });
      const again = setInterval(() => from.notify([1], "stop"), 50);
    });
  }
});
