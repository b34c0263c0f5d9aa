import { memoryStoreContract } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { InMemoryMemoryStore } from "./in-memory-memory-store.js";

describe("the store of canonical messages in memory", () => {
  const cases = memoryStoreContract(() => ({
    store: new InMemoryMemoryStore({ owner: "ada" }),
    owner: "ada",
  }));
  for (const { name, run } of cases) it(name, run);

  it("without an owner leaves each thread to whom it was saved for", async () => {
    const store = new InMemoryMemoryStore();
    const createdAt = new Date(1);
    const thread = { id: "t", resourceId: "ada", createdAt, updatedAt: createdAt };
    await store.saveThread({ thread });
    await store.saveThread({ thread: { ...thread, id: "u", resourceId: "bob" } });
    const message = {
      id: "m",
      threadId: "t",
      role: "user" as const,
      type: "text" as const,
      content: { format: 2 as const, parts: [] },
      createdAt,
    };
    const foreign = store.saveMessages({ messages: [{ ...message, resourceId: "bob" }] });
    await expect(foreign).rejects.toMatchObject({ code: "invalid_request" });
    await expect(store.saveThread({ thread: { ...thread, resourceId: "bob" } })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await store.saveMessages({ messages: [{ ...message, resourceId: "ada" }] });
    expect(await store.listMessages({ threadId: "t" })).toHaveLength(1);
    expect(await store.getThreadById({ threadId: "u" })).toMatchObject({ resourceId: "bob" });
  });
});
