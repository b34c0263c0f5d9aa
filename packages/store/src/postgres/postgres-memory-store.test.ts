import type { CanonicalMessage } from "@parley/core/messages";
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

/** As other writers save it: the call, its result and what came after in one message. */
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

  it("refuses a message whose createdAt is no date", async () => {
    const broken = message("dated", "undated", { createdAt: new Date(Number.NaN) });
    const refused = memory.saveMessages({ messages: [message("dated", "first"), broken] });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    await expect(refused).rejects.toThrow("createdAt");
    expect(await memory.getThreadById({ threadId: "dated" })).toBeNull();
  });

  it("gives threads back as they were saved, and saves them again", async () => {
    const thread = {
      id: "thread-1",
      resourceId: "ada",
      title: "Plans",
      metadata: { tags: ["a", "\u0000"] },
      createdAt,
      updatedAt: new Date(1_700_000_001_000),
    };
    expect(await memory.getThreadById({ threadId: thread.id })).toBeNull();
    await memory.saveThread({ thread });
    expect(await memory.getThreadById({ threadId: thread.id })).toEqual(thread);
    const { title: _, metadata: __, ...bare } = { ...thread, updatedAt: new Date(1_700_000_002_000) };
    await memory.saveThread({ thread: bare });
    expect(await memory.getThreadById({ threadId: thread.id })).toEqual(bare);
    const foreign = memory.saveThread({ thread: { ...thread, id: "other", resourceId: "bob" } });
    await expect(foreign).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("gives messages back as they were saved, in order, once each", async () => {
    const id = "thread-2";
    const messages = [
      message(id, "m1"),
      merged(id, "m2"),
      message(id, "m3", { role: "tool", type: "tool", resourceId: "someone" }),
    ];
    await memory.saveMessages({ messages: messages.slice(0, 2) });
    await memory.saveMessages({ messages });
    expect(await memory.listMessages({ threadId: id })).toEqual(messages);
    expect(await memory.listMessages({ threadId: id, limit: 2 })).toEqual(messages.slice(0, 2));
    expect(await memory.listMessages({ threadId: id, orderBy: "desc", limit: 2 })).toEqual(
      messages.toReversed().slice(0, 2),
    );
    await memory.saveMessages({ messages: [] });
    expect(await memory.listMessages({ threadId: "unknown" })).toEqual([]);
  });

  it("keeps a file's bytes as base64", async () => {
    const parts = [{ type: "file" as const, data: new Uint8Array([104, 105]), mimeType: "text/plain" }];
    await memory.saveMessages({
      messages: [message("thread-3", "f", { content: { format: 2, parts } })],
    });
    const [read] = await memory.listMessages({ threadId: "thread-3" });
    expect(read?.content.parts).toEqual([{ type: "file", data: "aGk=", mimeType: "text/plain" }]);
  });

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
    const stolen = other.saveMessages({ messages: [message(id, "theirs")] });
    await expect(stolen).rejects.toMatchObject({ code: "conversation_not_found" });
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
