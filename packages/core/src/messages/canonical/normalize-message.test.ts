import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../message.js";
import { anyHistory, foreignMessage, ownMessage } from "../message-arbitrary.test-support.js";
import { isOwnMessage, normalizeMessage, normalizeMessages, ownMessages } from "./normalize-message.js";

function foreign(fields: object): ConversationMessage {
  return {
    id: "m1",
    conversationId: "c1",
    role: "assistant",
    createdAt: new Date(0),
    ...fields,
  } as ConversationMessage;
}

const call = (name: string, extra: object = {}) => ({
  type: "tool-call",
  name,
  arguments: { a: 1 },
  ...extra,
});
const result = (name: string, value: unknown, extra: object = {}) => ({
  type: "tool-result",
  name,
  result: value,
  ...extra,
});

describe("normalizeMessage", () => {
  it("is the identity on Parley's own form", () => {
    fc.assert(
      fc.property(ownMessage, (message) => void expect(normalizeMessage(message)).toStrictEqual(message)),
    );
  });

  it("is idempotent and total on any input, and always gives the own form", () => {
    fc.assert(
      fc.property(foreignMessage, (message) => {
        const once = normalizeMessage(message);
        expect(isOwnMessage(once)).toBe(true);
        expect(normalizeMessage(once)).toStrictEqual(once);
      }),
    );
  });

  it("keeps the order and number of parts and every unknown field", () => {
    fc.assert(
      fc.property(foreignMessage, (message) => {
        const content: unknown = message.content;
        const parts = Array.isArray(content) ? content.length : 1;
        const normalized = normalizeMessage(message);
        expect(normalized.content).toHaveLength(Math.max(1, parts));
        expect((normalized as { "x-foreign"?: unknown })["x-foreign"]).toStrictEqual(
          (message as { "x-foreign"?: unknown })["x-foreign"],
        );
      }),
    );
  });

  it("gives a call its text and an id that depends on its place alone", () => {
    const message = foreign({ content: [call("add"), call("add")] });
    const [first, second] = normalizeMessage(message).content;
    expect(first).toMatchObject({
      type: "tool-call",
      name: "add",
      arguments: { a: 1 },
      argumentsText: '{"a":1}',
    });
    expect(first).toHaveProperty("toolCallId", expect.stringMatching(/^call_[0-9a-f]{16}$/));
    expect(second).not.toHaveProperty("toolCallId", (first as { toolCallId: string }).toolCallId);
    expect(normalizeMessage(message).content[0]).toStrictEqual(first);
  });

  it("lets the text win over a value that contradicts it", () => {
    const [part] = normalizeMessage(
      foreign({ content: [call("add", { argumentsText: '{"a":2.0}', toolCallId: "x" })] }),
    ).content;
    expect(part).toMatchObject({ arguments: { a: 2 }, argumentsText: '{"a":2.0}' });
  });

  it("reads a plain string as text and a message without parts as one empty text", () => {
    expect(normalizeMessage(foreign({ content: "hi" })).content).toEqual([{ type: "text", text: "hi" }]);
    expect(normalizeMessage(foreign({ content: [] })).content).toEqual([{ type: "text", text: "" }]);
    expect(normalizeMessage(foreign({})).content).toEqual([{ type: "text", text: "" }]);
  });

  it("keeps a part of an unknown kind, and one that is not what it claims, whole as metadata", () => {
    const hologram = { type: "hologram", rays: [1, 2] };
    const numeric = { type: "text", text: 7 };
    expect(normalizeMessage(foreign({ content: [hologram, numeric] })).content).toEqual([
      { type: "metadata", data: hologram },
      { type: "metadata", data: numeric },
    ]);
  });

  it("turns the bytes of a file into base64 and sorts out addresses in its data", () => {
    const content = [
      { type: "file", mediaType: "image/png", data: new Uint8Array([104, 105]) },
      { type: "file", data: "data:image/gif;base64,R0lG" },
      { type: "file", mediaType: "image/png", data: "https://example.com/a.png" },
      { type: "file", mediaType: "image/png" },
    ];
    expect(normalizeMessage(foreign({ content })).content).toEqual([
      { type: "file", mediaType: "image/png", data: "aGk=" },
      { type: "file", mediaType: "image/gif", data: "R0lG" },
      { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
      { type: "file", mediaType: "image/png", data: "" },
    ]);
  });

  it("encodes files larger than one call can take arguments", () => {
    const bytes = new Uint8Array(300_000).fill(0xff);
    const [part] = normalizeMessage(
      foreign({ content: [{ type: "file", mediaType: "application/x", data: bytes }] }),
    ).content;
    expect(part).toHaveProperty("data", "/".repeat(400_000));
  });

  it("takes roles and dates of other systems", () => {
    const message = normalizeMessage(
      foreign({ role: "developer", createdAt: "2026-01-02T03:04:05.000Z", content: "x" }),
    );
    expect(message).toMatchObject({ role: "system", metadata: { role: "developer" } });
    expect(message.createdAt).toEqual(new Date("2026-01-02T03:04:05.000Z"));
    expect(normalizeMessage(foreign({ createdAt: "never", content: "x" })).createdAt).toEqual(new Date(0));
  });
});

describe("normalizeMessages", () => {
  const history = (calls: object[], results: object[]) => [
    foreign({ id: "a", content: calls }),
    foreign({ id: "t", role: "tool", content: results }),
  ];
  const ids = (messages: ConversationMessage[]) =>
    messages.map((message) => message.content.map((part) => (part as { toolCallId?: string }).toolCallId));

  it("pairs a result without an id with the only call that it can mean", () => {
    const [[search, add] = [], results = []] = ids(
      normalizeMessages(history([call("search"), call("add")], [result("add", 2), result("search", "x")])),
    );
    expect(results).toEqual([add, search]);
  });

  it("pairs several calls of one tool in order when there are as many results", () => {
    const [calls, results] = ids(
      normalizeMessages(history([call("add"), call("add")], [result("add", 1), result("add", 2)])),
    );
    expect(results).toEqual(calls);
  });

  it("does not guess when calls of one tool and results differ in number", () => {
    const [calls = [], results = []] = ids(
      normalizeMessages(history([call("add"), call("add")], [result("add", 1)])),
    );
    expect(calls).not.toContain(results[0]);
    expect(results[0]).toMatch(/^stray_/);
  });

  it("leaves out calls that a result with an id has answered", () => {
    const [calls = [], results = []] = ids(
      normalizeMessages(
        history(
          [call("add", { toolCallId: "one" }), call("add", { toolCallId: "two" })],
          [result("add", 1, { toolCallId: "one" }), result("add", 2)],
        ),
      ),
    );
    expect([calls, results]).toEqual([
      ["one", "two"],
      ["one", "two"],
    ]);
  });

  it("reaches for the nearest message before the result, never a later one", () => {
    const [first, stray, second, answer] = ids(
      normalizeMessages([
        foreign({ id: "t0", role: "tool", content: [result("add", 0)] }),
        foreign({ id: "a1", content: [call("add")] }),
        foreign({ id: "a2", content: [call("add")] }),
        foreign({ id: "t2", role: "tool", content: [result("add", 2)] }),
      ]),
    );
    expect(first?.[0]).toMatch(/^stray_/);
    expect(answer).toEqual(second);
    expect(answer).not.toEqual(stray);
  });

  it("gives two equal messages without ids different ones", () => {
    const [one, two] = normalizeMessages([
      foreign({ id: undefined, content: "ok" }),
      foreign({ id: undefined, content: "ok" }),
    ]);
    expect(one?.id).not.toBe(two?.id);
  });

  it("returns a history of the own form as it is when only its shape is asked for", () => {
    fc.assert(fc.property(anyHistory, (messages) => void expect(ownMessages(messages)).toBe(messages)));
  });

  it("is idempotent on histories of foreign messages", () => {
    fc.assert(
      fc.property(fc.array(foreignMessage, { maxLength: 5 }), (messages) => {
        const once = normalizeMessages(messages);
        expect(normalizeMessages(once)).toStrictEqual(once);
      }),
    );
  });
});
