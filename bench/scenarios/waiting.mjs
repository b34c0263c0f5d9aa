// Turns that wait for a decision: the cost of 10,000 of them while idle, and the delay from a decision to its
// tool's start.
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOf, startPostgres } from "../postgres-server.mjs";
import { load, ms } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase, withClient } from "../turn-stores/postgres-size.mjs";

const restMs = 10_000;
const atOnce = 50;
const bytesTarget = 1_024;
const sameNodeMs = 20;
const otherNodeMs = 100;

/** Creates a tool that needs an approval and reports its start, and one that runs until it is released. */
function createTools() {
  const started = new Map();
  const held = new Map();
  const pay = {
    name: "pay",
    description: "Pays an amount to somebody.",
    schema: {
      type: "object",
      properties: { amount: { type: "number" }, to: { type: "string" } },
      required: ["amount", "to"],
    },
    approval: "always",
    execute(_input, { conversationId }) {
      started.get(conversationId)?.(performance.now());
      return "paid";
    },
  };
  const hold = {
    name: "hold",
    execute: (_input, { conversationId }) => new Promise((resolve) => held.set(conversationId, resolve)),
  };
  return {
    tools: [pay, hold],
    held,
    start: (conversationId) => new Promise((resolve) => started.set(conversationId, resolve)),
  };
}

/** Creates a model that pays, and with "hold" in the message also holds; then answers that it is done. */
function createModel({ createScriptedProvider, text, toolCall, usage }) {
  return createScriptedProvider(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return [text("Done."), usage(30, 5)];
    const said = last?.content.map((part) => part.text ?? "").join("") ?? "";
    const pays = toolCall("pay", { amount: 120.5, to: "somebody@example.org" });
    return [
      text("I will pay that now."),
      pays,
      ...(said.startsWith("hold") ? [toolCall("hold", {})] : []),
      usage(20, 8),
    ];
  });
}

async function openNode(lib, url, tools) {
  const { openPostgres } = await import("@parley/store/postgres");
  const { store, wake } = openPostgres({ url });
  await store.migrate();
  const node = await lib.runtime.createRuntime({
    store,
    wake,
    tools,
    models: lib.runtime.createModelCatalog([
      {
        name: "bench/one",
        provider: createModel(lib.testing),
        providerName: "bench",
        model: "one",
        contextWindow: 100_000,
      },
    ]),
    limits: { runningTurns: 1_000, runningTurnsPerOwner: 1_000 },
  });
  return {
    node,
    owner: node.forOwner("bench"),
    async close() {
      await node.close();
      await wake.close?.();
      await store.close();
    },
  };
}

/** Sends a message, and resolves when the turn waits: then its events end. */
async function ask(owner, conversationId, message = "Pay the bill.") {
  for await (const { event } of owner.chat({ conversationId, message })) {
    if (event.type === "error") throw new Error(event.message);
  }
}

async function requestOf(owner, conversationId) {
  const { pending } = await owner.input.pending({ conversationId });
  if (pending.length !== 1) throw new Error(`${pending.length} requests are pending in ${conversationId}`);
  return pending[0];
}

/**
 * Returns the number of running turns once it is 0, or after ten seconds: a turn's events end before its node
 * releases it.
 */
async function settledTurns(node) {
  const until = performance.now() + 10_000;
  while (node.status().runningTurns > 0 && performance.now() < until) await sleep(20);
  return node.status().runningTurns;
}

/** Resolves when the node is idle: after this many new messages it is still busy with the search index. */
async function caughtUp() {
  const until = performance.now() + 60_000;
  for (let busy = Infinity; busy > 0.02 && performance.now() < until; ) {
    const before = process.cpuUsage();
    await sleep(2_000);
    const { user, system } = process.cpuUsage(before);
    busy = (user + system) / 2e6;
  }
}

/** Measures the activity of the process, the database and its connections in a period without work. */
async function rest(server, url) {
  const before = { cpu: process.cpuUsage(), database: cpuSecondsOf(server) };
  await sleep(restMs);
  const { user, system } = process.cpuUsage(before.cpu);
  const database = cpuSecondsOf(server) - before.database;
  const connections = await withClient(url, async (client) => {
    const { rows } = await client.query(
      "SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    return rows[0].n;
  });
  const seconds = restMs / 1_000;
  return { node: (user + system) / 1e6 / seconds, database: database / seconds, connections };
}

function sizes(url) {
  return withClient(url, async (client) => {
    await client.query("VACUUM (FULL, ANALYZE)");
    const { rows } = await client.query(`SELECT relname, pg_total_relation_size(oid)::float8 AS bytes
      FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r'`);
    return new Map(rows.map(({ relname, bytes }) => [relname, bytes]));
  });
}

const share = (value) => `${(value * 100).toFixed(2)} %`;
const verdict = (isMet, line) => `${isMet ? "PASS" : "MISS"}  ${line}`;

async function measureWaiting(lib, server, { quick, log }) {
  const turns = quick ? 1_000 : 10_000;
  const url = await createDatabase(server, "waiting");
  const { tools } = createTools();
  const { node, owner, close } = await openNode(lib, url, tools);
  try {
    await ask(owner, "first");
    await owner.stop("first");
    await sleep(500);
    const empty = await rest(server, url);
    const before = await sizes(url);
    for (let from = 0; from < turns; from += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, (_, index) => ask(owner, `c${from + index}`)));
      if (from % 1_000 === 0) log(`  ${from} of ${turns} turns wait`);
    }
    const runningTurns = await settledTurns(node);
    if (runningTurns !== 0) throw new Error(`${runningTurns} turns still run`);
    const after = await sizes(url);
    const grown = (name) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / turns;
    await caughtUp();
    const full = await rest(server, url);
    const all = [...after.keys()].reduce((sum, name) => sum + grown(name), 0);
    const request = grown("input_request");
    const isQuiet = full.node - empty.node < 0.01 && full.database - empty.database < 0.01;
    return {
      title: `${turns} turns that wait, on ${server.name}`,
      columns: ["", "without any", "with them"],
      rows: [
        ["CPU of the node, of one core", share(empty.node), share(full.node)],
        ["CPU of the database, of one core", share(empty.database), share(full.database)],
        ["connections", empty.connections, full.connections],
        ["running turns", 0, runningTurns],
        ["the request with its indexes, per turn", "", `${Math.round(request)} B`],
        ["the whole conversation with its messages, per turn", "", `${Math.round(all)} B`],
      ],
      statements: [
        verdict(
          request < bytesTarget,
          `a turn that waits takes ${Math.round(request)} B, less than ${bytesTarget} B`,
        ),
        verdict(isQuiet, "waiting takes less than 1 % of a core, on the node and in the database"),
        verdict(full.connections <= empty.connections, "waiting takes no connection"),
      ],
    };
  } finally {
    await close();
  }
}

/** Measures the time from the deciding call to the start of the tool. */
async function decide(decider, started, request) {
  const { conversationId, requestId, argumentsHash } = request;
  const from = performance.now();
  await decider.input.respond(conversationId, requestId, { decision: "allow", argumentsHash });
  return (await started) - from;
}

/** Resolves with the time at which a client of a node sees the response to a request, whichever it is. */
function seenBy(owner, conversationId) {
  return new Promise((resolve) => {
    const onFrame = (frame) => {
      if (JSON.stringify(frame).includes('"input-response"')) {
        leave();
        resolve(performance.now());
      }
    };
    const leave = owner.attach(conversationId, "0", { onFrame, onEnd: () => {} });
  });
}

/**
 * Lets two clients decide the same request at once through two nodes: returns the time until both see the one
 * decision.
 */
async function decideTwice(here, there, conversationId) {
  await ask(here.owner, conversationId);
  const { requestId, argumentsHash } = await requestOf(here.owner, conversationId);
  const seen = [here, there].map(({ owner }) => seenBy(owner, conversationId));
  const from = performance.now();
  const outcomes = await Promise.allSettled([
    here.owner.input.respond(conversationId, requestId, { decision: "allow", argumentsHash }),
    there.owner.input.respond(conversationId, requestId, { decision: "deny" }),
  ]);
  const winners = outcomes.filter(({ status }) => status === "fulfilled").length;
  if (winners !== 1) throw new Error(`${winners} of two decisions are in force`);
  return Math.max(...(await Promise.all(seen))) - from;
}

async function measureDecisions(lib, server, { quick }) {
  const rounds = quick ? 30 : 200;
  const url = await createDatabase(server, "decisions");
  const { tools, held, start } = createTools();
  const [here, there] = [await openNode(lib, url, tools), await openNode(lib, url, tools)];
  const ways = {
    "the turn waits; decided on the node that asked": { decider: here.owner, targetMs: sameNodeMs },
    "the turn waits; decided on another node, which goes on with it": {
      decider: there.owner,
      targetMs: sameNodeMs,
    },
    "a node runs other calls of the step; decided on it": {
      decider: here.owner,
      targetMs: sameNodeMs,
      holds: true,
    },
    "a node runs other calls of the step; decided on another node": {
      decider: there.owner,
      targetMs: otherNodeMs,
      holds: true,
    },
  };
  const rows = [];
  const statements = [];
  const add = (name, times, targetMs) => {
    times.sort((left, right) => left - right);
    const at = (part) => times[Math.min(times.length - 1, Math.floor(part * times.length))];
    rows.push([name, ms(median(times)), ms(at(0.95)), ms(at(0.99)), `${targetMs} ms`]);
    statements.push(
      verdict(at(0.95) < targetMs, `${name}: 95 % within ${ms(at(0.95))}, target ${targetMs} ms`),
    );
  };
  try {
    for (const [name, { decider, targetMs, holds = false }] of Object.entries(ways)) {
      const times = [];
      for (let round = 0; round < rounds + 5; round += 1) {
        const id = `${name.replace(/[^a-z]+/g, "-")}${round}`;
        const started = start(id);
        if (holds) {
          void ask(here.owner, id, "hold");
          while (!held.has(id)) await sleep(1);
        } else await ask(here.owner, id);
        const taken = await decide(decider, started, await requestOf(decider, id));
        held.get(id)?.("held");
        if (round >= 5) times.push(taken);
      }
      add(name, times, targetMs);
    }
    const both = [];
    for (let round = 0; round < rounds; round += 1) both.push(await decideTwice(here, there, `both${round}`));
    add("two clients decide at once through two nodes; both see one decision", both, otherNodeMs);
    return {
      title: `from a decision to the start of its tool, ${rounds} each, on ${server.name}`,
      columns: ["", "median", "95 %", "99 %", "target"],
      rows,
      statements,
    };
  } finally {
    await here.close();
    await there.close();
  }
}

export const scenario = {
  name: "waiting",
  title: "turns that wait for a person: what they take, and how soon a decision starts its tool",
  async run(options) {
    const server = await startPostgres();
    if (server === undefined) {
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    }
    try {
      const lib = await load();
      return [await measureWaiting(lib, server, options), await measureDecisions(lib, server, options)];
    } finally {
      await server.stop();
    }
  },
};
