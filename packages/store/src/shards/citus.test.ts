import pg from "pg";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { moveSchema } from "./citus.js";
import { numberedShards } from "./numbered-shards.js";
import { type OpenedShards, openShards } from "./open-shards.js";

/** Functions of Citus that record their calls, and the row by which a server with Citus is recognized. */
const standIn = `
  SET allow_system_table_mods = on;
  INSERT INTO pg_catalog.pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (99999, 'citus', 10, 11, false, '13.0');
  CREATE TABLE public.calls (n serial, call text, timeout text);
  CREATE FUNCTION public.citus_schema_distribute(schemaname regnamespace) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.calls (call, timeout)
    VALUES ('distribute ' || schemaname::text, current_setting('statement_timeout'))
  $$;
  CREATE FUNCTION public.citus_schema_move(schema_id regnamespace, target_node_name text, target_node_port integer,
    shard_transfer_mode text DEFAULT 'auto') RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.calls (call, timeout)
    VALUES (concat_ws(' ', 'move', schema_id, target_node_name, target_node_port), current_setting('statement_timeout'))
  $$;`;

describeOnPostgres(
  "shards on a server with Citus (a stand-in)",
  (postgres) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await postgres.createDatabase();
    });
    afterEach(() => database.drop());

    async function query(text: string): Promise<Record<string, unknown>[]> {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query(text)).rows ?? [];
      } finally {
        await client.end();
      }
    }

    const calls = async () => query("SELECT call, timeout FROM public.calls ORDER BY n");

    async function opened(schemas: number): Promise<OpenedShards> {
      const all = openShards({ shards: numberedShards({ url: database.url, schemas }) });
      onTestFinished(async () => {
        await all.wake.close?.();
        await all.store.close();
      });
      await all.store.migrate();
      return all;
    }

    it("distributes each schema once, when it is new, without a limit of time", async () => {
      await query(standIn);
      await opened(2);
      const first = ["parley", "parley_1"].map((schema) => ({ call: `distribute ${schema}`, timeout: "0" }));
      expect(await calls()).toEqual(first);
      await opened(3);
      expect(await calls()).toEqual([...first, { call: "distribute parley_2", timeout: "0" }]);
    });

    it("sends what is sent together as one transaction for the servers of the cluster, too", async () => {
      await query(standIn);
      const { server } = (await opened(1)).set.home;
      // Refused outside of a transaction that was begun.
      const lock = { text: "LOCK TABLE parley.node IN SHARE MODE" };
      const add = { text: "INSERT INTO parley.node (id, until) VALUES ('n', now())" };
      const count = { text: "SELECT count(*)::int4 AS found FROM parley.node" };
      expect(await server.batch([lock, add, count])).toEqual([[], [], [{ found: 1 }]]);
      const again = { text: "INSERT INTO parley.node (id, until) VALUES ('m', now())" };
      await expect(server.batch([again, add, count])).rejects.toMatchObject({ code: "internal" });
      expect(await server.query(count)).toEqual([{ found: 1 }]);
      const limit = { text: "SELECT current_setting('lock_timeout') AS lock_timeout" };
      expect(await server.transaction((connection) => connection.query(limit))).toEqual([
        { lock_timeout: "2s" },
      ]);
    });

    it("moves a schema to a server of the cluster, which needs Citus", async () => {
      const { set } = await opened(2);
      const [, shard] = set.shards;
      if (shard === undefined) throw new Error("not open");
      const to = { host: "worker-2", port: 5_433 };
      await expect(moveSchema(shard, to)).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("The server of the shard s1 has no Citus"),
      });
      await query(standIn);
      await moveSchema(shard, to);
      expect(await calls()).toEqual([{ call: "move parley_1 worker-2 5433", timeout: "0" }]);
      await query(`
        CREATE OR REPLACE FUNCTION public.citus_schema_move(schema_id regnamespace, target_node_name text,
          target_node_port integer, shard_transfer_mode text DEFAULT 'auto') RETURNS void LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'server %:% is not known', target_node_name, target_node_port; END $$`);
      await expect(moveSchema(shard, to)).rejects.toMatchObject({
        message: "Citus refused: server worker-2:5433 is not known",
        retryable: false,
      });
    });
  },
  "preferred",
);
