// One paced answer stored in PostgreSQL while it is streamed: the rows, notifications and write-ahead log of
// its deltas.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { packageVersion } from "../package-version.mjs";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { createProvider, finish, follow, isEvent, load, openNode, PIECE } from "../runtime-node.mjs";
import { createDatabase, walBytes, withClient } from "../turn-stores/postgres-size.mjs";

const perSecond = 50;

/** Calls `write` this many times at the pace of a model. Calls missed by a late timer are made up for. */
async function paced(deltas, write) {
  const startedAt = performance.now();
  for (let sent = 0; sent < deltas; ) {
    await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond));
    const due = Math.min(deltas, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due; sent += 1) await write(PIECE);
  }
}

/**
 * Opens the runtime with its journal, and a subscriber of the answer: on the same node, which is alone and
 * then sends no notifications, or on another one.
 */
async function openParley(url, { hasOtherNode }) {
  const lib = await load();
  const { openPostgres } = await import("@parley/store/postgres");
  let deltas = 0;
  const provider = createProvider(lib, async ({ write }) => {
    let text = "";
    await paced(deltas, (piece) => {
      text += piece;
      write(new lib.messages.TextDelta(piece, text, 0));
    });
    finish(write, text);
  });
  const open = async () => {
    const { store, wake } = openPostgres({ url });
    await store.migrate();
    return { store, wake, ...(await openNode(lib, provider, { store, wake })) };
  };
  const nodes = [await open(), ...(hasOtherNode ? [await open()] : [])];
  return {
    channel: "parley_wake",
    schema: "parley",
    async answer(count) {
      deltas = count;
      let received = 0;
      const { conversationId } = await nodes[0].owner.send({ message: "go" });
      await follow(nodes.at(-1).owner, conversationId, isEvent("turn-sealed"), (frame) => {
        if (isEvent("text-delta")(frame)) received += frame.event.delta.length;
      });
      return received / PIECE.length;
    },
    async close() {
      for (const { node, store, wake } of nodes) {
        await node.close();
        await wake.close();
        await store.close();
      }
    },
  };
}

/** Opens the stream of a workflow, written chunk by chunk and read from the same process. */
async function openWorkflow(url) {
  const { createWorld } = await import("@workflow/world-postgres");
  const setup = new URL("../node_modules/@workflow/world-postgres/bin/setup.js", import.meta.url);
  await promisify(execFile)(process.execPath, [setup.pathname], {
    env: { ...process.env, WORKFLOW_POSTGRES_URL: url },
  });
  const world = createWorld({ connectionString: url });
  let answers = 0;
  return {
    channel: "workflow_event_chunk",
    schema: "workflow",
    async answer(count) {
      answers += 1;
      const [name, runId] = [`stream-${answers}`, `run-${answers}`];
      const stream = await world.readFromStream(name);
      const read = (async () => {
        let length = 0;
        for await (const chunk of stream) length += chunk.length;
        return length;
      })();
      await paced(count, (piece) => world.writeToStream(name, runId, piece));
      await world.closeStream(name, runId);
      return (await read) / PIECE.length;
    },
    close: () => world.close(),
  };
}

/**
 * Deltas before the figures are taken. A node that has not seen another one for 5 s knows that it is alone.
 */
const warmUp = perSecond * 6;

async function measure(server, { url, open, deltas }) {
  const contestant = await open(url);
  const listener = await listen(url, contestant.channel);
  const rowsBefore = await rowsWritten(url, contestant.schema);
  const result = {};
  try {
    await contestant.answer(warmUp);
    await listener.settled();
    const figures = async () => ({
      notifications: listener.count,
      wal: await walBytes(url),
      database: cpuSecondsOf(server) * 1e6,
    });
    const before = await figures();
    const cpu = process.cpuUsage();
    const received = await contestant.answer(deltas);
    const { user, system } = process.cpuUsage(cpu);
    if (received !== deltas) throw new Error(`${received} of ${deltas} deltas were delivered`);
    await listener.settled();
    const after = await figures();
    const per = (name) => (after[name] - before[name]) / deltas;
    Object.assign(result, {
      notifications: per("notifications") * 1_000,
      wal: per("wal"),
      cpuUs: (user + system) / deltas,
      databaseUs: per("database"),
    });
  } finally {
    await listener.close();
    await contestant.close();
  }
  // Its connections have reported all their writes once they are closed, and not much sooner.
  const rows = (await rowsWritten(url, contestant.schema)) - rowsBefore;
  return { ...result, rows: (rows / (warmUp + deltas)) * 1_000 };
}

/** Counts the notifications of a channel. */
async function listen(url, channel) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const seen = { count: 0 };
  client.on("notification", () => {
    seen.count += 1;
  });
  await client.query(`LISTEN ${channel}`);
  return {
    get count() {
      return seen.count;
    },
    /** Notifications sent before arrive ahead of the response to a query. */
    settled: () => client.query("SELECT 1"),
    close: () => client.end(),
  };
}

/**
 * Returns the number of rows inserted into the tables of a schema so far, by connections that have reported
 * them.
 */
function rowsWritten(url, schema) {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      "SELECT coalesce(sum(n_tup_ins), 0)::float8 AS rows FROM pg_stat_user_tables WHERE schemaname = $1",
      [schema],
    );
    return rows[0].rows;
  });
}

export const scenario = {
  name: "durable-stream",
  title: `one answer at ${perSecond} deltas/s, kept in PostgreSQL and followed while it is streamed`,
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    const deltas = quick ? 250 : 1_000;
    const rows = [];
    const statements = [];
    const measured = [];
    try {
      for (const [name, database, open] of [
        ["Parley, one node", "parley", (url) => openParley(url, { hasOtherNode: false })],
        ["Parley, followed on another node", "parley_two", (url) => openParley(url, { hasOtherNode: true })],
        [`@workflow/world-postgres ${packageVersion("@workflow/world-postgres")}`, "workflow", openWorkflow],
      ]) {
        log(`  ${name}: ${deltas} deltas`);
        try {
          const url = await createDatabase(server, database);
          const figures = await measure(server, { url, open, deltas });
          measured.push(figures);
          rows.push([
            name,
            figures.rows.toFixed(0),
            figures.notifications.toFixed(0),
            `${figures.wal.toFixed(0)} B`,
            `${figures.cpuUs.toFixed(0)} us`,
            `${figures.databaseUs.toFixed(0)} us`,
          ]);
        } catch (error) {
          // A peer may be absent; our contestant may not.
          if (measured.length < 2) throw error;
          statements.push(`SKIPPED  ${name}: ${String(error.message).split("\n")[0]}`);
        }
      }
    } finally {
      await server.stop();
    }
    const [alone, two] = measured;
    const isPass = two.rows <= 500 && two.notifications <= 500 && alone.notifications <= 20;
    return [
      {
        title: `per 1,000 deltas and per delta (${server.name})`,
        columns: ["", "rows", "NOTIFYs", "written ahead", "CPU of the node", "CPU of PostgreSQL"],
        rows,
        statements: [
          ...statements,
          `${isPass ? "PASS" : "MISS"}  ${two.rows.toFixed(0)} rows and ${two.notifications.toFixed(0)} NOTIFYs per 1,000 deltas (at most 500), ${alone.notifications.toFixed(0)} with one node (at most 20)`,
        ],
      },
    ];
  },
};
