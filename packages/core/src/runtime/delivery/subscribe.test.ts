import type { SubscriptionFrame } from "@parley/fold";
import { FrameFold } from "@parley/testing";
import type { AgentEvent } from "@parley/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cluster, type ClusterNode } from "../cluster.test-support.js";

const conversationId = "c";
let cluster: Cluster;
let here: ClusterNode;
let there: ClusterNode;

/** One turn: two steps with a tool are committed, a third one is in progress. */
beforeEach(async () => {
  const busy = { pieces: ["reasoning", "text"], tools: ["again"] } as const;
  cluster = new Cluster([busy, busy, { pieces: ["text", "text"], tools: [] }]);
  here = await cluster.node();
  there = await cluster.node();
  const sent = here.me.send({ conversationId, message: "Hello" });
  await cluster.clock.advance(0);
  await sent;
  for (let pieces = 0; pieces < 6; pieces += 1) {
    cluster.stepper.step();
    await cluster.clock.advance(100);
  }
});

afterEach(async () => {
  await cluster.finish();
  await cluster.close();
});

/** Returns the frames for a client with this cursor, up to the frame after which the connection breaks. */
async function framesFrom(
  node: ClusterNode,
  cursor: string | undefined,
  frames = Number.POSITIVE_INFINITY,
): Promise<SubscriptionFrame[]> {
  const received: SubscriptionFrame[] = [];
  const leave = node.me.attach(conversationId, cursor, {
    onFrame: (frame) => received.push(frame),
    onEnd: (error) => expect(error).toBeUndefined(),
  });
  await cluster.clock.advance(0);
  leave();
  return received.slice(0, frames);
}

const eventsOf = (frames: readonly SubscriptionFrame[]) =>
  frames.flatMap((frame) => (frame.type === "chat.delta" ? [frame.event] : []));

/** Returns the figures in some events, with their step. */
const figuresOf = (events: readonly AgentEvent[]) =>
  new Set(
    events.flatMap((event) =>
      event.type === "usage" || event.type === "step-complete" ? [`${event.type} ${event.stepId}`] : [],
    ),
  );

const messagesOf = (frames: readonly SubscriptionFrame[]) => {
  const fold = new FrameFold();
  for (const frame of frames) fold.apply(frame);
  return fold.state.messages;
};

/** Returns the text of the frames, from an event or from a chunk, which carries more fields. */
const wordsOf = (frames: readonly SubscriptionFrame[]) =>
  messagesOf(frames).map(({ messageId, parts }) => [
    messageId,
    ...parts.map((part) =>
      "text" in part ? part.text : "toolCallId" in part ? [part.type, part.toolCallId] : part.type,
    ),
  ]);

describe.each(["the node of the turn", "another node"])("joining an open turn on %s", (which) => {
  const node = () => (which === "another node" ? there : here);

  it("sends the figures of every step, wherever the connection broke before", async () => {
    const whole = await framesFrom(node(), "0");
    const figures = figuresOf(eventsOf(whole));
    expect(figures.size).toBe(4);
    for (let cut = 1; cut < whole.length; cut += 1) {
      const before = await framesFrom(node(), "0", cut);
      const after = await framesFrom(node(), before.at(-1)?.cursor);
      expect(figuresOf(eventsOf([...before, ...after])), `cut behind ${cut} frames`).toEqual(figures);
      expect(messagesOf([...before, ...after]), `cut behind ${cut} frames`).toEqual(messagesOf(whole));
    }
  });

  it("names the model that answers, though none was chosen", async () => {
    const [snapshot] = await framesFrom(node(), "0");
    expect(snapshot).toMatchObject({ type: "chat.snapshot", activeTurn: { model: "test/one" } });
    await cluster.finish();
    const sent = here.me.send({ conversationId, message: "Again" });
    await cluster.clock.advance(100);
    await sent;
    const [next] = await framesFrom(node(), "0");
    expect(next, "in its first step").toMatchObject({ activeTurn: { model: "test/one" } });
    const meta = here.me.meta(conversationId);
    await cluster.clock.advance(0);
    expect((await meta).activeTurn).toMatchObject({ model: "test/one" });
  });

  it("without a cursor, gives cursors that leave nothing out", async () => {
    const whole = await framesFrom(node(), undefined);
    const reference = wordsOf(await framesFrom(node(), "0"));
    expect(whole.length).toBeGreaterThan(6);
    for (let cut = 1; cut <= whole.length; cut += 1) {
      const before = await framesFrom(node(), undefined, cut);
      const after = await framesFrom(node(), before.at(-1)?.cursor);
      expect(wordsOf([...before, ...after]), `cut behind ${cut} events`).toEqual(reference);
    }
  });
});
