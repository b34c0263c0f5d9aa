// Joining an answer that has been running for a while: on its own node, and on another one that reads the
// journal.
import { startPostgres } from "../postgres-server.mjs";
import { createProvider, finish, follow, isEvent, load, ms, openNode, PIECE } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase } from "../turn-stores/postgres-size.mjs";

/** Starts a turn that has published this many deltas and waits until it is released. */
async function openTurn(lib, deltas, options = {}) {
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
  const { node, owner } = await openNode(lib, provider, options);
  const { conversationId } = await owner.send({ message: "go" });
  await all;
  await follow(owner, conversationId, isEvent("turn-start"));
  return { node, owner, conversationId, release };
}

/**
 * Measures the time until a joining subscriber has everything that was published, and the number of events.
 */
async function join(owner, conversationId, { deltas, rounds }) {
  const times = [];
  let events = 0;
  for (let round = 0; round < rounds; round += 1) {
    events = 0;
    let characters = 0;
    let bytes = 0;
    const startedAt = performance.now();
    const hasAll = () => characters >= deltas * PIECE.length;
    await follow(owner, conversationId, hasAll, (frame) => {
      bytes += Buffer.byteLength(JSON.stringify(frame));
      if (frame.type !== "chat.delta") return;
      events += 1;
      if (frame.event.type === "text-delta") characters += frame.event.delta.length;
    });
    times.push(performance.now() - startedAt);
    if (characters !== deltas * PIECE.length || bytes === 0)
      throw new Error(`${characters} characters were sent to a late reader`);
  }
  return { time: median(times), events };
}

async function onOwnNode(lib, deltas) {
  const { node, owner, conversationId, release } = await openTurn(lib, deltas);
  const figures = await join(owner, conversationId, { deltas, rounds: 50 });
  release();
  await node.close();
  return figures;
}

/** Runs the turn on one node; subscribers join on another, which knows it from PostgreSQL alone. */
async function onOtherNode(lib, server, deltas) {
  const { openPostgres } = await import("@parley/store/postgres");
  const url = await createDatabase(server, `join_${deltas}`);
  const open = () => openPostgres({ url });
  const first = open();
  await first.store.migrate();
  const second = open();
  const turn = await openTurn(lib, deltas, first);
  const { node, owner } = await openNode(
    lib,
    createProvider(lib, () => {}),
    second,
  );
  // Events that are not journaled yet are unknown on other nodes: the first join waits for them.
  await join(owner, turn.conversationId, { deltas, rounds: 1 });
  const figures = await join(owner, turn.conversationId, { deltas, rounds: 20 });
  turn.release();
  await node.close();
  await turn.node.close();
  for (const { store, wake } of [first, second]) {
    await wake.close();
    await store.close();
  }
  return figures;
}

/** Replays a cached stream to a late subscriber: every event again, one by one. */
function replayByHand(deltas) {
  const events = Array.from({ length: deltas }, (_, n) => ({
    type: "chat.delta",
    event: {
      type: "text-delta",
      conversationId: "c",
      turnId: "t",
      stepId: "t.0",
      partIndex: 0,
      delta: PIECE,
    },
    cursor: `1~t~1~${n}`,
  }));
  const times = Array.from({ length: 50 }, () => {
    const startedAt = performance.now();
    let bytes = 0;
    for (const event of events) bytes += Buffer.byteLength(JSON.stringify(event));
    if (bytes === 0) throw new Error("nothing was encoded");
    return performance.now() - startedAt;
  });
  return { time: median(times), events: deltas };
}

/** Replays the minimum: the text in one event. */
function textByHand(deltas) {
  const delta = PIECE.repeat(deltas);
  const times = Array.from({ length: 50 }, () => {
    const startedAt = performance.now();
    const text = JSON.stringify({ type: "chat.delta", event: { type: "text-delta", delta } });
    if (Buffer.byteLength(text) === 0) throw new Error("nothing was encoded");
    return performance.now() - startedAt;
  });
  return { time: median(times), events: 1 };
}

export const scenario = {
  name: "late-join",
  title: "joining a running answer: from the first word to the newest, on its own node and on another",
  async run({ log }) {
    const lib = await load();
    const lengths = [50, 5_000];
    const server = await startPostgres();
    try {
      const columns = [];
      for (const deltas of lengths) {
        log(`  ${deltas} deltas`);
        columns.push({
          text: textByHand(deltas),
          replay: replayByHand(deltas),
          own: await onOwnNode(lib, deltas),
          other: server === undefined ? undefined : await onOtherNode(lib, server, deltas),
        });
      }
      const [, long] = columns;
      const cell = (figures) =>
        figures === undefined ? "" : `${ms(figures.time)}, ${figures.events} events`;
      const row = (name, key) => [name, ...columns.map((column) => cell(column[key]))];
      const most = Math.max(long.own.events, long.other?.events ?? 0);
      return [
        {
          title: "time and events until everything is sent, frames encoded as JSON",
          columns: ["", ...lengths.map((deltas) => `${deltas} deltas`)],
          rows: [
            row("the text by hand, in memory", "text"),
            row("every event again by hand, in memory", "replay"),
            row("on the turn's node", "own"),
            row("on another node, from PostgreSQL", "other"),
          ],
          statements: [
            `${most <= 4 ? "PASS" : "MISS"}  one event per part: ${most} events, prompt and start included`,
            `${long.own.time <= long.replay.time ? "PASS" : "MISS"}  on the turn's node ${(long.own.time / long.replay.time).toFixed(2)}x of every event again (at most 1x)`,
            ...(server === undefined ? ["SKIPPED  another node: no PostgreSQL is installed"] : []),
          ],
        },
      ];
    } finally {
      await server?.stop();
    }
  },
};
