// Building the model's context: a bounded window out of logs of growing length, and a window that holds
// everything, step after step, on PostgreSQL.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../postgres-server.mjs";
import { createProvider, finish, follow, isEvent, load, ms, openNode } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";

const windowTokens = 8_000;
const windowMessages = 93;

/**
 * Targets in milliseconds: the time a window adds to a step after the first, and the longest block of the
 * event loop.
 */
const mostPerStep = 10;
const longestBlock = 10;

const steps = 6;
const turns = 3;

const text = (n) => `Message ${n}: ${"a few words about nothing in particular, ".repeat(8)}`;

const message = (conversationId, n, content = text(n)) => ({
  id: `m${n}`,
  conversationId,
  role: n % 2 === 0 ? "user" : "assistant",
  createdAt: new Date(1_700_000_000_000 + n * 1_000),
  content: [{ type: "text", text: content }],
});

const verdict = (isMet, claim) => `${isMet ? "PASS" : "MISS"}  ${claim}`;

async function fillMemory(core, count) {
  const store = new core.InMemoryConversationStore();
  const { id } = await store.createConversation({ id: "c1" });
  for (let n = 0; n < count; n += 1_000) {
    await store.appendMessages(
      Array.from({ length: Math.min(1_000, count - n) }, (_, k) => message(id, n + k)),
    );
  }
  return store;
}

/** Builds windows of the newest 8,000 tokens, from conversations in memory. */
async function boundedWindows({ core }, quick) {
  const builder = new core.BudgetedHistoryBuilder();
  const cases = [];
  for (const count of [1_000, 10_000, 100_000]) {
    const store = await fillMemory(core, count);
    const conversation = await store.getConversation("c1");
    cases.push({ count, store, conversation, samples: [] });
  }
  const build = async ({ count, store, conversation }, n) => {
    const built = await builder.buildHistory({
      conversation,
      store,
      newUserMessages: [{ ...message("c1", count + n), id: `new${n}`, role: "user" }],
      budget: { maxTokens: windowTokens },
    });
    const { length } = built.messages;
    if (!built.truncated || length < windowMessages / 3 || length > windowMessages * 3) {
      throw new Error(`${length} messages in a window of ${windowTokens} tokens`);
    }
  };
  const each = quick ? 50 : 200;
  for (let round = -3; round < 9; round++) {
    for (const one of cases) {
      const start = process.cpuUsage();
      for (let n = 0; n < each; n++) await build(one, n);
      const { user, system } = process.cpuUsage(start);
      if (round >= 0) one.samples.push((user + system) / each);
    }
  }
  const [shortest] = cases;
  const longest = cases.at(-1);
  const ratio = median(longest.samples.map((sample, round) => sample / shortest.samples[round]));
  return {
    title: `the newest ${windowTokens} tokens of a conversation in memory (CPU per window)`,
    columns: ["messages", "time"],
    rows: cases.map(({ count, samples }) => [count.toLocaleString("en"), `${median(samples).toFixed(0)} us`]),
    statements: [verdict(ratio <= 1.2, `100,000 messages beside 1,000: ${ratio.toFixed(2)}x (at most 1.2x)`)],
  };
}

/** Creates a log of this many messages, two in each turn; the last question may be a large one. */
function importOf(conversationId, count, largeBytes) {
  const large = largeBytes === undefined ? undefined : text(0).repeat(Math.ceil(largeBytes / text(0).length));
  const at = 1_700_000_000_000;
  const entries = Array.from({ length: count }, (_, n) => ({
    message: message(conversationId, n, n === count - 2 ? large : undefined),
    firstSeq: n + 1,
    turnId: `${conversationId}-t${n >> 1}`,
  }));
  const records = Array.from({ length: count >> 1 }, (_, n) => ({
    turnId: `${conversationId}-t${n}`,
    firstSeq: 2 * n + 1,
    lastSeq: 2 * n + 2,
    reason: "stop",
    startedAt: at,
    sealedAt: at,
    metrics: { turnId: `${conversationId}-t${n}`, steps: [], createdAt: at },
    providerCalls: [],
  }));
  const settings = { title: conversationId };
  return {
    conversationId,
    settings,
    closed: false,
    createdAt: at,
    lastActivityAt: at,
    entries,
    turns: records,
  };
}

/**
 * Runs turns with several steps each on a conversation that this node has not seen yet. A step is measured
 * from the message, or from the last tool's result, to the call of the provider: one or two commits are
 * included.
 */
async function measureSteps(lib, opened, { id, count }) {
  const times = [];
  let since = 0;
  const provider = createProvider(lib, async ({ write }, { messages }) => {
    times.push(performance.now() - since);
    if (messages.length < count + 1) throw new Error(`${messages.length} messages were sent`);
    const toolCallId = `call-${times.length}`;
    const call = { type: "tool-call", name: "look", toolCallId, arguments: {}, argumentsText: "{}" };
    finish(write, "looking", times.length % steps === 0 ? [] : [call]);
  });
  const tool = {
    name: "look",
    description: "Looks.",
    execute: async () => {
      since = performance.now();
      return "nothing new";
    },
  };
  const { node, owner } = await openNode(lib, provider, { ...opened, tools: [tool] });
  const blocks = [];
  try {
    for (let turn = 0; turn < turns; turn++) {
      const sealed = follow(owner, id, isEvent("turn-sealed"));
      await delay(50);
      const blocked = monitorEventLoopDelay({ resolution: 1 });
      blocked.enable();
      since = performance.now();
      await owner.send({ conversationId: id, message: `question ${turn}` });
      const frame = await sealed;
      blocked.disable();
      blocks.push(blocked.max / 1e6);
      if (frame.event.reason !== "stop") throw new Error(`the turn ended with ${frame.event.reason}`);
    }
  } finally {
    await node.close();
    await opened.store.close();
  }
  const isFirst = (index) => index % steps === 0;
  return {
    first: times[0],
    steps: median(times.filter((_, index) => !isFirst(index))),
    turns: median(times.filter((_, index) => index > 0 && isFirst(index))),
    firstBlock: blocks[0],
    laterBlock: Math.max(...blocks.slice(1)),
  };
}

const growth = [
  { name: "2 messages", count: 2 },
  { name: "1,000 messages", count: 1_000 },
  { name: "5,000 messages", count: 5_000 },
  { name: "15,000 messages", count: 15_000 },
  { name: "10 messages, one of 1 MB", count: 10, largeBytes: 1 << 20 },
];

async function wholeWindows(lib, quick, log) {
  const server = await startPostgres();
  if (server === undefined) return { title: "SKIPPED: no PostgreSQL is installed", columns: [], rows: [] };
  const { openPostgres } = await import("@parley/store/postgres");
  const rounds = quick ? 1 : 3;
  const measured = growth.map((each) => ({ ...each, samples: [] }));
  try {
    const url = await createDatabase(server, "windows");
    const filling = openPostgres({ url, listenUrl: false });
    await filling.store.migrate();
    for (let round = -1; round < rounds; round++) {
      for (const each of measured) {
        // The first round warms up: code that has not run often enough to be compiled is not representative
        // of a working node.
        if (round < 0 && each.count === 15_000) continue;
        const id = `log-${each.count}-${each.largeBytes ?? 0}-${round + 1}`;
        log(`  ${each.name}, round ${round + 1} of ${rounds}`);
        await filling.store.forOwner("bench").importConversation(importOf(id, each.count, each.largeBytes));
        const { store, wake } = openPostgres({ url });
        const sample = await measureSteps(lib, { store, wake }, { ...each, id });
        if (round >= 0) each.samples.push(sample);
      }
    }
    await filling.store.close();
  } finally {
    await server.stop();
  }
  const figure = (each, name) => median(each.samples.map((sample) => sample[name]));
  const [shortest] = measured;
  const longest = measured.find(({ count }) => count === 15_000);
  const large = measured.at(-1);
  const added = (each, name) => Math.max(0, figure(each, name) - figure(shortest, name));
  const claim = (what, value, limit) =>
    verdict(value <= limit, `${what}: ${ms(value)} (at most ${limit} ms)`);
  return {
    title: `all of a conversation on PostgreSQL, in turns of ${steps} steps: from the message, or a tool's result, to the call of the provider`,
    columns: [
      "window",
      "first step",
      "later steps",
      "first of a later turn",
      "longest block, first turn",
      "later",
    ],
    rows: measured.map((each) => [
      each.name,
      ...["first", "steps", "turns", "firstBlock", "laterBlock"].map((name) => ms(figure(each, name))),
    ]),
    statements: [
      claim("a later step, 15,000 messages more than 2", added(longest, "steps"), mostPerStep),
      claim(
        "the first step of a later turn, 15,000 messages more than 2",
        added(longest, "turns"),
        mostPerStep,
      ),
      claim("longest block while 15,000 messages are read", figure(longest, "firstBlock"), longestBlock),
      claim("longest block in later turns with 15,000 messages", figure(longest, "laterBlock"), longestBlock),
      claim("a later step, a message of 1 MB more than none", added(large, "steps"), mostPerStep),
      "A step includes its commits, which are the same for every window. The longest block is that of the whole process, the",
      "collector of memory included, sampled every millisecond.",
    ],
  };
}

const bodyMessages = 15_000;
const bodyRounds = 9;
/**
 * Target in milliseconds: the time of a later step, compared with new messages alone and copying a text of
 * this length.
 */
const mostPerBody = 5;

/** Creates a client that stops the time when a request is complete, and sends nothing. */
function bodyClient(jsonText, onBody) {
  return {
    requestRaw: async ({ body }) => {
      const text = body[jsonText]?.() ?? JSON.stringify(body);
      // As a transport does: the text is serialized for the socket.
      onBody(Buffer.byteLength(text));
      throw new TypeError("not sent");
    },
  };
}

/** Measures joining a text of this many bytes from two halves and counting its bytes. */
function copyTime(bytes) {
  const half = "x".repeat(bytes / 2);
  Buffer.byteLength(half);
  const start = performance.now();
  Buffer.byteLength(`[${half}${half}]`);
  return performance.now() - start;
}

/**
 * Measures from a call of an adapter to the text of its request, in a conversation of which it has sent all
 * but the last step.
 */
async function requestBodies() {
  const [{ jsonText }, openai, anthropic] = await Promise.all([
    import("@parley/http"),
    import("@parley/providers/openai"),
    import("@parley/providers/anthropic"),
  ]);
  let end = 0;
  let size = 0;
  const http = bodyClient(jsonText, (bytes) => {
    end = performance.now();
    size = bytes;
  });
  const model = "bench";
  const adapters = {
    "OpenAI Responses": new openai.OpenAIProviderAdapter({
      client: openai.createOpenAIHttpClient({ apiKey: "", httpClient: http }),
      defaultModel: model,
    }),
    "OpenAI chat": new openai.OpenAIChatProviderAdapter({ httpClient: http, defaultModel: model }),
    Anthropic: new anthropic.AnthropicProviderAdapter({ apiKey: "", httpClient: http, defaultModel: model }),
  };
  const frozen = (role, part) => {
    const content = Object.freeze([Object.freeze(part)]);
    return Object.freeze({
      role,
      content,
      ...(role === "assistant" ? { origin: { provider: "x", model } } : {}),
    });
  };
  const plain = (n) => frozen(n % 2 === 0 ? "user" : "assistant", { type: "text", text: text(n) });
  const step = (n) => {
    const call = { name: "look", toolCallId: `call_${n}` };
    return [
      frozen("assistant", { type: "tool-call", ...call, arguments: {}, argumentsText: "{}" }),
      frozen("tool", { type: "tool-result", ...call, result: text(n), resultText: text(n), isError: false }),
    ];
  };
  const rows = [];
  let worst = 0;
  for (const [name, adapter] of Object.entries(adapters)) {
    const samples = { whole: [], later: [], alone: [], copy: [] };
    const call = async (messages) => {
      const start = performance.now();
      const stream = await adapter.completeStream({ messages, metadata: { provider: "", model } });
      await stream.final.catch(() => undefined);
      return end - start;
    };
    const instructions = { role: "system", content: [{ type: "text", text: "Be brief." }] };
    for (let round = -3; round < bodyRounds; round++) {
      const messages = Array.from({ length: bodyMessages }, (_, n) => plain(n));
      const whole = await call([instructions, ...messages]);
      const added = step(round);
      const later = await call([{ ...instructions }, ...messages, ...added]);
      const start = performance.now();
      JSON.stringify(added);
      const alone = performance.now() - start;
      const copy = copyTime(size);
      if (round < 0) continue;
      for (const [key, value] of Object.entries({ whole, later, alone, copy })) samples[key].push(value);
    }
    const [whole, later, alone, copy] = Object.values(samples).map(median);
    worst = Math.max(worst, later - alone - copy);
    rows.push([name, ...[whole, later, alone, copy].map(ms)]);
  }
  return {
    title: `the body of a request with ${bodyMessages.toLocaleString("en")} messages, from the call of the adapter to its text`,
    columns: [
      "adapter",
      "first step",
      "later step",
      "JSON.stringify of the new messages alone",
      "copying the text",
    ],
    rows,
    statements: [
      verdict(
        worst <= mostPerBody,
        `request body of a later step at ${bodyMessages.toLocaleString("en")} messages beside JSON.stringify of the new messages alone and copying: ${ms(worst)} more (at most ${mostPerBody} ms)`,
      ),
    ],
  };
}

export const scenario = {
  name: "window-build",
  title: "building what the model is shown, from conversations of growing length",
  async run({ quick, log }) {
    const lib = await load();
    log("  the newest 8,000 tokens");
    const bounded = await boundedWindows(lib, quick);
    log("  request bodies");
    return [bounded, await requestBodies(), await wholeWindows(lib, quick, log)];
  },
};
