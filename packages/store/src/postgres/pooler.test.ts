import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { startPgbouncer } from "../../../../test/harness/pgbouncer.js";
import { PoolingProxy } from "../../../../test/harness/pooling-proxy.js";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { TcpProxy } from "../../../../test/harness/tcp-proxy.js";
import { type OpenPostgresOptions, openPostgres } from "./open-postgres.js";
import { PostgresDatabase } from "./postgres-database.js";
import { start } from "./turns.test-support.js";

const program = inject("pgbouncer");

const named = {
  code: "store_unavailable",
  retryable: false,
  message: expect.stringContaining("transactionPooler: true"),
  details: expect.objectContaining({ setting: "transactionPooler" }),
};

describeOnPostgres(
  "a pooler before the database",
  (postgres) => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await postgres.createDatabase();
    });
    afterAll(() => database.drop());

    function open(url: string, options: Partial<OpenPostgresOptions> = {}) {
      const { store } = openPostgres({ url, listenUrl: false, ...options });
      onTestFinished(() => store.close());
      return store;
    }

    async function pool(sessions?: number): Promise<string> {
      const proxy = await PoolingProxy.start(database.url, sessions);
      onTestFinished(() => proxy.close());
      return proxy.through(database.url);
    }

    it.each([1, 2, 5])("that works per transaction is named, with %i sessions", async (sessions) => {
      await expect(open(await pool(sessions)).migrate()).rejects.toMatchObject(named);
    });

    it("is accepted where it is announced", async () => {
      const store = open(await pool(), { transactionPooler: true });
      await store.migrate();
      const turn = await start(store.forOwner("ada"));
      expect((await store.forOwner("ada").get(turn.conversationId))?.active?.turnId).toBe(turn.turnId);
    });

    it("is named when it appears later: a prepared statement is missing", async () => {
      const pooled = new PostgresDatabase({ url: await pool(), maxConnections: 1 });
      onTestFinished(() => pooled.close());
      const statement = { text: "SELECT 1 AS one", name: "one" };
      await pooled.query(statement);
      await expect(pooled.query(statement)).rejects.toMatchObject({
        ...named,
        details: { setting: "transactionPooler", sqlState: "26000" },
      });
    });

    it("is not seen in a proxy that only passes bytes", async () => {
      const proxy = await TcpProxy.start(database.url);
      onTestFinished(() => proxy.close());
      await open(proxy.through(database.url)).migrate();
    });

    describe.skipIf(program === undefined)("pgbouncer", () => {
      const ignored = "ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout";

      async function bounce(...settings: readonly string[]): Promise<string> {
        if (program === undefined) throw new Error("there is no pgbouncer here");
        const bouncer = await startPgbouncer(program, database.url, settings);
        onTestFinished(() => bouncer.stop());
        return bouncer.url;
      }

      it.each([
        ["that refuses our settings", []],
        ["that ignores our settings", [ignored]],
        ["with one session", [ignored, "default_pool_size = 1"]],
        ["with sessions in turn", [ignored, "server_round_robin = 1"]],
      ])("in transaction mode %s is named", async (_, settings) => {
        const url = await bounce("pool_mode = transaction", ...settings);
        await expect(open(url).migrate()).rejects.toMatchObject(named);
        await open(url, { transactionPooler: true }).migrate();
      });

      it("in session mode works if it ignores our settings, and is named if it refuses them", async () => {
        await open(await bounce("pool_mode = session", ignored)).migrate();
        const url = await bounce("pool_mode = session");
        await expect(open(url).migrate()).rejects.toMatchObject(named);
        await open(url, { transactionPooler: true }).migrate();
      });
    });
  },
  "preferred",
);
