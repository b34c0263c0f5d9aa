import type { SubscriptionFrame } from "@parley/fold";
import {
  createFaultyStore,
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  settle,
  text,
} from "@parley/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createModelCatalog, createRuntime } from "../index.js";

/** Creates a conversation of 2,001 chunks, and records the calls to its store. */
async function longLog() {
  const clock = createManualClock();
  const { store, faults } = createFaultyStore(createMemoryLogStore({ clock }));
  const provider = createScriptedProvider([[text("Noted.")]]);
  const model = { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 1e9 };
  const runtime = await createRuntime({ store, clock, models: createModelCatalog([model]) });
  onTestFinished(() => runtime.close());
  const me = runtime.forOwner("o");
  const message = Array.from({ length: 2_000 }, (_, n) => ({ type: "text" as const, text: `${n}` }));
  await me.send({ conversationId: "c", message });
  await me.last("c");
  const reads = () => faults.calls.filter(({ method }) => method === "readChunks").length;
  return { me, faults, reads, readsBefore: reads() };
}

const seqsOf = (frames: readonly SubscriptionFrame[]) =>
  frames.flatMap((frame) => (frame.type === "chat.chunks" ? frame.chunks.map(({ seq }) => seq) : []));

describe("a long log", () => {
  it("is sent page by page, each before the next one is read", async () => {
    const { me, faults, reads, readsBefore } = await longLog();
    const frames: SubscriptionFrame[] = [];
    const first = faults.hold("readChunks");
    const leave = me.attach("c", "0", { onFrame: (frame) => frames.push(frame), onEnd: () => undefined });
    onTestFinished(leave);
    await first.reached;
    expect(frames).toEqual([]);
    const second = faults.hold("readChunks");
    first.open();
    await second.reached;
    expect(frames.map(({ type }) => type)).toEqual(["chat.snapshot", "chat.chunks"]);
    expect(seqsOf(frames)).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
    second.open();
    await settle();
    expect(seqsOf(frames)).toEqual(Array.from({ length: 2_001 }, (_, n) => n + 1));
    expect(reads() - readsBefore).toBe(5);
  });

  it("is not read any further without a subscriber", async () => {
    const { me, reads, readsBefore } = await longLog();
    const frames: SubscriptionFrame[] = [];
    const leave = me.attach("c", "0", {
      onFrame: (frame) => {
        frames.push(frame);
        if (frame.type === "chat.chunks") leave();
      },
      onEnd: () => undefined,
    });
    await settle();
    expect(seqsOf(frames)).toHaveLength(500);
    expect(reads() - readsBefore).toBe(1);
  });

  it("that cannot be read to its end leaves its reader a cursor to continue from", async () => {
    const { me, faults } = await longLog();
    const frames: SubscriptionFrame[] = [];
    let ended: string | undefined;
    me.attach("c", "0", {
      onFrame: (frame) => {
        frames.push(frame);
        if (frame.type === "chat.chunks") faults.fail("readChunks");
      },
      onEnd: (error) => {
        ended = error?.code;
      },
    });
    await settle();
    expect(ended).toBe("store_unavailable");
    const cursor = frames.at(-1)?.type === "chat.chunks" ? frames.at(-1)?.cursor : undefined;
    expect(seqsOf(frames).length).toBeLessThan(2_001);
    const rest: SubscriptionFrame[] = [];
    onTestFinished(me.attach("c", cursor, { onFrame: (frame) => rest.push(frame), onEnd: () => undefined }));
    await settle();
    expect([...seqsOf(frames), ...seqsOf(rest)]).toEqual(Array.from({ length: 2_001 }, (_, n) => n + 1));
  });
});
