import { describe, expect, it } from "vitest";
import type { LogStoreRoot } from "../log-store.js";
import type { ConversationMessage } from "../messages/message.js";
import { conversationStoreContract } from "./conversation-store-contract.js";
import { gate } from "./gate.js";
import { logStoreContract } from "./log-store-contract.js";
import { createMemoryDatabase } from "./memory-log/database.js";
import { createMemoryLogStore, type StoreFault } from "./memory-log-store.js";

function handClock(start = 1_700_000_000_000) {
  let now = start;
  return {
    now: () => now,
    advance(ms: number) {
      now += ms;
    },
  };
}

function userMessage(conversationId: string, id: string): ConversationMessage {
  return {
    id,
    conversationId,
    role: "user",
    createdAt: new Date(1_700_000_000_000),
    content: [{ type: "text", text: "hello" }],
  };
}

function send(root: LogStoreRoot, conversationId: string, messageId: string, turnId: string) {
  return root.forOwner("o").admit({
    node: "n",
    conversationId,
    message: userMessage(conversationId, messageId),
    bodyHash: "h",
    ifBusy: "queue",
    mode: "steer",
    choices: {},
    turnId,
    queueLength: 50,
    title: "hello",
  });
}

describe("the memory store as a store for the engine", () => {
  const cases = conversationStoreContract(() => {
    const clock = handClock();
    const store = createMemoryLogStore({ clock }).forOwner("owner");
    return { store, tick: () => clock.advance(1) };
  });
  for (const { name, run } of cases) it(name, run);
});

describe("the memory store as the runtime's store", () => {
  const clock = handClock();
  const database = createMemoryDatabase(clock);
  const cases = logStoreContract(() => ({
    root: createMemoryLogStore({ clock, database }),
    second: createMemoryLogStore({ clock, database }),
    advance: clock.advance,
  }));
  for (const { name, run } of cases) it(name, run);

  it("leaves nothing behind when all cases are through", async () => {
    expect(
      [...database.logs.values()].map(({ owner }) => owner).filter((owner) => !owner.startsWith("stranger")),
    ).toEqual([]);
    expect(database.leased.size).toBe(0);
  });
});

describe("faults of the memory store", () => {
  it("fails a call before its effect, or after it, as the hook says", async () => {
    const faults: (StoreFault | undefined)[] = ["before", "after"];
    const root = createMemoryLogStore({ clock: handClock(), faults: () => faults.shift() });
    await expect(send(root, "c", "m", "t")).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: true,
    });
    await expect(send(root, "c", "m", "t")).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await send(root, "c", "m", "t")).toEqual({ kind: "known", outcome: "started", turnId: "t" });
    expect(await root.forOwner("o").get("c")).toMatchObject({ lastSeq: 1 });
  });

  it("names the method, the owner and the arguments, and rejects with what the hook throws", async () => {
    const calls: unknown[] = [];
    const root = createMemoryLogStore({
      clock: handClock(),
      faults: (call) => {
        calls.push(call);
        if (call.method === "retire") throw new Error("no");
        return undefined;
      },
    });
    await root.forOwner("o").get("c");
    await root.heartbeat("n", 10);
    await expect(root.retire("n")).rejects.toThrow("no");
    expect(calls).toEqual([
      { method: "get", owner: "o", args: ["c"] },
      { method: "heartbeat", args: ["n", 10] },
      { method: "retire", args: ["n"] },
    ]);
  });

  it("holds a call back as long as the hook's promise is pending, with the arguments it was given", async () => {
    const door = gate();
    const root = createMemoryLogStore({
      clock: handClock(),
      faults: async ({ method }) => {
        if (method === "appendMessages") await door.wait();
        return undefined;
      },
    });
    const store = root.forOwner("o");
    await store.createConversation({ id: "c" });
    const message = userMessage("c", "m");
    const appended = store.appendMessages([message]);
    await door.reached;
    expect(await store.listMessages("c")).toEqual([]);
    message.content = [];
    door.open();
    await appended;
    expect(await store.listMessages("c")).toEqual([userMessage("c", "m")]);
  });
});

describe("handles on one memory database", () => {
  it("see the same conversations, and close each for itself", async () => {
    const clock = handClock();
    const database = createMemoryDatabase(clock);
    const first = createMemoryLogStore({ clock, database });
    const second = createMemoryLogStore({ clock, database });
    await send(first, "c", "m", "t");
    await first.close();
    await expect(first.forOwner("o").get("c")).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await second.forOwner("o").get("c")).toMatchObject({ id: "c", status: "active" });
  });
});
