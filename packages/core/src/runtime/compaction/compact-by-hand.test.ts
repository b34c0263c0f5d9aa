import {
  createFaultyStore,
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  gate,
  pause,
  text,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import type { LogStoreRoot, StopRequest } from "../../ports/log-store.js";
import { createModelCatalog, createRuntime } from "../index.js";

/** Starts a conversation of two turns whose compaction waits for a model that writes until it is released. */
async function compacting() {
  const clock = createManualClock();
  const writing = gate();
  const provider = createScriptedProvider([
    [text("One.")],
    [text("Two.")],
    [text("Memory"), pause(writing), text(" of it.")],
  ]);
  const { store: inner, faults } = createFaultyStore(createMemoryLogStore({ clock }));
  const stops: StopRequest[] = [];
  const store: LogStoreRoot = new Proxy(inner, {
    get(of, name) {
      if (name !== "heartbeat") return Reflect.get(of, name);
      return async (node: string, ttlMs: number) => [
        ...(await of.heartbeat(node, ttlMs)),
        ...stops.splice(0),
      ];
    },
  });
  const runtime = await createRuntime({
    store,
    clock,
    models: createModelCatalog([
      { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 10_000 },
    ]),
  });
  const me = runtime.forOwner("o");
  for (const message of ["first", "second"]) {
    await me.send({ conversationId: "c", message });
    await me.last("c");
  }
  const compacted = me.compact("c", { keepLastN: 1 });
  await writing.reached;
  const close = async () => {
    const closed = runtime.close();
    await clock.advance(30_000);
    await closed;
  };
  return { clock, faults, stops, writing, compacted, close };
}

describe("a compaction that was asked for", () => {
  it("continues when the stop of an older turn arrives late", async () => {
    const { clock, stops, writing, compacted, close } = await compacting();
    stops.push({ owner: "o", conversationId: "c", log: 1, turnId: "an older turn", fence: 1 });
    await clock.advance(3_000);
    expect(stops).toEqual([]);
    writing.open();
    await expect(compacted).resolves.toMatchObject({ messagesKept: 1 });
    await close();
  });

  it("says that the store is away when it lost its lease, and not that someone stopped it", async () => {
    const { clock, faults, compacted, close } = await compacting();
    const outcome = compacted.catch((error: unknown) => error);
    faults.cutOff();
    await clock.advance(20_000);
    faults.heal();
    await clock.advance(20_000);
    expect(await outcome).toMatchObject({ code: "store_unavailable", retryable: true });
    await close();
  });
});
