import type { Chunk, StoredChunk } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOwnMessage, normalizeMessage } from "./canonical/normalize-message.js";
import type { ConversationMessage } from "./message.js";
import { foreignMessage, jsonValue, ownMessage } from "./message-arbitrary.test-support.js";
import { fromChatMessage, fromChunks, toChatMessage, toChunks, toStoredChunks } from "./wire-chunks.js";

/** Returns the part of a message that is sent: the envelope's metadata stays with the server. */
function travelling({
  id,
  conversationId,
  role,
  createdAt,
  content,
}: ConversationMessage): ConversationMessage {
  return { id, conversationId, role, createdAt, content };
}

const options = { conversationId: "conversation-1" };

describe("toChunks", () => {
  it("names parts as the wire does", () => {
    const content: ConversationMessage["content"] = [
      { type: "text", text: "a" },
      { type: "reasoning", text: "b", providerMetadata: { acme: { signature: "s" } } },
      {
        type: "tool-call",
        name: "add",
        arguments: { n: 1 },
        argumentsText: '{"n":1.0}',
        toolCallId: "x",
        stepId: "t:0",
      },
      {
        type: "tool-result",
        name: "add",
        result: { s: 2 },
        resultText: '{"s":2}',
        toolCallId: "x",
        isError: false,
        durationMs: 12,
      },
      { type: "metadata", data: [1] },
      { type: "file", mediaType: "image/png", data: "aGk=", filename: "a.png" },
      { type: "source", url: "https://example.com" },
      { type: "error", message: "no", code: "timeout" },
    ];
    const message: ConversationMessage = {
      id: "m",
      conversationId: "c",
      role: "assistant",
      createdAt: new Date(0),
      content,
    };
    expect(toChunks(message)).toEqual([
      { type: "text", text: "a" },
      { type: "thinking", text: "b", providerMetadata: { acme: { signature: "s" } } },
      {
        type: "tool-call",
        toolCallId: "x",
        toolName: "add",
        input: { n: 1 },
        argumentsText: '{"n":1.0}',
        stepId: "t:0",
      },
      {
        type: "tool-result",
        toolCallId: "x",
        toolName: "add",
        content: '{"s":2}',
        isError: false,
        durationMs: 12,
      },
      { type: "data", data: [1] },
      {
        type: "text",
        text: "[a.png, image/png]",
        inline: { mediaType: "image/png", data: "aGk=", filename: "a.png" },
      },
      { type: "source", url: "https://example.com" },
      { type: "error", message: "no", code: "timeout" },
    ]);
    expect(toChunks({ ...message, role: "system", content: [{ type: "text", text: "be kind" }] })).toEqual([
      { type: "system", text: "be kind" },
    ]);
  });

  it("gives any message at least one chunk, of a known kind", () => {
    const kinds = ["text", "thinking", "tool-call", "tool-result", "error", "system", "source", "data"];
    fc.assert(
      fc.property(foreignMessage, (message) => {
        const chunks = toChunks(message);
        expect(chunks.length).toBeGreaterThan(0);
        for (const chunk of chunks) expect(kinds).toContain(chunk.type);
      }),
    );
  });
});

const sample = {
  id: "m1",
  conversationId: "c1",
  role: "user",
  createdAt: new Date(5),
} as const;

/** Returns the chunk as it is before its message has a place. */
function withoutPlace(chunk: Chunk): Chunk {
  if (chunk.type !== "text" || chunk.file === undefined) return chunk;
  const { seq: _, ...file } = chunk.file;
  return { ...chunk, file };
}

describe("stored chunks", () => {
  it("number the parts without a gap and say where each belongs", () => {
    fc.assert(
      fc.property(ownMessage, fc.integer({ min: 1, max: 1e9 }), (message, firstSeq) => {
        const chunks = toStoredChunks(message, { firstSeq, turnId: "t", stepId: "t:0" });
        chunks.forEach((chunk, index) => {
          expect(chunk).toMatchObject({
            seq: firstSeq + index,
            role: message.role,
            messageId: message.id,
            turnId: "t",
            stepId: "t:0",
            createdAt: message.createdAt.getTime(),
            partIndex: index,
            partCount: message.content.length,
          });
        });
        expect(chunks.map(({ chunk }) => withoutPlace(chunk))).toStrictEqual(toChunks(message));
      }),
    );
  });

  it("of a stored file say in their text which file it is, and name it beside", () => {
    const hash = "9f".repeat(32);
    const file = { type: "file", mediaType: "image/png", filename: "cat.png", hash, size: 2048 } as const;
    const message = { ...sample, content: [{ type: "text", text: "Look:" } as const, file] };
    const chunks = toStoredChunks(message, { firstSeq: 7 });
    expect(chunks[1]).toMatchObject({
      seq: 8,
      chunk: {
        type: "text",
        text: "[cat.png, image/png, 2 KB]",
        file: { seq: 8, name: "cat.png", mediaType: "image/png", size: 2048, hash },
      },
    });
    expect(fromChunks(chunks, { conversationId: sample.conversationId })[0]?.content[1]).toStrictEqual(file);
  });

  it("give the messages back, in any order of arrival and with overlaps", () => {
    const distinct = fc.uniqueArray(ownMessage, { maxLength: 4, selector: (message) => message.id });
    fc.assert(
      fc.property(distinct, fc.infiniteStream(fc.nat()), (messages, random) => {
        let firstSeq = 1;
        const chunks: StoredChunk[] = [];
        for (const message of messages) {
          chunks.push(...toStoredChunks(message, { firstSeq }));
          firstSeq += message.content.length;
        }
        const overlap = chunks.slice(0, 2);
        const arrived = [...chunks, ...overlap]
          .map((chunk) => ({ chunk, rank: random.next().value }))
          .sort((left, right) => left.rank - right.rank)
          .map(({ chunk }) => chunk);
        expect(fromChunks(arrived, options)).toStrictEqual(messages.map(travelling));
      }),
    );
  });

  it("survive JSON", () => {
    fc.assert(
      fc.property(ownMessage, (message) => {
        const chunks = JSON.parse(JSON.stringify(toStoredChunks(message, { firstSeq: 1 }))) as StoredChunk[];
        expect(fromChunks(chunks, options)).toEqual([travelling(message)]);
      }),
    );
  });

  it("of a window that cuts a message give the parts that are there", () => {
    const message = normalizeMessage({
      id: "m",
      conversationId: "conversation-1",
      role: "user",
      createdAt: new Date(5),
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    });
    const [, second] = toStoredChunks(message, { firstSeq: 7 });
    expect(fromChunks(second === undefined ? [] : [second], options)).toEqual([
      { ...message, content: [{ type: "text", text: "b" }] },
    ]);
  });

  it("without message ids are one message while the role stays the same", () => {
    const chunks: StoredChunk[] = [
      { seq: 1, role: "user", chunk: { type: "text", text: "hi" } },
      { seq: 2, role: "assistant", chunk: { type: "text", text: "a" } },
      { seq: 3, role: "assistant", chunk: { type: "text", text: "b" } },
    ];
    expect(fromChunks(chunks, options).map(({ id, content }) => [id, content.length])).toEqual([
      ["conversation-1:1", 1],
      ["conversation-1:2", 2],
    ]);
  });

  it("of kinds that are not known yet become metadata that keeps them", () => {
    const chunk = { type: "approval", ask: "may I?" } as unknown as Chunk;
    expect(fromChunks([{ seq: 1, role: "assistant", chunk }], options)[0]?.content).toEqual([
      { type: "metadata", data: chunk },
    ]);
  });

  it("of any content give messages of the own form", () => {
    const chunk = fc.oneof(
      jsonValue,
      fc.record({
        type: fc.constantFrom("text", "tool-call", "tool-result", "file", "system"),
        text: jsonValue,
      }),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 4 }), (chunks) => {
        const stored = chunks.map((given, index) => ({
          seq: index + 1,
          role: "assistant" as const,
          chunk: given as Chunk,
        }));
        expect(fromChunks(stored, options).every(isOwnMessage)).toBe(true);
      }),
    );
  });
});

describe("chat messages", () => {
  it("give the message back in the caller's envelope", () => {
    fc.assert(
      fc.property(ownMessage, (message) => {
        const { id, conversationId, createdAt } = message;
        const chat = toChatMessage(message);
        expect(chat.role).toBe(message.role);
        expect(fromChatMessage(chat, { id, conversationId, createdAt })).toStrictEqual(travelling(message));
      }),
    );
  });
});
