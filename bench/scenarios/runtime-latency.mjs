// What people feel of the runtime on the memory store: joining late, many watchers, the first token, stopping.
import { setTimeout as delay } from "node:timers/promises";

const PIECE = "some text ";

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ms = (value) => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

async function load() {
  const [core, messages, runtime, testing] = await Promise.all([
    import("@parley/core"),
    import("@parley/core/messages"),
    import("@parley/core/runtime"),
    import("@parley/core/testing"),
  ]);
  return { core, messages, runtime, testing };
}

/** A provider whose stream is written by `produce`. */
function createProvider({ messages }, produce) {
  return {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async (params) =>
      messages.createProviderStream((writer) => produce(writer, params), { signal: params.signal }),
  };
}

function finish(write, text, calls = []) {
  const content = [{ type: "text", text }, ...calls];
  write({
    type: "done",
    result: {
      id: "r1",
      createdAt: new Date(),
      message: { role: "assistant", content },
      usage: { inputTokens: 1, outputTokens: 1 },
      finishReason: calls.length > 0 ? "tool-calls" : "stop",
    },
  });
}

async function openNode(lib, provider, options = {}) {
  const node = await lib.runtime.createRuntime({
    store: lib.testing.createMemoryLogStore({ clock: lib.core.systemClock }),
    wake: lib.testing.createMemoryWake(),
    models: lib.runtime.createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 100_000_000 },
    ]),
    limits: { subscriberFrames: 1_000_000 },
    ...options,
  });
  return { node, owner: node.forOwner("bench") };
}

/** Resolves with the frame that `wanted` accepts; `onFrame` sees all of them. */
function follow(owner, conversationId, wanted, onFrame = () => {}) {
  return new Promise((resolve, reject) => {
    const leave = owner.attach(conversationId, undefined, {
      onFrame(frame) {
        onFrame(frame);
        if (!wanted(frame)) return;
        queueMicrotask(() => leave());
        resolve(frame);
      },
      onEnd: reject,
    });
  });
}

const isEvent = (type) => (frame) => frame.type === "chat.delta" && frame.event.type === type;

async function lateJoin(lib, deltas) {
  let release = () => {};
  const held = new Promise((resolve) => {
    release = resolve;
  });
  let written = () => {};
  const all = new Promise((resolve) => {
    written = resolve;
  });
  const provider = createProvider(lib, async ({ write }) => {
    let text = "";
    for (let n = 0; n < deltas; n += 1) {
      text += PIECE;
      await write(new lib.messages.TextDelta(PIECE, text, 0));
    }
    written();
    await held;
    finish(write, text);
  });
  const { node, owner } = await openNode(lib, provider);
  const { conversationId } = await owner.send({ message: "go" });
  await all;
  await follow(owner, conversationId, isEvent("turn-start"));
  const times = [];
  let events = 0;
  for (let n = 0; n < 50; n += 1) {
    const startedAt = performance.now();
    events = 0;
    let characters = 0;
    await follow(owner, conversationId, isEvent("text-delta"), (frame) => {
      if (frame.type === "chat.delta") events += 1;
      if (frame.event?.type === "text-delta") characters += frame.event.delta.length;
    });
    times.push(performance.now() - startedAt);
    if (characters !== deltas * PIECE.length)
      throw new Error(`${characters} characters were told to a late reader`);
  }
  release();
  await node.close();
  return { time: median(times), events };
}

async function manyWatchers(lib, watchers, deltas) {
  const provider = createProvider(lib, async ({ write }) => {
    let text = "";
    for (let n = 0; n < deltas; n += 1) {
      text += PIECE;
      await write(new lib.messages.TextDelta(PIECE, text, 0));
    }
    finish(write, text);
  });
  const { node, owner } = await openNode(lib, provider);
  await owner.create({ id: "many" });
  let heard = 0;
  const sealed = Array.from({ length: watchers }, () =>
    follow(owner, "many", isEvent("turn-sealed"), (frame) => {
      if (frame.event?.type === "text-delta") heard += 1;
    }),
  );
  await delay(50);
  const before = process.cpuUsage();
  await owner.send({ conversationId: "many", message: "go" });
  await Promise.all(sealed);
  const { user, system } = process.cpuUsage(before);
  if (heard !== watchers * deltas) throw new Error(`${heard} of ${watchers * deltas} deltas were heard`);
  await node.close();
  return (user + system) / heard;
}

/** How much later the first token reaches a watcher than it left the provider, from the send on. */
async function firstToken(lib, rounds) {
  let openedAt = 0;
  const provider = createProvider(lib, async ({ write }) => {
    openedAt = performance.now();
    await write(new lib.messages.TextDelta(PIECE, PIECE, 0));
    finish(write, PIECE);
  });
  const { node, owner } = await openNode(lib, provider);
  const added = [];
  for (let n = 0; n < rounds; n += 1) {
    const conversationId = `first-${n}`;
    await owner.create({ id: conversationId });
    let seenAt = 0;
    const sealed = follow(owner, conversationId, isEvent("turn-sealed"), (frame) => {
      if (frame.event?.type === "text-delta") seenAt ||= performance.now();
    });
    const sentAt = performance.now();
    await owner.send({ conversationId, message: "go" });
    await sealed;
    added.push({ toProvider: openedAt - sentAt, toWatcher: seenAt - openedAt });
  }
  await node.close();
  return {
    before: median(added.map(({ toProvider }) => toProvider)),
    after: median(added.map(({ toWatcher }) => toWatcher)),
  };
}

async function stopping(lib, rounds) {
  const call = { type: "tool-call", name: "wait", toolCallId: "w1", arguments: {}, argumentsText: "{}" };
  const provider = createProvider(lib, async ({ write }) => finish(write, "waiting", [call]));
  const tool = {
    name: "wait",
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
  };
  const { node, owner } = await openNode(lib, provider, { tools: [tool] });
  const times = [];
  for (let n = 0; n < rounds; n += 1) {
    const conversationId = `stop-${n}`;
    await owner.create({ id: conversationId });
    const running = follow(owner, conversationId, isEvent("step-complete"));
    const sealed = follow(owner, conversationId, isEvent("turn-sealed"));
    await owner.send({ conversationId, message: "go" });
    await running;
    await delay(5);
    const stoppedAt = performance.now();
    await owner.stop(conversationId);
    const frame = await sealed;
    if (frame.event.reason !== "aborted") throw new Error(`the turn ended with ${frame.event.reason}`);
    times.push(performance.now() - stoppedAt);
  }
  await node.close();
  return median(times);
}

const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;

export const scenario = {
  name: "runtime-latency",
  title: "joining late, many watchers, the first token and stopping, on the memory store",
  async run({ quick, log }) {
    const lib = await load();
    const deltas = 5_000;
    log(`joining a turn of ${deltas} deltas`);
    const join = await lateJoin(lib, deltas);
    const few = await lateJoin(lib, 50);
    log("1,000 watchers of one turn");
    const watched = await manyWatchers(lib, 1_000, quick ? 100 : 500);
    const alone = await manyWatchers(lib, 1, quick ? 5_000 : 50_000);
    log("the first token");
    const first = await firstToken(lib, quick ? 50 : 300);
    log("stopping a tool that obeys");
    const stopped = await stopping(lib, quick ? 20 : 100);
    return [
      {
        title: "what people feel of the runtime",
        columns: ["what", "figure", "beside"],
        rows: [
          [
            "join a running turn of 5,000 deltas",
            `${ms(join.time)}, ${join.events} events`,
            `${ms(few.time)} at 50 deltas`,
          ],
          [
            "a delta to one of 1,000 watchers",
            `${watched.toFixed(2)} us CPU`,
            `${alone.toFixed(2)} us with one watcher, provider included`,
          ],
          ["the runtime before the provider is asked", ms(first.before), "admission, context, journal"],
          ["the first token from provider to watcher", ms(first.after), ""],
          ["stop to sealed, with a tool that obeys", ms(stopped), ""],
        ],
        statements: [
          state(
            join.events <= 4,
            `late join tells one event per part: ${join.events} events, prompt and start included`,
          ),
          state(
            first.before + first.after <= 10,
            `added time to first token ${ms(first.before + first.after)}, target at most 10 ms`,
          ),
          state(stopped <= 250, `stop to sealed ${ms(stopped)}, target at most 250 ms`),
        ],
      },
    ];
  },
};
