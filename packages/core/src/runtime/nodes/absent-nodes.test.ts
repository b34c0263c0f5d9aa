import {
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryPresence,
  createScriptedProvider,
  hang,
  type ScriptEntry,
  settle,
  text,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import { createModelCatalog, createRuntime, type LeasePace } from "../index.js";

/** Processes on one memory database with one clock. */
function cluster(lease: Partial<LeasePace> = {}) {
  const clock = createManualClock();
  const database = createMemoryDatabase(clock);
  /** Starts a process whose clock can be stopped, as its death or its sleep would. */
  const start = async (script: ScriptEntry[], isSeen = true) => {
    const own = createManualClock();
    const presence = createMemoryPresence(database);
    const runtime = await createRuntime({
      store: createMemoryLogStore({ clock, database }),
      wake: { notify() {}, listen: () => () => {}, ...(isSeen ? { presence } : {}) },
      clock: own,
      lease,
      models: createModelCatalog([
        {
          name: "test/one",
          provider: createScriptedProvider(() => script),
          providerName: "test",
          model: "one",
          contextWindow: 10_000,
        },
      ]),
    });
    return { runtime, clock: own, presence, me: runtime.forOwner("o") };
  };
  type Process = Awaited<ReturnType<typeof start>>;
  /** Lets time pass for the store and for the processes that run. */
  const pass = async (ms: number, ...running: readonly Process[]) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.jump(50);
      for (const process of running) await process.clock.advance(50);
    }
  };
  const close = async (...all: readonly Process[]) => {
    for (const process of all) {
      const closed = process.runtime.close();
      await process.clock.advance(1_000);
      await closed;
    }
  };
  return { start, pass, close };
}

async function began({ me }: Awaited<ReturnType<ReturnType<typeof cluster>["start"]>>): Promise<string> {
  const { turnId = "" } = await me.send({ conversationId: "c", message: "Hi" });
  await settle();
  return turnId;
}

describe("a process that has ended", () => {
  it("loses its turns after two looks, long before its lease ends", async () => {
    const { start, pass, close } = cluster();
    const [dead, other] = [await start([hang()]), await start([text("Here.")])];
    await pass(3_000, dead, other);
    const turnId = await began(dead);
    dead.presence.end({ isNoticed: false });
    await pass(1_100, other);
    expect(await other.me.turn("c", turnId)).toMatchObject({ status: "sealed", reason: "stop" });
    await close(other);
  });

  it("is found by one that starts after its end", async () => {
    const { start, pass, close } = cluster();
    const dead = await start([hang()]);
    const turnId = await began(dead);
    dead.presence.end({ isNoticed: false });
    const next = await start([text("Here.")]);
    await pass(600, next);
    expect(await next.me.turn("c", turnId)).toMatchObject({ status: "sealed", reason: "stop" });
    await close(next);
  });

  it("keeps its turns to the end of its lease where no node looks, or none can see it", async () => {
    for (const [lease, isSeen] of [
      [{ presenceMs: 0 }, true],
      [{}, false],
    ] as const) {
      const { start, pass, close } = cluster(lease);
      const [dead, other] = [await start([hang()], isSeen), await start([text("Here.")])];
      const turnId = await began(dead);
      dead.presence.end({ isNoticed: false });
      await pass(9_000, other);
      expect(await other.me.turn("c", turnId)).toMatchObject({ status: "running" });
      await pass(3_000, other);
      expect(await other.me.turn("c", turnId)).toMatchObject({ status: "sealed" });
      await close(other);
    }
  });
});

describe("a process that lives", () => {
  it("keeps its turns while it hangs with its session open, and loses them with its lease", async () => {
    const { start, pass, close } = cluster();
    const [hung, other] = [await start([hang()]), await start([text("Here.")])];
    const turnId = await began(hung);
    await pass(9_000, other);
    expect(await other.me.turn("c", turnId)).toMatchObject({ status: "running" });
    await pass(3_000, other);
    expect(await other.me.turn("c", turnId)).toMatchObject({ status: "sealed" });
    await close(other);
  });

  it("keeps its turns when its session ends and it says so", async () => {
    const { start, pass, close } = cluster();
    const [here, other] = [await start([hang()]), await start([text("Never.")])];
    const turnId = await began(here);
    here.presence.end();
    await pass(2_000, here, other);
    here.presence.begin();
    await pass(20_000, here, other);
    expect(await other.me.turn("c", turnId)).toMatchObject({ status: "running" });
    await here.me.stop("c");
    await close(here, other);
  });

  it("gives its turns up at once when it was taken for dead while it hung", async () => {
    const { start, pass, close } = cluster();
    const [hung, other] = [await start([hang()]), await start([text("Here.")])];
    const turnId = await began(hung);
    hung.presence.end({ isNoticed: false });
    await pass(1_100, other);
    expect(await other.me.turn("c", turnId)).toMatchObject({ status: "sealed" });
    expect(hung.runtime.status().runningTurns).toBe(1);
    hung.presence.begin();
    await pass(50, hung, other);
    expect(hung.runtime.status().runningTurns).toBe(0);
    await close(hung, other);
  });
});
