import { conversationStoreContract, createCountingIds } from "@parley/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../messages/message.js";
import { InMemoryConversationStore } from "./in-memory-conversation-store.js";

function message(id: string, conversationId: string, parts = 1): ConversationMessage {
  const content = Array.from({ length: parts }, (_, index) => ({
    type: "text" as const,
    text: `${id}.${index}`,
  }));
  return { id, conversationId, role: "user", createdAt: new Date(0), content };
}

describe("InMemoryConversationStore", () => {
  const contract = conversationStoreContract(() => {
    let now = 1_700_000_000_000;
    const store = new InMemoryConversationStore({ clock: { now: () => now } });
    return {
      store,
      tick: () => {
        now += 1;
      },
    };
  });
  for (const { name, run } of contract) it(name, run);

  it("lists 50 conversations by default, and orders those of one millisecond by their updates", async () => {
    const store = new InMemoryConversationStore({ clock: { now: () => 5 }, ids: createCountingIds("c") });
    for (let index = 0; index < 60; index++) await store.createConversation({});
    await store.updateConversation("c1", {});
    const listed = (await store.listConversations()).map((conversation) => conversation.id);
    expect(listed).toHaveLength(50);
    expect(listed.slice(0, 3)).toEqual(["c1", "c60", "c59"]);
  });

  it("never makes a conversation older when the clock goes back", async () => {
    let now = 100;
    const store = new InMemoryConversationStore({ clock: { now: () => now } });
    await store.createConversation({ id: "c" });
    now = 50;
    await store.appendMessages([message("m", "c")]);
    expect((await store.getConversation("c"))?.updatedAt).toEqual(new Date(100));
  });

  it("refuses what is not plain data, and writes nothing of that append", async () => {
    const store = new InMemoryConversationStore();
    await store.createConversation({ id: "c" });
    const odd = { ...message("odd", "c"), metadata: { callback: () => {} } };
    await expect(store.appendMessages([message("m", "c"), odd])).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(await store.listMessages("c")).toEqual([]);
  });

  it("reads any window from the newest end as a slice of the whole log", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 7 }),
        async (partCounts, limit) => {
          const store = new InMemoryConversationStore();
          await store.createConversation({ id: "c" });
          await store.appendMessages(partCounts.map((parts, index) => message(`m${index}`, "c", parts)));
          const ids: string[] = [];
          let expectedLast = partCounts.reduce((sum, parts) => sum + Math.max(1, parts), 0);
          let before: number | undefined;
          do {
            const page = await store.readNewest({
              conversationId: "c",
              limit,
              ...(before === undefined ? {} : { before }),
            });
            for (const entry of page.entries) {
              ids.push(entry.message.id);
              expect(entry.lastSeq).toBe(expectedLast);
              expectedLast = (entry.firstSeq ?? 0) - 1;
            }
            before = page.before;
          } while (before !== undefined);
          expect(expectedLast).toBe(0);
          expect(ids).toEqual(partCounts.map((_, index) => `m${index}`).reverse());
        },
      ),
    );
  });
});
