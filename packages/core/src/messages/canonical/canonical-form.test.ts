import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../message.js";
import {
  anyText,
  awkwardJson,
  foreignMessage,
  jsonValue,
  ownMessage,
  throughJsonb,
} from "../message-arbitrary.test-support.js";
import { fromCanonical, messageTypeOf, toCanonical } from "./canonical-form.js";
import type { CanonicalMessage, MessageContentV2 } from "./canonical-message.js";
import { isOwnMessage, normalizeMessage } from "./normalize-message.js";

function stored(content: unknown, fields: Partial<CanonicalMessage> = {}): CanonicalMessage {
  return {
    id: "m1",
    threadId: "c1",
    role: "assistant",
    type: "text",
    content: content as MessageContentV2,
    createdAt: new Date(0),
    ...fields,
  };
}

const parts = (...list: unknown[]) => ({ format: 2, parts: list });
const shapeOf = (messages: ConversationMessage[]) =>
  messages.map(({ id, role, content }) => ({ id, role, types: content.map((part) => part.type) }));

const anyStored: fc.Arbitrary<CanonicalMessage> = fc
  .record(
    {
      id: fc.option(fc.uuid(), { nil: null }),
      threadId: fc.constant("c1"),
      role: fc.constantFrom("system", "user", "assistant", "tool", "bot"),
      type: fc.constant("text"),
      createdAt: fc.oneof(fc.date({ noInvalidDate: true }), fc.constant("2026-01-01T00:00:00Z")),
      content: fc.oneof(
        anyText,
        jsonValue,
        fc.record(
          {
            format: fc.constant(2),
            content: anyText,
            metadata: jsonValue,
            parts: fc.array(
              fc.oneof(
                jsonValue,
                fc.record(
                  {
                    type: fc.constant("tool-invocation"),
                    toolCallId: fc.constantFrom("call_0", "call_1"),
                    toolName: fc.constant("add"),
                    args: jsonValue,
                    argsText: awkwardJson,
                    result: jsonValue,
                    state: fc.constantFrom("call", "result", "partial-call", "output-available"),
                    providerMetadata: fc.constant({ acme: { id: "i" } }),
                  },
                  { requiredKeys: ["type", "toolName", "state"] },
                ),
                fc.record({ type: fc.constant("text"), text: anyText }),
                fc.record({ type: fc.constant("reasoning"), reasoning: anyText, details: jsonValue }),
                fc.record({ type: fc.constant("file"), data: fc.uint8Array({ maxLength: 3 }) }),
                fc.record({ type: fc.constantFrom("step-start", "tool-call", "metadata"), name: anyText }),
              ),
              { maxLength: 5 },
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: ["threadId", "role", "content"] },
  )
  .map((given) => given as unknown as CanonicalMessage);

describe("canonical form", () => {
  it("gives a message of Parley's own form back unchanged", () => {
    fc.assert(
      fc.property(ownMessage, (message) => {
        expect(fromCanonical(toCanonical(message))).toStrictEqual([message]);
      }),
    );
  });

  it("gives a stored message of Parley's own form back unchanged", () => {
    fc.assert(
      fc.property(ownMessage, (message) => {
        const canonical = toCanonical(message);
        expect(fromCanonical(canonical).map((again) => toCanonical(again))).toStrictEqual([canonical]);
      }),
    );
  });

  it("survives a database that keeps JSON without the order of its keys", () => {
    fc.assert(
      fc.property(ownMessage, (message) => {
        const canonical = toCanonical(message);
        const content = JSON.parse(throughJsonb(JSON.stringify(canonical.content))) as MessageContentV2;
        expect(fromCanonical({ ...canonical, content })).toEqual([message]);
      }),
    );
  });

  it("keeps the text of calls and results, and no value that could differ from it", () => {
    fc.assert(
      fc.property(awkwardJson, awkwardJson, (argumentsText, resultText) => {
        const { content } = toCanonical(
          normalizeMessage({
            id: "m",
            conversationId: "c",
            role: "assistant",
            createdAt: new Date(0),
            content: [
              { type: "tool-call", name: "add", arguments: null, argumentsText, toolCallId: "x" },
              { type: "tool-result", name: "add", result: null, resultText, toolCallId: "x" },
            ],
          }),
        );
        expect(content.parts).toStrictEqual([
          {
            type: "tool-invocation",
            toolCallId: "x",
            toolName: "add",
            argsText: argumentsText,
            state: "call",
          },
          {
            type: "tool-invocation",
            toolCallId: "x",
            toolName: "add",
            resultText,
            state: "result",
            isError: false,
          },
        ]);
      }),
    );
  });

  it("stores a foreign message as its normal form", () => {
    fc.assert(
      fc.property(foreignMessage, (message) => {
        expect(fromCanonical(toCanonical(message))).toStrictEqual([normalizeMessage(message)]);
      }),
    );
  });

  it("reads anything as messages of the own form, the same ones every time", () => {
    fc.assert(
      fc.property(anyStored, (canonical) => {
        const once = fromCanonical(canonical);
        expect(once.length).toBeGreaterThan(0);
        expect(once.every(isOwnMessage)).toBe(true);
        expect(new Set(once.map((message) => message.id)).size).toBe(once.length);
        expect(fromCanonical(canonical)).toStrictEqual(once);
        expect(once.flatMap((message) => fromCanonical(toCanonical(message)))).toStrictEqual(once);
      }),
    );
  });

  it("names the owner: the given one before the message's own", () => {
    const [message] = fromCanonical(stored(parts({ type: "text", text: "x" }), { resourceId: "mine" }));
    expect(message?.resourceId).toBe("mine");
    if (message === undefined) return;
    expect(toCanonical(message).resourceId).toBe("mine");
    expect(toCanonical(message, { resourceId: "theirs" }).resourceId).toBe("theirs");
  });
});

describe("messageTypeOf", () => {
  const text = { type: "text", text: "x" } as const;
  const call = { type: "tool-call", name: "n", arguments: {} } as const;
  const result = { type: "tool-result", name: "n", result: 1 } as const;
  const error = { type: "error", message: "m" } as const;

  it.each([
    ["text", [text], undefined],
    ["text", [text, call], undefined],
    ["tool", [call, call], undefined],
    ["tool", [result], undefined],
    ["event", [error], undefined],
    ["text", [text, error], undefined],
    ["event", [text], { compaction: { fromSeq: 1, toSeq: 4 } }],
    ["text", [text], { compaction: true }],
    ["text", [], undefined],
  ])("is %s for %j with metadata %j", (type, content, metadata) => {
    expect(messageTypeOf({ content, ...(metadata === undefined ? {} : { metadata }) })).toBe(type);
  });
});

describe("messages of other writers", () => {
  const merged = (id: string, extra: object = {}) => ({
    type: "tool-invocation",
    toolCallId: id,
    toolName: "add",
    args: { a: 1 },
    result: { sum: 2 },
    state: "result",
    ...extra,
  });

  it("splits a merged call and result into an assistant and a tool message", () => {
    const messages = fromCanonical(stored(parts({ type: "text", text: "Let me add." }, merged("x"))));
    expect(messages).toStrictEqual([
      {
        id: "m1",
        conversationId: "c1",
        role: "assistant",
        createdAt: new Date(0),
        content: [
          { type: "text", text: "Let me add." },
          { type: "tool-call", name: "add", arguments: { a: 1 }, argumentsText: '{"a":1}', toolCallId: "x" },
        ],
      },
      {
        id: "m1:1",
        conversationId: "c1",
        role: "tool",
        createdAt: new Date(0),
        content: [
          {
            type: "tool-result",
            name: "add",
            result: { sum: 2 },
            resultText: '{"sum":2}',
            toolCallId: "x",
            isError: false,
          },
        ],
      },
    ]);
  });

  it("reads a merged call without arguments as a call with none", () => {
    const bare = {
      type: "tool-invocation",
      toolCallId: "x",
      toolName: "now",
      result: "noon",
      state: "result",
    };
    const [assistant, tool] = fromCanonical(stored(parts(bare)));
    expect(assistant?.content).toEqual([
      { type: "tool-call", name: "now", arguments: {}, argumentsText: "{}", toolCallId: "x" },
    ]);
    expect(tool?.content).toMatchObject([{ type: "tool-result", toolCallId: "x", resultText: "noon" }]);
  });

  it("keeps calls that were made together together, and what was said after their results behind them", () => {
    const content = parts(merged("x"), merged("y"), { type: "text", text: "Both done." }, merged("z"));
    expect(shapeOf(fromCanonical(stored(content)))).toEqual([
      { id: "m1", role: "assistant", types: ["tool-call", "tool-call"] },
      { id: "m1:1", role: "tool", types: ["tool-result", "tool-result"] },
      { id: "m1:2", role: "assistant", types: ["text", "tool-call"] },
      { id: "m1:3", role: "tool", types: ["tool-result"] },
    ]);
  });

  it("leaves the origin on every assistant message of a split, and the provider's metadata on the first", () => {
    const metadata = { origin: { provider: "acme", model: "m" } };
    const providerMetadata = { acme: { id: "resp_1" } };
    const content = { ...parts(merged("x"), { type: "text", text: "." }), metadata, providerMetadata };
    const messages = fromCanonical(stored(content));
    expect(messages.map((message) => message.metadata)).toEqual([metadata, undefined, metadata]);
    expect(messages.map((message) => message.providerMetadata)).toEqual([
      providerMetadata,
      undefined,
      undefined,
    ]);
  });

  it("does not take an unfinished call for a call, and keeps it", () => {
    const unfinished = { ...merged("x", { state: "partial-call", args: { a: "1" } }), result: undefined };
    expect(fromCanonical(stored(parts(unfinished)))[0]?.content).toEqual([
      { type: "metadata", data: unfinished },
    ]);
  });

  it("reads a result in a tool message as a result alone", () => {
    const messages = fromCanonical(stored(parts(merged("x")), { role: "tool" }));
    expect(shapeOf(messages)).toEqual([{ id: "m1", role: "tool", types: ["tool-result"] }]);
  });

  it("uses the convenience text only where no part is text", () => {
    const textOf = (content: unknown) => fromCanonical(stored(content))[0]?.content;
    expect(textOf({ format: 2, parts: [], content: "hello" })).toEqual([{ type: "text", text: "hello" }]);
    expect(textOf({ ...parts({ type: "text", text: "hi" }), content: "hello" })).toEqual([
      { type: "text", text: "hi" },
    ]);
    expect(textOf("just a string")).toEqual([{ type: "text", text: "just a string" }]);
    expect(textOf(null)).toEqual([{ type: "text", text: "" }]);
  });

  it("keeps details of reasoning, unknown kinds and unknown fields through a round trip", () => {
    const canonical = stored(
      {
        ...parts(
          { type: "reasoning", reasoning: "hm", details: [{ signature: "s" }] },
          { type: "step-start", at: 3 },
          { type: "file", data: new Uint8Array([104, 105]), mimeType: "text/plain" },
        ),
        experimental: { a: 1 },
      },
      { vendorColumn: 7 } as object,
    );
    const [message] = fromCanonical(canonical);
    expect(message).toMatchObject({ experimental: { a: 1 }, vendorColumn: 7 });
    expect(message?.content).toEqual([
      { type: "reasoning", text: "hm", details: [{ signature: "s" }] },
      { type: "metadata", data: { type: "step-start", at: 3 } },
      { type: "file", data: "aGk=", mediaType: "text/plain" },
    ]);
    if (message === undefined) return;
    expect(fromCanonical(toCanonical(message))).toStrictEqual([message]);
  });
});
