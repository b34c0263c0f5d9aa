// The size of a long agent conversation in PostgreSQL: ours through the runtime, and the same one in peers'
// stores.
import { cpus } from "node:os";
import { agentTurns, contentBytes } from "../agent-conversation.mjs";
import { storeNames } from "../package-version.mjs";
import { startPostgres } from "../postgres-server.mjs";
import { openLangGraph } from "../turn-stores/langgraph.mjs";
import { openMastra } from "../turn-stores/mastra.mjs";
import { createDatabase, databaseBytes, withClient, withoutWaiting } from "../turn-stores/postgres-size.mjs";

/**
 * As published by LangChain for a 200-turn coding agent of its own: full snapshots, and with delta channels.
 */
const published = { full: 5_300_000_000, delta: 129_000_000 };

const megabytes = (bytes) => `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 2 : 0)} MB`;

/** Creates a model that answers with the conversation's text, a few characters at a time. */
function createProvider({ createProviderStream, TextDelta }, answers) {
  return {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async () =>
      createProviderStream(async ({ write }) => {
        const { text, calls, hold } = answers.shift();
        for (let end = 0; end < text.length; ) {
          const piece = text.slice(end, end + 5);
          end += 5;
          await write(new TextDelta(piece, text.slice(0, end), 0));
        }
        await hold?.();
        const parts = calls.map(({ toolCallId, name, arguments: args, argumentsText }) => ({
          type: "tool-call",
          toolCallId,
          name,
          arguments: args,
          argumentsText,
        }));
        write({
          type: "done",
          result: {
            id: "response",
            createdAt: new Date(),
            message: { role: "assistant", content: [{ type: "text", text }, ...parts] },
            usage: { inputTokens: 20_000, outputTokens: Math.ceil(text.length / 4) },
            finishReason: calls.length > 0 ? "tool-calls" : "stop",
          },
        });
      }),
  };
}

/** Plays the conversation through the runtime; returns sizes before and after the last turn's seal. */
async function playOurs(url, turns) {
  const [{ createRuntime, createModelCatalog }, messages, { openPostgres }] = await Promise.all([
    import("@parley/core/runtime"),
    import("@parley/core/messages"),
    import("@parley/store/postgres"),
  ]);
  const answers = [];
  const results = new Map();
  const { store, wake } = openPostgres({ url });
  await store.migrate();
  const tool = (name) => ({
    name,
    execute: async (_, { toolCallId }) => results.get(toolCallId),
  });
  const runtime = await createRuntime({
    store,
    wake,
    models: createModelCatalog([
      {
        name: "bench/one",
        provider: createProvider(messages, answers),
        providerName: "bench",
        model: "one",
        contextWindow: 200_000,
      },
    ]),
    tools: [tool("read_file"), tool("edit_file")],
    compactAt: 0,
  });
  const owner = runtime.forOwner("bench");
  const conversationId = "conversation";
  await owner.create({ id: conversationId });
  let before;
  for (const [number, { user, steps, answer }] of turns.entries()) {
    const isLast = number === turns.length - 1;
    for (const { calls } of steps)
      for (const { toolCallId, resultText } of calls) results.set(toolCallId, resultText);
    // The journal writes every 50 ms: wait until the last answer is in it.
    const hold = async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      before = { bytes: await databaseBytes(url), journal: await journalBytes(url) };
    };
    answers.push(...steps.map(({ thought, calls }) => ({ text: thought, calls })), {
      text: answer,
      calls: [],
      ...(isLast ? { hold } : {}),
    });
    await owner.send({ conversationId, message: user });
    const { text } = await owner.last(conversationId);
    if (text !== answer) throw new Error(`turn ${number} did not end with its answer`);
  }
  const after = { bytes: await databaseBytes(url), journal: await journalBytes(url) };
  await runtime.close();
  await wake.close();
  await store.close();
  return { before, after };
}

function journalBytes(url) {
  return withClient(url, async (client) => {
    const { rows } = await client.query(
      "SELECT coalesce(sum(length(data)), 0)::float8 AS bytes FROM parley.turn_journal",
    );
    return rows[0].bytes;
  });
}

/** Plays the conversation through a peer, turn by turn. */
async function playPeer(url, open, turns, log) {
  const peer = await open(url);
  try {
    for (const [number, turn] of turns.entries()) {
      if (number % 20 === 0) log(`    turn ${number} of ${turns.length}`);
      await peer.play("conversation", number, turn);
    }
    const written = await withClient(url, (client) => peer.bytesWritten?.(client));
    return { bytes: await databaseBytes(url), written };
  } finally {
    await peer.close();
  }
}

export const scenario = {
  name: "storage",
  title:
    "bytes that a long conversation with a coding agent takes in PostgreSQL, tools and their results included",
  async run({ quick, log }) {
    const server = await startPostgres();
    if (server === undefined)
      return [{ title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] }];
    try {
      return await withoutWaiting(server, () => compare(server, quick ? 40 : 200, { quick, log }));
    } finally {
      await server.stop();
    }
  },
};

async function compare(server, count, { quick, log }) {
  const turns = agentTurns(count);
  const content = contentBytes(turns);
  const ratio = (bytes) => `${(bytes / content).toFixed(bytes < content * 10 ? 2 : 0)}x`;
  const row = (name, bytes, note) => [name, megabytes(bytes), ratio(bytes), note];
  log(`  ${count} turns through the runtime`);
  const { before, after } = await playOurs(await createDatabase(server, "parley"), turns);
  const rows = [
    row("what was said, called and returned", content, "as text, once"),
    row(
      "@parley/store before the last seal",
      before.bytes,
      `${Math.round(before.journal)} B of it in the journal`,
    ),
    row("@parley/store after it", after.bytes, "with receipts, metrics and manifests"),
  ];
  const statements = [];
  const enter = async (name, database, open, some = turns) => {
    log(`  ${some.length} turns through ${name}`);
    try {
      const { bytes, written } = await playPeer(await createDatabase(server, database), open, some, log);
      const note = written === undefined ? "" : `${megabytes(written)} handed to it`;
      if (some === turns) rows.push(row(name, bytes, note));
      else {
        // Each step writes all earlier ones, so the bytes grow with the square of the length.
        const scale = (turns.length / some.length) ** 2;
        rows.push(
          row(
            name,
            bytes * scale,
            `from ${some.length} turns: ${megabytes(bytes)}, ${megabytes(written)} handed to it`,
          ),
        );
      }
    } catch (error) {
      statements.push(`SKIPPED  ${name}: ${String(error.message).split("\n")[0]}`);
    }
  };
  await enter(storeNames.mastra, "mastra", openMastra);
  await enter(`${storeNames.langGraph}, delta channel`, "langgraph_delta", (url) =>
    openLangGraph(url, { snapshotEvery: 50 }),
  );
  await enter(
    `${storeNames.langGraph}, default`,
    "langgraph",
    openLangGraph,
    quick ? turns : turns.slice(0, 100),
  );
  if (count === 200) {
    rows.push(
      row("LangGraph, published, delta channels", published.delta, "LangChain's own 200-turn coding agent"),
      row("LangGraph, published, full snapshots", published.full, "the same, bytes handed to the saver"),
    );
  }
  return [
    {
      title: `a conversation of ${count} turns, tables and indexes after VACUUM (${server.name}, ${cpus().length} cores)`,
      columns: ["", "bytes", "ratio to what was said", ""],
      rows,
      statements: [
        `${after.journal === 0 ? "PASS" : "MISS"}  after the seal no journal row is left`,
        ...statements,
      ],
    },
  ];
}
