import {
  createFaultyStore,
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  gate,
  pause,
  settle,
  text,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import { createModelCatalog, createRuntime } from "../index.js";
import type { WatchEvent } from "./watchers.js";

async function watched(script: Parameters<typeof createScriptedProvider>[0] = () => [text("Hello.")]) {
  const clock = createManualClock();
  const { store, faults } = createFaultyStore(createMemoryLogStore({ clock }));
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
  });
  const me = runtime.forOwner("o");
  await me.create({ id: "c" });
  const events: WatchEvent[] = [];
  const stop = await me.watch((event) => events.push(event));
  const seen = () => events.map(({ type }) => type.replace("conversation.", ""));
  const reads = (method: string) => faults.calls.filter((call) => call.method === method).length;
  const close = async () => {
    const closed = runtime.close();
    await clock.advance(1_000);
    await closed;
  };
  return { clock, me, runtime, faults, events, seen, reads, stop, close };
}

describe("watchers", () => {
  it("are notified of a turn's states once it is settled, outside its path", async () => {
    const at = gate();
    const { clock, me, seen, close } = await watched([[text("One "), pause(at), text("two.")]]);
    await me.send({ conversationId: "c", message: "Hi" });
    await at.reached;
    expect(seen()).toEqual([]);
    await clock.advance(50);
    expect(seen()).toEqual(["statusChanged", "queue.changed", "updated"]);
    at.open();
    await settle();
    await clock.advance(50);
    expect(seen().slice(3)).toEqual(["statusChanged", "updated"]);
    await close();
  });

  it("are notified once of what changes within a moment", async () => {
    const { clock, me, events, close } = await watched();
    for (const title of ["One", "Two", "Three"]) await me.set("c", { title });
    await clock.advance(50);
    const updates = events.filter(({ type }) => type === "conversation.updated");
    expect(updates).toMatchObject([{ meta: { title: "Three" } }]);
    await close();
  });

  it("learn of a turn of this node without a look at the feed, also when polls look for what others did", async () => {
    const { clock, me, events, reads, close } = await watched();
    const before = reads("changed");
    for (let turn = 0; turn < 3; turn += 1) {
      await me.send({ conversationId: "c", message: "Hi" });
      await settle();
      await clock.advance(5_000);
    }
    expect([reads("changed") - before, reads("news") > 10]).toEqual([0, true]);
    expect(events.at(-1)).toMatchObject({ type: "conversation.updated", meta: { status: "idle" } });
    await close();
  });

  it("learn from the feed what was not read when the store was away", async () => {
    const { clock, me, faults, events, close } = await watched();
    await me.set("c", { title: "Unread" });
    faults.cutOff();
    await clock.advance(100);
    expect(events).toEqual([]);
    faults.heal();
    await clock.advance(2_000);
    expect(events.at(-1)).toMatchObject({ type: "conversation.updated", meta: { title: "Unread" } });
    await close();
  });

  it("are many: other work continues between them, and one that leaves meanwhile receives nothing more", async () => {
    const { clock, me, close } = await watched();
    const order: string[] = [];
    const stops: (() => void)[] = [];
    for (let index = 0; index < 1_000; index += 1) {
      const listener = () => {
        if (index === 0) {
          setImmediate(() => order.push("other work"));
          stops[900]?.();
        }
        order.push(`watcher ${index}`);
      };
      stops.push(await me.watch(listener));
    }
    await me.set("c", { title: "Changed" });
    await clock.advance(50);
    await expect.poll(() => order).toContain("watcher 999");
    expect(order.indexOf("other work")).toBeLessThan(order.indexOf("watcher 500"));
    expect(order).not.toContain("watcher 900");
    await close();
  });
});
