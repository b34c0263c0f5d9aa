import { type ConversationMessage, fromCanonical, toCanonical } from "@parley/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalRow, entriesOf, messageRow, type ReadMessage, stepMark } from "./message-row.js";
import { originalJson, originalText } from "./stored-text.js";

/** Fields that a part may have beside its own; `note` is an unknown one. */
const extras = { providerMetadata: fc.constant({ p: { id: 1 } }), note: fc.string() };

const parts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant("text" as const), text: fc.string() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant("text" as const),
        text: fc.string(),
        providerMetadata: fc.constant({ p: { id: 1 } }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record(
        { type: fc.constant("reasoning" as const), text: fc.string(), durationMs: fc.nat(), ...extras },
        { requiredKeys: ["type", "text"] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          type: fc.constant("tool-call" as const),
          name: fc.string(),
          arguments: fc.constant({ city: "Oslo" }),
          argumentsText: fc.constant('{ "city": "Oslo" }'),
          toolCallId: fc.uuid(),
          stepId: fc.string(),
          ...extras,
        },
        { requiredKeys: ["type", "name", "arguments", "argumentsText", "toolCallId"] },
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          type: fc.constant("tool-result" as const),
          name: fc.string(),
          result: fc.constant([4]),
          resultText: fc.constant(" [4]"),
          toolCallId: fc.uuid(),
          isError: fc.boolean(),
          stepId: fc.string(),
          durationMs: fc.nat(),
          ...extras,
        },
        { requiredKeys: ["type", "name", "result", "resultText", "toolCallId", "isError"] },
      ),
    },
  ),
  { minLength: 1, maxLength: 4 },
);

const messages: fc.Arbitrary<ConversationMessage> = fc
  .record(
    {
      id: fc.uuid(),
      role: fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
      createdAt: fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }),
      content: parts,
      metadata: fc.dictionary(fc.string(), fc.string()),
      resourceId: fc.string(),
    },
    { requiredKeys: ["id", "role", "createdAt", "content"] },
  )
  .map((given) => ({ ...given, conversationId: "c" }) as ConversationMessage);

/** Returns a message as it comes back from the database. */
function stored(message: ConversationMessage): ReadMessage {
  const row = messageRow(message, "c", 1_000_000);
  return {
    id: originalText(row.id),
    role: row.role,
    type: row.type,
    content: originalJson(row.content),
    created_ms: Date.parse(row.createdAt),
    resource_id: row.resourceId === null ? null : originalText(row.resourceId),
    first_seq: 5,
    part_count: row.parts,
    turn_id: "turn",
    step: stepMark("turn.1", "turn"),
    covers_from: null,
    covers_to: null,
    tokens: null,
    token_rule: null,
  };
}

describe("a message's row", () => {
  it("reads as what was written, the short way and the long way", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const [entry, ...others] = entriesOf(stored(message), "c");
        expect(others).toEqual([]);
        expect(entry).toEqual({
          message,
          firstSeq: 5,
          lastSeq: 4 + message.content.length,
          turnId: "turn",
          stepId: "turn.1",
        });
        expect(entry?.message).toEqual(fromCanonical(toCanonical(message))[0]);
        expect(messageRow(message, "c", 1_000_000).message).toEqual(message);
      }),
    );
  });

  it("gives a result back without the flag that its writer left out", () => {
    const message: ConversationMessage = {
      id: "m",
      conversationId: "c",
      role: "tool",
      createdAt: new Date(0),
      content: [{ type: "tool-result", name: "t", result: "4", resultText: "4", toolCallId: "c" }],
    };
    expect(entriesOf(stored(message), "c")[0]?.message).toStrictEqual(message);
    expect(messageRow(message, "c", 1_000_000).message).toStrictEqual(message);
  });

  it("keeps fields that it does not know", () => {
    const odd = {
      ...toCanonical({ id: "m", conversationId: "c", role: "user", createdAt: new Date(0), content: [] }),
    };
    const content = { ...odd.content, annotation: { of: "another writer" } };
    const row = canonicalRow({ ...odd, content }, 1_000_000);
    expect(originalJson(row.content)).toEqual(content);
    expect(row.message).toMatchObject({ annotation: { of: "another writer" } });
  });

  it("is refused above the largest size, in bytes", () => {
    const message = (text: string): ConversationMessage => ({
      id: "m",
      conversationId: "c",
      role: "user",
      createdAt: new Date(0),
      content: [{ type: "text", text }],
    });
    expect(messageRow(message("é".repeat(100)), "c", 300).parts).toBe(1);
    expect(() => messageRow(message("é".repeat(200)), "c", 300)).toThrow(
      expect.objectContaining({ code: "too_large" }),
    );
  });

  it("marks a step by what follows its turn, or whole", () => {
    const step = (stepId: string | undefined, turnId: string | undefined) => {
      const message = { id: "m", conversationId: "c", role: "user", createdAt: new Date(0), content: [] };
      const read = { ...stored(message as unknown as ConversationMessage), turn_id: turnId ?? null };
      return entriesOf({ ...read, step: stepMark(stepId, turnId) }, "c")[0]?.stepId;
    };
    expect(stepMark("turn.0", "turn")).toBe("+.0");
    for (const [stepId, turnId] of [
      ["turn.0", "turn"],
      ["turn", "turn"],
      ["other", "turn"],
      ["+x", undefined],
      [undefined, "turn"],
    ] as const) {
      expect(step(stepId, turnId)).toBe(stepId);
    }
  });
});
