import type { LogStoreRoot, Wake } from "@parley/core/ports";
import { openPostgres } from "@parley/store/postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationState } from "../../packages/client/src/state/conversation-state.js";
import { describeOnPostgres, type TestDatabase } from "../harness/postgres.js";
import { isIdle, type LiveServer, lastText, liveServer, testClient, until } from "./live-server.js";

const says = (words: string) => (state: ConversationState) =>
  isIdle(state) && lastText(state).includes(words);

/** Returns what a page would show, without what depends on the moment. */
function shown({ messages, status, queue }: ConversationState): unknown {
  return JSON.parse(JSON.stringify({ messages, status, queue }));
}

async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Continues a conversation without the client that is watched. */
async function converse(
  live: LiveServer,
  conversationId: string,
  messages: readonly string[],
): Promise<void> {
  const me = live.runtime.forOwner("local");
  for (const message of messages) {
    await me.send({ conversationId, message });
    await me.last(conversationId);
  }
}

describeOnPostgres(
  "a client over the restore of a database",
  (postgres) => {
    let database: TestDatabase;
    let name: string;
    let server: string;
    const open = (): { store: LogStoreRoot; wake: Wake } => openPostgres({ url: database.url });

    beforeAll(async () => {
      database = await postgres.createDatabase();
      const url = new URL(database.url);
      name = url.pathname.slice(1);
      url.pathname = "/postgres";
      server = url.href;
      const { store, wake } = open();
      await store.migrate();
      await store.close();
      await wake.close?.();
    });
    afterAll(async () => {
      await database.drop();
      await execute(server, `DROP DATABASE IF EXISTS ${name}_dump WITH (FORCE)`);
    });

    it("shows what a fresh one shows, though the log has grown past its cursor since", async () => {
      const live = await liveServer({ open });
      const handle = testClient(live.url).connect().conversation("c1");
      await handle.send("kept");
      await until(handle, says("You said: kept"));
      await live.stop();
      await execute(server, `CREATE DATABASE ${name}_dump TEMPLATE ${name}`);
      await live.start({ open });
      await handle.send("lost");
      await until(handle, says("You said: lost"));
      await handle.send("lost too");
      await until(handle, says("You said: lost too"));
      const { cursor } = handle.getState();
      await live.stop();

      await execute(
        server,
        `DROP DATABASE ${name} WITH (FORCE)`,
        `CREATE DATABASE ${name} TEMPLATE ${name}_dump`,
      );
      await live.startRuntime(open);
      await converse(live, "c1", ["new", "newer", "newest"]);
      await live.stopRuntime();
      await live.start({ open });

      const state = await until(handle, says("You said: newest"));
      const fresh = await until(testClient(live.url).connect().conversation("c1"), says("You said: newest"));
      expect(shown(state)).toEqual(shown(fresh));
      expect(JSON.stringify(state.messages)).not.toContain("lost");
      expect(state.messages.map(({ firstSeq }) => firstSeq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      // The same by server-sent events and a header, as a browser's own reader reconnects.
      const stop = new AbortController();
      const answer = await fetch(`${live.url}/conversations/c1/events`, {
        headers: { "last-event-id": cursor ?? "" },
        signal: stop.signal,
      });
      let received = "";
      for await (const piece of answer.body ?? []) {
        received += Buffer.from(piece).toString();
        if (received.includes("You said: newest")) break;
      }
      stop.abort();
      expect([...received.matchAll(/^event: (\w+)/gm)].map(([, event]) => event)).toEqual([
        "snapshot",
        "reset",
        "chunks",
      ]);
      expect(received).not.toContain("lost");
    });

    it("does so while the server keeps running, once something happens in the log", async () => {
      const live = await liveServer({ open });
      const handle = testClient(live.url).connect().conversation("c2");
      await handle.send("kept");
      await until(handle, says("You said: kept"));
      const tables = await copyTables(database.url, "parley", "dump");
      await handle.send("lost");
      await until(handle, says("You said: lost"));
      await execute(
        database.url,
        "SET session_replication_role = replica",
        "BEGIN",
        `TRUNCATE ${tables.map((table) => `parley.${table}`).join(", ")}`,
        ...tables.map((table) => `INSERT INTO parley.${table} SELECT * FROM dump.${table}`),
        "COMMIT",
      );
      await converse(live, "c2", ["new"]);
      const state = await until(handle, says("You said: new"));
      const fresh = await until(testClient(live.url).connect().conversation("c2"), says("You said: new"));
      expect(shown(state)).toEqual(shown(fresh));
      expect(JSON.stringify(state.messages)).not.toContain("lost");
    });
  },
  "preferred",
);

/** Copies the tables of a schema, and returns their names. */
async function copyTables(url: string, from: string, to: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1",
      [from],
    );
    await client.query(`CREATE SCHEMA ${to}`);
    for (const { name } of rows)
      await client.query(`CREATE TABLE ${to}.${name} AS SELECT * FROM ${from}.${name}`);
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}
