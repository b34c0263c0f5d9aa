import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";
import { jsonText } from "@parley/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistory } from "../anthropic/request/histories.test-support.js";
import { toRequest as toMessagesRequest } from "../anthropic/request/to-request.js";
import { type ChatDialect, toChatRequest } from "../openai/chat/chat-to-request.js";
import { toInputMessages } from "../openai/responses/input-parts.js";
import { toRequest as toResponsesRequest } from "../openai/responses/to-request.js";
import { LoweredHistories } from "./lowered-history.js";
import { anyMessages, reader } from "./provider-message-arbitrary.test-support.js";

const dialect: ChatDialect = {
  includeUsage: true,
  maxTokensField: "max_tokens",
  effortParams: () => undefined,
  replayReasoning: "reasoning_content",
  sendsImages: true,
  sendsFiles: true,
  sendsCacheKey: true,
  takesOutput: true,
};
const tools = [{ name: "add", description: "adds", schema: { type: "object" } }];

interface Lowered {
  readonly body: object;
  readonly unsendable?: readonly unknown[];
}
type Lower = (params: ProviderCallParams) => Lowered;

/** Each adapter's lowering with a store of histories, and without one. */
const adapters: Record<string, (isKept: boolean) => Lower> = {
  "openai responses": (isKept) => {
    const kept = isKept ? { histories: new LoweredHistories<never, never>() } : {};
    return ({ messages, extraParams = {} }) =>
      toResponsesRequest(
        { model: reader.model, input: toInputMessages(messages), extraParams },
        { reader, ...(kept as object) },
      );
  },
  "openai chat": (isKept) => {
    const histories = isKept ? new LoweredHistories<never, never>() : undefined;
    return (params) => toChatRequest(params, reader, dialect, histories as never);
  },
  anthropic: (isKept) => {
    const kept = isKept ? { histories: new LoweredHistories<never, never>() } : {};
    return (params) =>
      toMessagesRequest(params, { reader, cache: { type: "ephemeral" }, ...(kept as object) });
  },
};

function textOf(body: object): string {
  return jsonText in body ? (body as { [jsonText](): string })[jsonText]() : JSON.stringify(body);
}

function frozen(message: ProviderMessage): ProviderMessage {
  for (const part of message.content) Object.freeze(part);
  Object.freeze(message.content);
  return Object.freeze(message);
}

const callParams = (messages: ProviderMessage[], extra: Partial<ProviderCallParams> = {}) => ({
  messages,
  metadata: { provider: reader.provider, model: reader.model },
  ...extra,
});

const instructions = (text: string): ProviderMessage => ({
  role: "system",
  content: [{ type: "text", text }],
});

/** A healthy step: messages that a turn adds to a conversation, in every shape that the runtime sends. */
const step: fc.Arbitrary<ProviderMessage[]> = fc
  .record({
    kind: fc.constantFrom("user", "assistant", "call", "two calls", "note", "image", "pair"),
    id: fc.constantFrom("call_0", "call_1", "a".repeat(80), "x y"),
    text: fc.constantFrom("hi", "", " ", "🙂", "\ud800", "a longer text"),
    itemId: fc.constantFrom("rs_1", "rs_2", "rs_3"),
    argumentsText: fc.constantFrom("{}", '{"a":1}', "[1]", "{cut"),
  })
  .map(({ kind, id, text, itemId, argumentsText }): ProviderMessage[] => {
    const said = { type: "text" as const, text };
    const thought = {
      type: "reasoning" as const,
      text: "sum",
      providerMetadata: { openai: { id: itemId, encryptedContent: "E" }, anthropic: { signature: "s" } },
    };
    const call = (toolCallId: string) => ({
      type: "tool-call" as const,
      name: "add",
      arguments: {},
      argumentsText,
      toolCallId,
    });
    const result = (toolCallId: string) => ({
      type: "tool-result" as const,
      name: "add",
      result: text,
      resultText: text,
      isError: text === "",
      toolCallId,
    });
    switch (kind) {
      case "user":
        return [{ role: "user", content: [said] }];
      case "image":
        return [
          { role: "user", content: [said, { type: "file", mediaType: "image/png", data: "aGk=" }] },
          { role: "user", content: [{ type: "file", mediaType: "application/pdf", data: "aGk=" }] },
        ];
      case "assistant":
        return [{ role: "assistant", origin: reader, content: [thought, said] }];
      case "call":
        return [
          { role: "assistant", origin: reader, content: [thought, call(id)] },
          { role: "tool", content: [result(id)] },
        ];
      case "two calls":
        return [
          { role: "assistant", content: [said, call(id), call(`${id}2`)] },
          { role: "tool", content: [result(id)] },
          { role: "tool", content: [result(`${id}2`)] },
        ];
      case "pair":
        return [
          { role: "user", content: [{ type: "text", text: "question" }] },
          { role: "assistant", content: [{ type: "text", text: "answer" }] },
        ];
      default:
        return [{ role: "system", content: [said] }];
    }
  });

/** A change between two requests of a conversation. */
const change = fc.oneof(
  { weight: 40, arbitrary: step.map((added) => ({ kind: "add" as const, added })) },
  { weight: 2, arbitrary: anyMessages.map((added) => ({ kind: "add" as const, added })) },
  { weight: 1, arbitrary: anyHistory.map((added) => ({ kind: "add" as const, added })) },
  { weight: 1, arbitrary: fc.nat(4).map((count) => ({ kind: "undo" as const, count })) },
  { weight: 1, arbitrary: fc.nat(3).map((count) => ({ kind: "forget" as const, count })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("A", "B", "").map((text) => ({ kind: "instruct" as const, text })),
  },
);

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Yields the requests of a conversation with these changes. */
function* requestsOf(changes: readonly Change[]): Generator<ProviderMessage[]> {
  let messages: ProviderMessage[] = [];
  let head = "A";
  for (const each of changes) {
    if (each.kind === "add") messages = [...messages, ...each.added.map(frozen)];
    else if (each.kind === "undo") messages = messages.slice(0, Math.max(0, messages.length - each.count));
    else if (each.kind === "forget") messages = messages.slice(each.count);
    else head = each.text;
    yield head === "" ? [...messages] : [instructions(head), ...messages];
  }
}

describe.each(Object.entries(adapters))("the requests of a growing conversation, %s", (_, adapter) => {
  it("are the same bytes as without the state kept of earlier ones", () => {
    let settled = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 4, maxLength: 30 }), fc.boolean(), (changes, hasTools) => {
        const [kept, plain] = [adapter(true), adapter(false)];
        for (const messages of requestsOf(changes)) {
          const params = callParams(messages, hasTools ? { tools } : {});
          const [own, other] = [kept(params), plain(params)];
          if (jsonText in own.body) settled += 1;
          expect(textOf(own.body)).toBe(JSON.stringify(other.body));
          expect({ ...own.body }).toEqual(JSON.parse(JSON.stringify(other.body)));
          expect(own.unsendable).toEqual(other.unsendable);
        }
      }),
      { numRuns: 300 },
    );
    // The property is meaningless unless many requests continue earlier ones.
    expect(settled).toBeGreaterThan(500);
  });

  it("serialize only what is new", () => {
    const lower = adapter(true);
    const messages: ProviderMessage[] = [instructions("A")];
    let reads = 0;
    const add = (n: number) => {
      for (const role of ["user", "assistant"] as const) {
        const part = { type: "text" as const };
        Object.defineProperty(part, "text", {
          enumerable: true,
          get: () => {
            reads += 1;
            return `text ${n}`;
          },
        });
        messages.push(frozen({ role, content: [part as never] }));
      }
    };
    for (let n = 0; n < 500; n += 1) add(n);
    textOf(lower(callParams([...messages])).body);
    add(500);
    reads = 0;
    const text = textOf(lower(callParams([...messages])).body);
    expect(text.split("text 0").length).toBeGreaterThan(2);
    expect(reads).toBeLessThan(100);
  });

  it("leave a list of the caller's own unchanged", () => {
    const lower = adapter(true);
    const messages = Array.from({ length: 20 }, (_, n) =>
      frozen({ role: n % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text: `${n}` }] }),
    );
    const own = [{ role: "user", content: "mine" }];
    lower(callParams([...messages]));
    const { body } = lower(callParams([...messages], { extraParams: { messages: own, input: own } }));
    expect(textOf(body)).toBe(JSON.stringify(body));
    expect(textOf(body)).toContain('[{"role":"user","content":"mine"}]');
  });
});
