import type { CanonicalMessage } from "@parley/core/messages";
import { memoryStoreContract } from "@parley/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { PostgresMemoryStore } from "../postgres-memory-store.js";
import { openPostgres } from "./open-postgres.js";

const createdAt = new Date(1_700_000_000_123);

function message(threadId: string, id: string, given: Partial<CanonicalMessage> = {}): CanonicalMessage {
  return {
    id,
    threadId,
    role: "user",
    type: "text",
    content: { format: 2, parts: [{ type: "text", text: `text of ${id}` }] },
    createdAt,
    ...given,
  };
}

/** Returns a message as other writers save it: the call, its result and what came after in one message. */
function merged(threadId: string, id: string): CanonicalMessage {
  return message(threadId, id, {
    role: "assistant",
    content: {
      format: 2,
      content: "It is cold",
      parts: [
        { type: "text", text: "I look it up" },
        {
          type: "tool-invocation",
          toolCallId: "c1",
          toolName: "weather",
          args: { city: "Oslo" },
          result: { degrees: 4 },
          state: "result",
        },
        { type: "text", text: "It is cold" },
      ],
    },
  });
}

describeOnPostgres("PostgresMemoryStore", (postgres) => {
  let database: TestDatabase;
  let opened: ReturnType<typeof openPostgres>;
  let memory: PostgresMemoryStore;
  beforeAll(async () => {
    database = await postgres.createDatabase();
    opened = openPostgres({ url: database.url, listenUrl: false });
    await opened.store.migrate();
    memory = new PostgresMemoryStore(opened.database, { owner: "ada" });
  });
  afterAll(async () => {
    await opened.store.close();
    await database.drop();
  });

  const cases = memoryStoreContract(() => ({ store: opened.memoryStore("ada"), owner: "ada" }));
  for (const { name, run } of cases) it(name, run);

  it("shows the runtime what an agent saved, with a seq for every part, and pages of any size agree", async () => {
    const id = "thread-4";
    await memory.saveMessages({ messages: [message(id, "a"), merged(id, "b"), message(id, "c")] });
    const log = opened.store.forOwner("ada");
    const whole = await log.readNewest({ conversationId: id, limit: 100 });
    expect(whole.entries.map((entry) => [entry.message.role, entry.firstSeq, entry.lastSeq])).toEqual([
      ["user", 6, 6],
      ["assistant", 5, 5],
      ["tool", 4, 4],
      ["assistant", 2, 3],
      ["user", 1, 1],
    ]);
    expect(await log.get(id)).toMatchObject({ lastSeq: 6, sealedSeq: 6 });
    for (const limit of [1, 2, 3]) {
      const paged = [];
      let before: number | undefined;
      do {
        const page = await log.readNewest({ conversationId: id, limit, ...(before ? { before } : {}) });
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        paged.push(...page.entries);
        before = page.before;
      } while (before !== undefined);
      expect(paged).toEqual(whole.entries);
    }
    const { chunks } = await log.readChunks({ conversationId: id });
    expect(chunks.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("shows an agent what the runtime wrote, and nothing of another owner", async () => {
    const id = "thread-5";
    const sent = {
      id: "sent",
      conversationId: id,
      role: "user" as const,
      createdAt,
      content: [{ type: "text" as const, text: "hello" }],
    };
    await opened.store.forOwner("ada").createConversation({ id });
    await opened.store.forOwner("ada").appendMessages([sent]);
    expect(await memory.listMessages({ threadId: id })).toEqual([
      {
        id: "sent",
        threadId: id,
        role: "user",
        type: "text",
        content: { format: 2, parts: sent.content },
        createdAt,
      },
    ]);
    const other = new PostgresMemoryStore(opened.database, { owner: "bob" });
    expect(await other.listMessages({ threadId: id })).toEqual([]);
    expect(await other.getThreadById({ threadId: id })).toBeNull();
    // The id is free for another owner, and the thread belongs to that one then.
    await other.saveMessages({ messages: [message(id, "theirs")] });
    expect((await other.listMessages({ threadId: id })).map((each) => each.id)).toEqual(["theirs"]);
    expect((await memory.listMessages({ threadId: id })).map((each) => each.id)).toEqual(["sent"]);
  });

  describe("refuses what it cannot keep", () => {
    it("as too large or not plain, and writes nothing of that call", async () => {
      const small = new PostgresMemoryStore(opened.database, { owner: "ada", maxBytes: 1_000 });
      const long = message("thread-6", "long", {
        content: { format: 2, parts: [{ type: "text", text: "x".repeat(1_000) }] },
      });
      const save = small.saveMessages({ messages: [message("thread-6", "short"), long] });
      await expect(save).rejects.toMatchObject({ code: "too_large" });
      expect(await memory.getThreadById({ threadId: "thread-6" })).toBeNull();
    });
  });
});
