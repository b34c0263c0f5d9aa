import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { type OpenPostgresOptions, openPostgres } from "../../packages/store/src/postgres/open-postgres.js";
import {
  admission,
  batch,
  commit,
  message,
  node,
  sealing,
  start,
  textsOf,
} from "../../packages/store/src/postgres/turns.test-support.js";
import { startPgbouncer } from "../harness/pgbouncer.js";
import { describeOnOwnPostgres } from "../harness/postgres.js";
import type { PostgresServer, StandbyServer } from "../harness/postgres-server.js";
import { TcpProxy } from "../harness/tcp-proxy.js";

const program = inject("pgbouncer");
const unavailable = { code: "store_unavailable", retryable: true };

describeOnOwnPostgres(
  "a primary with a synchronous standby",
  (postgres) => {
    let primary: PostgresServer;
    let standby: StandbyServer;
    /** Leads to the primary, as the address does that nodes are given. */
    let address: TcpProxy;
    beforeAll(async () => {
      primary = await postgres.start();
      standby = await primary.startStandby();
      address = await TcpProxy.start(primary.url);
    });
    afterAll(async () => {
      await address.close();
      await standby.stop();
      await primary.stop();
    });

    async function persistently<T>(call: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          expect(error).toMatchObject(unavailable);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }

    function open(url: string, options: Partial<OpenPostgresOptions> = {}) {
      const opened = openPostgres({ url, connectTimeoutMs: 2_000, statementTimeoutMs: 4_000, ...options });
      onTestFinished(async () => {
        await opened.wake.close?.();
        await opened.store.close();
      });
      return opened;
    }

    /** Writes until it is stopped, and returns what was acknowledged. */
    function writing(store: ReturnType<typeof open>["store"], name: string) {
      const acknowledged: string[] = [];
      let isStopped = false;
      const done = (async () => {
        for (let index = 0; !isStopped; index += 1) {
          const id = `${name}-${index}`;
          const input = admission(id, id);
          await persistently(() => store.forOwner("ada").admit(input));
          acknowledged.push(id);
        }
      })();
      const stop = async () => {
        isStopped = true;
        await done;
        return acknowledged;
      };
      return { acknowledged, stop };
    }

    it("loses nothing that was acknowledged when the primary is killed, and nodes go on by themselves", async () => {
      const direct = open(address.through(primary.url));
      await direct.store.migrate();
      const pooled =
        program === undefined
          ? undefined
          : await startPgbouncer(program, address.through(primary.url), ["pool_mode = transaction"]);
      if (pooled !== undefined) onTestFinished(() => pooled.stop());
      const nodes = [
        { name: "direct", store: direct.store },
        ...(pooled === undefined
          ? []
          : [{ name: "pooled", store: open(pooled.url, { transactionPooler: true }).store }]),
      ];
      await direct.store.heartbeat(node, 600_000);
      const turn = await start(direct.store.forOwner("ada"), "turn");
      await direct.store.flushJournal([batch(turn, 0, "ada")]);
      const writers = nodes.map(({ name, store }) => writing(store, name));
      while (writers.some(({ acknowledged }) => acknowledged.length < 20)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const before = writers.map(({ acknowledged }) => acknowledged.length);
      await primary.kill();
      await standby.promote();
      address.leadTo(standby.url);
      while (writers.some(({ acknowledged }, index) => acknowledged.length < (before[index] ?? 0) + 20)) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const acknowledged = (await Promise.all(writers.map(({ stop }) => stop()))).flat();
      const { conversations } = await direct.store.forOwner("ada").list({ limit: 100_000 });
      const ids = conversations.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of acknowledged.slice(0, 50)) {
        const { entries } = await direct.store.forOwner("ada").readNewest({ conversationId: id, limit: 5 });
        expect(textsOf(entries)).toEqual([id]);
      }
      // The turn that was open goes on under its lease.
      const own = direct.store.forOwner("ada");
      expect((await own.readOpenTurn({ conversationId: "turn" }))?.journal).toHaveLength(1);
      await own.commitStep(commit(turn, [message("turn", "Answer", "assistant")]));
      await own.seal(sealing(turn));
      expect((await own.get("turn"))?.lastSeq).toBe(2);
    }, 60_000);
  },
  "preferred",
);
