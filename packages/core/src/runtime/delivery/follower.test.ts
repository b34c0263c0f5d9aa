import { emptyFold, foldFrame, messagesOf, type SubscriptionFrame, turnsOf } from "@parley/fold";
import { describe, expect, it } from "vitest";
import { Cluster, type ClusterNode } from "../cluster.test-support.js";

const conversationId = "c";

function follow(node: ClusterNode, cursor: string | undefined) {
  const frames: SubscriptionFrame[] = [];
  const leave = node.me.attach(conversationId, cursor, {
    onFrame: (frame) => frames.push(frame),
    onEnd: (error) => expect(error).toBeUndefined(),
  });
  return { frames, leave };
}

const typesOf = (frames: readonly SubscriptionFrame[]) =>
  new Set(frames.map((frame) => (frame.type === "chat.delta" ? frame.event.type : frame.type)));

describe("following a turn of another node whose commits come before its journal is read", () => {
  it("sends rows and figures to a subscriber with a cursor, and all events to one without", async () => {
    const cluster = new Cluster([
      { pieces: ["reasoning", "text"], tools: ["again"] },
      { pieces: ["text"], tools: [] },
    ]);
    const here = await cluster.node();
    const there = await cluster.node({ withoutWake: true });
    await here.me.create({ id: conversationId });
    const near = follow(here, "0");
    const far = follow(there, "0");
    const events = follow(there, undefined);
    await cluster.clock.advance(0);
    const sent = here.me.send({ conversationId, message: "Hello" });
    await cluster.clock.advance(0);
    await sent;
    await cluster.finish();

    expect(typesOf(far.frames)).toEqual(
      new Set([
        ...["chat.snapshot", "chat.chunks", "status", "turn-start", "usage", "step-complete", "done"],
        "turn-sealed",
      ]),
    );
    expect(typesOf(events.frames)).toEqual(
      new Set([
        ...["chat.chunks", "status", "user-message", "turn-start", "reasoning-delta", "text-delta"],
        ...["tool-call", "tool-result", "usage", "step-complete", "done", "turn-sealed"],
      ]),
    );
    const [nearFold, farFold] = [near, far].map(({ frames }) =>
      frames.reduce(foldFrame, emptyFold(conversationId)),
    ) as [ReturnType<typeof emptyFold>, ReturnType<typeof emptyFold>];
    expect(messagesOf(farFold.log)).toEqual(messagesOf(nearFold.log));
    expect(turnsOf(farFold.turns)).toEqual(turnsOf(nearFold.turns));
    for (const { leave } of [near, far, events]) leave();
    await cluster.close();
  });
});

describe("what this node has at hand", () => {
  it("publishes the row of a compaction as it was written, without reading it back", async () => {
    const cluster = new Cluster([{ pieces: ["text"], tools: [] }]);
    const here = await cluster.node({ withoutWake: true });
    for (const message of ["one", "two", "three"]) {
      const sent = here.me.send({ conversationId, message });
      await cluster.clock.advance(0);
      await sent;
      await cluster.finish();
    }
    const { frames, leave } = follow(here, "0");
    await cluster.clock.advance(0);
    const compacted = here.me.compact(conversationId, { keepLastN: 1 });
    await cluster.clock.advance(0);
    const { length } = here.faults.calls;
    const { length: before } = frames;
    while (cluster.stepper.count > 0) cluster.stepper.step();
    await cluster.clock.advance(0);
    await compacted;

    const { chunks } = await here.me.history({ conversationId });
    expect(frames.slice(before)).toMatchObject([{ type: "chat.chunks", chunks: [chunks.at(-1)] }]);
    const made = here.faults.calls.slice(length).map(({ method }) => method);
    expect(made.filter((method) => method === "compact")).toHaveLength(1);
    // The one read is made by this test.
    expect(made.filter((method) => method.startsWith("read"))).toEqual(["readChunks"]);
    // A later poll finds nothing that was not published.
    await cluster.clock.advance(3_000);
    expect(frames).toHaveLength(before + 1);
    leave();
    await cluster.close();
  });

  it("reads a turn that it takes over once, for its subscribers and to continue it", async () => {
    const cluster = new Cluster([
      { pieces: ["text"], tools: ["again"] },
      { pieces: ["text"], tools: [] },
    ]);
    const here = await cluster.node();
    const there = await cluster.node({ withoutWake: true });
    const sent = here.me.send({ conversationId, message: "Hello" });
    await cluster.clock.advance(0);
    await sent;
    cluster.stepper.step();
    await cluster.clock.advance(100);
    here.faults.cutOff();
    const { frames, leave } = follow(there, "0");
    await cluster.clock.advance(0);
    const { length } = there.faults.calls;
    await cluster.clock.advance(12_500);
    const made = there.faults.calls.slice(length).map(({ method }) => method);
    const from = made.indexOf("takeOver");
    expect(from).toBeGreaterThan(-1);
    const readsAfter = made.slice(from).filter((method) => method === "readOpenTurn");
    expect(readsAfter).toHaveLength(1);
    here.faults.heal();
    await cluster.finish();
    expect(frames.flatMap((frame) => (frame.type === "chat.delta" ? [frame.event.type] : []))).toContain(
      "turn-sealed",
    );
    leave();
    await cluster.close();
  });
});
