import type { ConversationMessage } from "@parley/core/messages";
import type { LogStoreRoot } from "@parley/core/ports";
import { describe, expect, it } from "vitest";
import { gate } from "../gate.js";
import { logStoreContract } from "../log-store-contract/log-store-contract.js";
import { conversationStoreContract } from "../store-contracts/conversation-store-contract.js";
import { createMemoryDatabase } from "./database.js";
import { createMemoryLogStore, type StoreFault } from "./memory-log-store.js";
import { createMemoryPresence } from "./memory-presence.js";

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
    async beginPresence() {
      const presence = createMemoryPresence(database);
      return { token: presence.token() ?? "", end: async () => presence.end() };
    },
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

describe("what the memory store keeps", () => {
  it("drops the rows of a removed conversation that no fork shares, and the rest with the last fork", async () => {
    const clock = handClock();
    const database = createMemoryDatabase(clock);
    const store = createMemoryLogStore({ clock, database }).forOwner("o");
    await store.createConversation({ id: "c" });
    await store.appendMessages(["a", "b", "c"].map((id) => userMessage("c", id)));
    await store.fork({ conversationId: "c", atSeq: 1, newId: "early" });
    await store.fork({ conversationId: "c", atSeq: 2, newId: "late" });
    const shared = [...database.logs.values()].find(({ id }) => id === "c");
    await store.remove("c", { cascade: false });
    expect(shared?.rows.map((row) => row.message.id)).toEqual(["a", "b"]);
    await store.remove("late", { cascade: false });
    expect(shared?.rows.map((row) => row.message.id)).toEqual(["a"]);
    expect([...(shared?.rowsById.keys() ?? [])]).toEqual(["a"]);
    await store.remove("early", { cascade: false });
    expect(shared?.rows).toEqual([]);
    expect(shared?.forks.size).toBe(0);
  });

  it("reads the newest page by looking at its rows alone, however long the log and its ancestors are", async () => {
    const clock = handClock();
    const database = createMemoryDatabase(clock);
    const store = createMemoryLogStore({ clock, database }).forOwner("o");
    await store.createConversation({ id: "c0" });
    const messages = Array.from({ length: 1_000 }, (_, index) => userMessage("c0", `m${index}`));
    await store.appendMessages(messages);
    await store.fork({ conversationId: "c0", atSeq: 990, newId: "c1" });
    const looks = new Set<string>();
    const log = [...database.logs.values()].find(({ id }) => id === "c0");
    if (log === undefined) throw new Error("the log is there");
    log.rows = new Proxy(log.rows, {
      get(rows, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) looks.add(name);
        return Reflect.get(rows, name, receiver);
      },
    });
    const page = await store.readNewest({ conversationId: "c1", limit: 5 });
    expect(page.entries.map(({ firstSeq }) => firstSeq)).toEqual([990, 989, 988, 987, 986]);
    const window = await store.readChunks({ conversationId: "c1", beforeSeq: 500, limit: 5 });
    expect(window.chunks.map(({ seq }) => seq)).toEqual([495, 496, 497, 498, 499]);
    expect(looks.size).toBeLessThan(40);
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

  it("forget what was removed once every node has had the time to read it", async () => {
    let now = 1_000;
    const root = createMemoryLogStore({ clock: { now: () => now } });
    const store = root.forOwner("o");
    for (const id of ["old", "young"]) {
      await store.create({ id, settings: {} });
      await store.remove(id, { cascade: false });
      now += 6 * 60_000;
    }
    await root.heartbeat("n", 1_000);
    const { notices } = await store.changed({ since: 0, limit: 9 });
    expect(notices).toMatchObject([{ kind: "removed", conversationIds: ["young"] }]);
  });
});
