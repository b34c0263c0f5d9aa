import type { SubscriptionFrame } from "@parley/fold";
import {
  createFaultyStore,
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createScriptedProvider,
  gate,
  pause,
  settle,
  text,
  toolCall,
} from "@parley/testing";
import type { AgentEvent } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { AdmitInput } from "../../ports/log-store.js";
import { createModelCatalog, createRuntime } from "../index.js";

/**
 * Creates a node whose process can be suspended: time continues, and its timers have not fired yet when it wakes up.
 */
async function suspendable(script: Parameters<typeof createScriptedProvider>[0], onTool: () => unknown) {
  const clock = createManualClock();
  const database = createMemoryDatabase(clock);
  const { store, faults } = createFaultyStore(createMemoryLogStore({ clock, database }));
  const runtime = await createRuntime({
    store,
    clock,
    models: createModelCatalog([
      {
        name: "test/one",
        provider: createScriptedProvider(script),
        providerName: "test",
        model: "one",
        contextWindow: 10_000,
      },
    ]),
    tools: [{ name: "act", execute: onTool }],
    limits: { toolConcurrency: 1 },
  });
  return { clock, database, runtime, me: runtime.forOwner("o"), faults };
}

describe("a process that was suspended for longer than its lease", () => {
  it("starts no tool when it wakes up, although its commit has just been answered", async () => {
    let started = 0;
    const { clock, runtime, me, faults } = await suspendable([[toolCall("act")], [text("Never.")]], () => {
      started += 1;
    });
    const commit = faults.hold("commitStep");
    await me.send({ conversationId: "c", message: "Hi" });
    await commit.reached;
    clock.jump(11_000);
    commit.open();
    await settle();
    expect(started).toBe(0);
    await clock.advance(20_000);
    expect(started).toBe(0);
    const closed = runtime.close();
    await clock.advance(1_000);
    await closed;
  });

  it("starts no further tool of the step that it was in", async () => {
    const at = gate();
    let started = 0;
    const { clock, runtime, me } = await suspendable([[toolCall("act"), toolCall("act")]], async () => {
      started += 1;
      await at.wait();
    });
    await me.send({ conversationId: "c", message: "Hi" });
    await at.reached;
    clock.jump(11_000);
    at.open();
    await settle();
    expect(started).toBe(1);
    await clock.advance(20_000);
    const closed = runtime.close();
    await clock.advance(1_000);
    await closed;
  });

  it("sends its subscribers only what the store has of the turn", async () => {
    const at = gate();
    const { clock, runtime, me } = await suspendable([[text("One "), pause(at), text("two.")]], () => "");
    await me.create({ id: "c" });
    const frames: SubscriptionFrame[] = [];
    me.attach("c", "0", { onFrame: (frame) => frames.push(frame), onEnd() {} });
    await me.send({ conversationId: "c", message: "Hi" });
    await at.reached;
    clock.jump(11_000);
    const before = frames.length;
    at.open();
    await settle();
    // They discard what may not last; the rest they receive from the node that continues.
    expect(frames.slice(before).map(({ type }) => type)).toEqual(["chat.reset"]);
    const closed = runtime.close();
    await clock.advance(30_000);
    await closed;
  });
});

describe("a reader of a turn's events whose node lost the turn", () => {
  it("gets each event once and no text twice, up to the turn's end", async () => {
    const at = gate();
    const { clock, runtime, me } = await suspendable([[text("One "), pause(at), text("two.")]], () => "");
    await me.create({ id: "c" });
    const { turnId = "" } = await me.send({ conversationId: "c", message: "Hi" });
    const events: AgentEvent[] = [];
    const read = (async () => {
      for await (const { event } of me.events("c", turnId)) events.push(event);
    })();
    await at.reached;
    // The text is durable before the process is suspended: it is read from the journal again afterwards.
    await clock.advance(1_000);
    clock.jump(11_000);
    at.open();
    await clock.advance(30_000);
    await read;
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "user-message" || type === "turn-start")).toEqual([
      "user-message",
      "turn-start",
    ]);
    const { chunks } = await me.history({ conversationId: "c" });
    const kept = chunks.flatMap(({ role, chunk }) =>
      role === "assistant" && chunk.type === "text" ? [chunk.text] : [],
    );
    expect(kept.join("")).toMatch(/^One /);
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.delta] : []));
    expect(shown.join("")).toBe(kept.join(""));
    expect(types.slice(-2)).toEqual(["done", "turn-sealed"]);
    const closed = runtime.close();
    await clock.advance(30_000);
    await closed;
  });
});

describe("a send that reaches the store long after its caller gave up", () => {
  it("is found by the node that it names, and its turn does not stay open", async () => {
    const { clock, database, runtime, me, faults } = await suspendable(
      [[text("Late, but answered.")]],
      () => "",
    );
    faults.fail("admit");
    await expect(me.send({ conversationId: "c", message: "Hi" })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    // A request that was held in a hanging proxy arrives three leases later.
    await clock.advance(35_000);
    const [input] = faults.calls.find(({ method }) => method === "admit")?.args ?? [];
    const store = createMemoryLogStore({ clock, database }).forOwner("o");
    const outcome = await store.admit(input as AdmitInput);
    expect(outcome.kind).toBe("started");
    await clock.advance(45_000);
    expect((await store.get("c"))?.active).toBeUndefined();
    expect((await me.history({ conversationId: "c" })).chunks.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
    ]);
    const closed = runtime.close();
    await clock.advance(1_000);
    await closed;
  });
});
