import {
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createScriptedProvider,
  delay,
  gate,
  type ManualClock,
  type ScriptSource,
  settle,
  text,
  toolCall,
  transcript,
  usage,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../clock.js";
import { ParleyError } from "../../errors.js";
import type { LogStoreRoot } from "../../ports/log-store.js";
import { createModelCatalog, createRuntime, type Runtime, type RuntimeOptions } from "../index.js";

/** Creates one database and its clock. A node whose own clock stops is as good as dead. */
function cluster() {
  const clock = createManualClock();
  const database = createMemoryDatabase(clock);
  const store = createMemoryLogStore({ clock, database });
  const errors: string[] = [];
  const node = (script: ScriptSource, options: Partial<RuntimeOptions> & { clock: Clock }) =>
    createRuntime({
      store: createMemoryLogStore({ clock, database }),
      models: createModelCatalog([
        {
          name: "test/one",
          provider: createScriptedProvider(script, { clock: options.clock }),
          providerName: "test",
          model: "one",
          contextWindow: 10_000,
        },
      ]),
      tools: [{ name: "work", recovery: "retry", execute: () => new Promise(() => {}) }],
      hooks: { onError: ({ code }, { where }) => errors.push(`${where}: ${code}`) },
      ...options,
    });
  return { clock, database, store, errors, node };
}

/** Starts a turn on a node that dies in its tool. */
async function leftTurn(node: ReturnType<typeof cluster>["node"], options: Partial<RuntimeOptions> = {}) {
  const dying = createManualClock();
  const dead = await node([[toolCall("work", {}, { id: "k1" }), usage(1, 1)]], { clock: dying, ...options });
  const { turnId = "" } = await dead.forOwner("o").send({ conversationId: "c", message: "Hi" });
  await dying.advance(100);
  return turnId;
}

async function close(runtime: Runtime, clock: ManualClock): Promise<void> {
  const closed = runtime.close();
  await clock.advance(100);
  await closed;
}

const working = { tools: [{ name: "work", recovery: "retry" as const, execute: () => "worked" }] };

describe("a take-over", () => {
  it("counts a turn's time by the store's clock, however far its own is off", async () => {
    for (const offMs of [7 * 60_000, -7 * 60_000]) {
      const { clock, node } = cluster();
      const turnId = await leftTurn(node);
      const off: Clock = {
        now: () => clock.now() + offMs,
        monotonic: () => clock.monotonic(),
        after: (ms, run) => clock.after(ms, run),
      };
      await clock.advance(11_000);
      const taker = await node([[delay(200), text("Done.")]], {
        clock: off,
        limits: { turnDurationMs: 5 * 60_000 },
        ...working,
      });
      await clock.advance(1_000);
      const turn = await taker.forOwner("o").turn("c", turnId);
      expect([turn.status, turn.reason]).toEqual(["sealed", "stop"]);
      expect(turn.metrics?.durationMs).toBe(11_200);
      await close(taker, clock);
    }
  });

  it("happens also where the process comes back under the same name", async () => {
    const { clock, node } = cluster();
    const turnId = await leftTurn(node, { node: "api-1" });
    const again = await node([[text("Done.")]], { clock, node: "api-1", ...working });
    expect(again.status().node).toMatch(/^api-1\+./);
    await clock.advance(20_000);
    expect(await again.forOwner("o").turn("c", turnId)).toMatchObject({ status: "sealed", reason: "stop" });
    await close(again, clock);
  });

  it("does not wait for turns whose database hangs: not at the start, and not for those of others", async () => {
    const { clock, database, node } = cluster();
    const dying = createManualClock();
    const dead = await node([[toolCall("work", {}, { id: "k1" })], [toolCall("work", {}, { id: "k2" })]], {
      clock: dying,
    });
    const far = await dead.forOwner("far").send({ conversationId: "c", message: "Hi" });
    await clock.advance(11_000);
    const inner = createMemoryLogStore({ clock, database });
    const held = gate();
    const forOwner: LogStoreRoot["forOwner"] = (owner) => {
      const store = inner.forOwner(owner);
      if (owner !== "far") return store;
      return {
        ...store,
        async readOpenTurn(query) {
          await held.wait();
          return store.readOpenTurn(query);
        },
      };
    };
    const starting = node([[text("Near.")], [text("Far.")]], {
      clock,
      store: { ...inner, forOwner },
      ...working,
    });
    await clock.advance(1_000);
    const taker = await starting;
    const { turnId = "" } = await dead.forOwner("near").send({ conversationId: "c", message: "Hi" });
    await dying.advance(100);
    await clock.advance(13_000);
    expect(await taker.forOwner("near").turn("c", turnId)).toMatchObject({
      status: "sealed",
      reason: "stop",
    });
    held.open();
    await clock.advance(1_000);
    expect(await taker.forOwner("far").turn("c", far.turnId ?? "")).toMatchObject({ status: "sealed" });
    await close(taker, clock);
  });

  it("ends a turn whose journal cannot be read to its end, and never continues with it", async () => {
    const { clock, node, store, errors } = cluster();
    const turnId = await leftTurn(node);
    const open = await store.forOwner("o").readOpenTurn({ conversationId: "c" });
    const { fence = 0, log = 0 } = open ?? {};
    const batch = { log, owner: "o", turnId, fence, firstN: 90, count: 1, data: "[torn" };
    expect(await store.flushJournal([batch])).toEqual(["ok"]);
    await clock.advance(11_000);
    const taker = await node([[text("Never.")]], { clock, ...working });
    await clock.advance(1_000);
    const me = taker.forOwner("o");
    expect(await me.turn("c", turnId)).toMatchObject({ status: "sealed", reason: "interrupted" });
    expect(transcript((await me.history({ conversationId: "c" })).chunks)).toEqual([
      "user: Hi",
      "assistant: [work {}]",
      "tool: [failed: The call was interrupted before it had a result.]",
    ]);
    expect(errors).toEqual(["recovery: internal"]);
    await close(taker, clock);
  });
});

describe("a turn whose node lost the database of its owner, and that alone", () => {
  it("goes on there when the owner is where the node lives", async () => {
    const { clock, database, node, errors } = cluster();
    let holds = true;
    const store: LogStoreRoot = {
      ...createMemoryLogStore({ clock, database }),
      holdsLeases: () => holds,
    };
    const script = [[toolCall("work", {}, { id: "k1" }), usage(1, 1)], [text("Done.")]];
    let calls = 0;
    const work = {
      name: "work",
      recovery: "retry" as const,
      execute: () => {
        calls += 1;
        return calls === 1 ? new Promise<never>(() => {}) : "worked";
      },
    };
    const runtime = await node(script, { clock, store, tools: [work] });
    const me = runtime.forOwner("o");
    const { turnId = "" } = await me.send({ conversationId: "c", message: "Hi" });
    await clock.advance(1_000);
    holds = false;
    await clock.advance(30_000);
    expect(await me.turn("c", turnId)).toMatchObject({ status: "running" });
    holds = true;
    await clock.advance(60_000);
    expect(await me.turn("c", turnId)).toMatchObject({ status: "sealed", reason: "stop" });
    expect(calls).toBe(2);
    expect(errors).toEqual([]);
    await close(runtime, clock);
  });
});

describe("a fork whose answer is lost, and then late", () => {
  it("has its turn run once, although it is over when the repeated call is answered", async () => {
    const clock = createManualClock();
    const root = createMemoryLogStore({ clock });
    const late = gate();
    let forks = 0;
    const store: LogStoreRoot = {
      ...root,
      forOwner(owner) {
        const own = root.forOwner(owner);
        return {
          ...own,
          async fork(input) {
            const forked = await own.fork(input);
            forks += 1;
            if (forks === 1) throw new ParleyError("store_unavailable");
            await late.wait();
            return forked;
          },
        };
      },
    };
    const provider = createScriptedProvider(() => [text("Hello.")]);
    const models = createModelCatalog([
      { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 10_000 },
    ]);
    const runtime = await createRuntime({ store, clock, models });
    const me = runtime.forOwner("o");
    await me.send({ conversationId: "c", message: "Hi" });
    await me.last("c");
    const input = { conversationId: "c", atSeq: 2, id: "f", message: "And?", messageId: "m" };
    await expect(me.fork(input)).rejects.toMatchObject({ code: "store_unavailable" });
    const again = me.fork(input);
    await late.reached;
    await expect.poll(async () => (await root.forOwner("o").get("f"))?.active).toBeUndefined();
    late.open();
    expect((await again).conversation.id).toBe("f");
    await settle();
    expect(provider.calls).toHaveLength(2);
    await close(runtime, clock);
  });
});
