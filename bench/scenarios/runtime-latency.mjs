// The runtime's latency for users on the memory store: many watchers, the first token, stopping.
import { setTimeout as delay } from "node:timers/promises";
import { createProvider, finish, follow, isEvent, load, ms, openNode, PIECE } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";

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
  let received = 0;
  const sealed = Array.from({ length: watchers }, () =>
    follow(owner, "many", isEvent("turn-sealed"), (frame) => {
      if (frame.event?.type === "text-delta") received += 1;
    }),
  );
  await delay(50);
  const before = process.cpuUsage();
  await owner.send({ conversationId: "many", message: "go" });
  await Promise.all(sealed);
  const { user, system } = process.cpuUsage(before);
  if (received !== watchers * deltas)
    throw new Error(`${received} of ${watchers * deltas} deltas were received`);
  await node.close();
  return (user + system) / received;
}

/** Measures the delay of the first token between the provider and a watcher, from the send on. */
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
  title: "many watchers, the first token and stopping, on the memory store",
  async run({ quick, log }) {
    const lib = await load();
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
            first.before + first.after <= 10,
            `added time to first token ${ms(first.before + first.after)}, target at most 10 ms`,
          ),
          state(stopped <= 250, `stop to sealed ${ms(stopped)}, target at most 250 ms`),
        ],
      },
    ];
  },
};
