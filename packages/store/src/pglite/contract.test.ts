import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationStoreContract, logStoreContract, memoryStoreContract } from "@parley/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPglite } from "./index.js";

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("the store on PGlite", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-pglite-"));
  let opened: Awaited<ReturnType<typeof openPglite>>;
  beforeAll(async () => {
    opened = await openPglite({ folder });
  }, 120_000);
  afterAll(async () => {
    await opened.store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("keeps the contract of the runtime's store:", () => {
    for (const { name, run } of logStoreContract(() => ({ root: opened.store, advance: wait })))
      it(name, run);
  });

  describe("keeps the contract of the engine's store:", () => {
    for (const { name, run } of conversationStoreContract(() => ({ store: opened.store.forOwner("engine") })))
      it(name, run);
  });

  describe("keeps the contract of a store of canonical messages:", () => {
    const cases = memoryStoreContract(() => ({ store: opened.memoryStore("agent"), owner: "agent" }));
    for (const { name, run } of cases) it(name, run);
  });

  it("shows an agent's messages to the runtime, and nothing of them to another owner", async () => {
    const message = {
      id: "of-an-agent",
      threadId: "thread-of-an-agent",
      role: "user" as const,
      type: "text" as const,
      content: { format: 2 as const, parts: [{ type: "text" as const, text: "hello" }] },
      createdAt: new Date(1_700_000_000_000),
    };
    await opened.memoryStore("agent").saveMessages({ messages: [message] });
    const read = await opened.store.forOwner("agent").listMessages(message.threadId);
    expect(read.map(({ content }) => content)).toEqual([[{ type: "text", text: "hello" }]]);
    const other = opened.memoryStore("somebody else");
    expect(await other.getThreadById({ threadId: message.threadId })).toBeNull();
    expect(await other.listMessages({ threadId: message.threadId })).toEqual([]);
  });

  it("refuses a second opener of the same folder, naming the first", async () => {
    await expect(openPglite({ folder })).rejects.toThrow(`in use by process ${process.pid}`);
  });
});

describe("a folder of PGlite", () => {
  it("keeps everything when it is closed and opened again, and frees the leases of who held it before", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-pglite-"));
    try {
      const first = await openPglite({ folder });
      await first.store.heartbeat("n1", 60_000);
      const message = {
        id: "m1",
        conversationId: "c1",
        role: "user" as const,
        createdAt: new Date(1_000),
        content: [{ type: "text" as const, text: "Hello" }],
      };
      await first.store.forOwner("me").admit({
        node: "n1",
        conversationId: "c1",
        message,
        bodyHash: "h",
        ifBusy: "reject",
        mode: "steer",
        choices: {},
        turnId: "t1",
        queueLength: 5,
        title: "Hello",
      });
      await first.store.close();
      const second = await openPglite({ folder });
      const { entries } = await second.store.forOwner("me").readNewest({ conversationId: "c1", limit: 5 });
      expect(entries.map((entry) => entry.message)).toEqual([message]);
      await second.store.heartbeat("n2", 60_000);
      expect(await second.store.claimExpired("n2", 5)).toMatchObject([
        { conversationId: "c1", turnId: "t1", fence: 2 },
      ]);
      await second.store.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
