import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderCallResult, ProviderMessage, ProviderStreamEvent } from "@parley/core/ports";
import { Assembly } from "@parley/core/turn";
import { type ChatAnswer, chatChunk, chatChunks, validateChatRequest } from "@parley/testing/openai";
import { describe, expect, it } from "vitest";
import { reader } from "../../call/provider-message-arbitrary.test-support.js";
import { createToolNames } from "../../call/tool-names.js";
import type { ChatChunk } from "./chat-api-types.js";
import { createChatFold } from "./chat-from-stream.js";
import { toChatRequest } from "./chat-to-request.js";

function fold(
  chunks: readonly object[],
  marked = true,
  acceptUnmarkedEnd = false,
  thinkTags: boolean | "opened" = false,
): ProviderStreamEvent[] {
  const made = createChatFold({
    provider: "local",
    origin: reader,
    names: createToolNames([]),
    acceptUnmarkedEnd,
    startedAt: new Date(5),
    thinkTags,
  });
  const said = chunks.flatMap((chunk) => [...made.push(chunk as ChatChunk)]);
  return [...said, ...made.end({ marked })];
}

function resultOf(chunks: readonly object[], marked = true): ProviderCallResult {
  const last = fold(chunks, marked).at(-1);
  if (last?.type !== "done") throw new Error(`ended with ${last?.type}`);
  return last.result;
}

const callsOf = (chunks: readonly object[]) =>
  resultOf(chunks).toolCalls?.map(({ id, name, argumentsText }) => [id, name, argumentsText]);
const piece = (call: object) => chatChunk({ tool_calls: [call] });

const whole: ChatAnswer = {
  reasoning: "I should add these.",
  text: "Let me add.",
  calls: [
    { name: "add", arguments: '{"a":1,"b":2}' },
    { name: "search", arguments: '{"q":"x"}' },
  ],
};

describe("the fold of a chat completion", () => {
  it("keeps reasoning, text and calls in order, with usage", () => {
    for (const reasoningField of ["reasoning_content", "reasoning"] as const) {
      const result = resultOf(chatChunks({ ...whole, reasoningField }));
      expect(result.message.content).toEqual([
        { type: "reasoning", text: "I should add these." },
        { type: "text", text: "Let me add." },
        {
          type: "tool-call",
          toolCallId: "call_0",
          name: "add",
          arguments: { a: 1, b: 2 },
          argumentsText: '{"a":1,"b":2}',
        },
        {
          type: "tool-call",
          toolCallId: "call_1",
          name: "search",
          arguments: { q: "x" },
          argumentsText: '{"q":"x"}',
        },
      ]);
      expect(result).toMatchObject({
        id: "chatcmpl-1",
        createdAt: new Date(1_763_200_000_000),
        finishReason: "tool-calls",
        usage: {
          inputTokens: 50,
          outputTokens: 20,
          totalTokens: 70,
          cacheReadTokens: 40,
          reasoningTokens: 8,
        },
      });
    }
  });

  it.each([
    ["[DONE] alone", [chatChunk({ content: "hi" })], true],
    ["a finish reason alone", [chatChunk({ content: "hi" }), chatChunk({}, "stop")], false],
    ["a finish reason with the last piece", [chatChunk({ content: "hi" }, "stop")], false],
  ])("treats an answer as complete after %s", (_, chunks, marked) => {
    expect(resultOf(chunks, marked)).toMatchObject({ finishReason: "stop" });
  });

  it("treats one that ends with neither as cut, unless configured otherwise", () => {
    const chunks = [chatChunk({ content: "hi" })];
    expect(fold(chunks, false).map(({ type }) => type)).toEqual(["delta"]);
    expect(fold(chunks, false, true).at(-1)?.type).toBe("done");
    expect(fold([], false, true)).toEqual([]);
  });

  it("does without ids, dates, usage, roles and content", () => {
    const bare = [
      { choices: [{ delta: { content: null } }] },
      { choices: [{ delta: null }] },
      { choices: [] },
      { choices: null },
      {},
      { choices: [{ delta: { content: "hi" } }] },
      { choices: [{ finish_reason: "stop" }] },
    ];
    const result = resultOf(bare, false);
    expect(result).toMatchObject({ createdAt: new Date(5), finishReason: "stop" });
    expect(result.id).not.toBe("");
    expect(result.usage).toBeUndefined();
    expect(result.message.content).toEqual([{ type: "text", text: "hi" }]);
  });

  it("assembles calls by index, whatever else a server sends or omits", () => {
    const fn = (name: string, args = "") => ({ name, arguments: args });
    // The id repeated in every piece.
    expect(
      callsOf([
        piece({ index: 0, id: "a", function: fn("add") }),
        piece({ index: 0, id: "a", function: { arguments: "{}" } }),
      ]),
    ).toEqual([["a", "add", "{}"]]);
    // The name repeated in every piece.
    expect(
      callsOf([
        piece({ index: 0, id: "a", function: fn("add", "{") }),
        piece({ index: 0, id: "a", function: fn("add", "}") }),
      ]),
    ).toEqual([["a", "add", "{}"]]);
    // Interleaved.
    expect(
      callsOf([
        piece({ index: 0, id: "a", function: fn("add") }),
        piece({ index: 1, id: "b", function: fn("sub") }),
        piece({ index: 0, function: { arguments: '{"x":' } }),
        piece({ index: 1, function: { arguments: "{}" } }),
        piece({ index: 0, function: { arguments: "1}" } }),
      ]),
    ).toEqual([
      ["a", "add", '{"x":1}'],
      ["b", "sub", "{}"],
    ]);
    // Whole calls in one chunk, all with the same index.
    expect(
      callsOf([
        chatChunk({
          tool_calls: [
            { index: 0, id: "a", function: fn("add", "{}") },
            { index: 0, id: "b", function: fn("add", "{}") },
          ],
        }),
      ]),
    ).toEqual([
      ["a", "add", "{}"],
      ["b", "add", "{}"],
    ]);
    // Neither index nor id; arguments as an object.
    const made = callsOf([
      piece({ function: { name: "add", arguments: { a: 1 } } }),
      piece({ function: fn("sub", "{") }),
      piece({ function: { arguments: "}" } }),
    ]);
    expect(made?.map((call) => call.slice(1))).toEqual([
      ["add", '{"a":1}'],
      ["sub", "{}"],
    ]);
    expect(new Set(made?.map(([id]) => id)).size).toBe(2);
  });

  it("emits the arguments of a call as they arrive, under the id that the call keeps", () => {
    const events = fold([
      piece({ index: 0, function: { arguments: '{"a"' } }),
      piece({ index: 0, id: "late", function: { name: "add", arguments: ":1}" } }),
      chatChunk({}, "tool_calls"),
    ]);
    expect(events[0]).toEqual({
      type: "tool-input-delta",
      toolCallId: "late",
      name: "add",
      inputTextDelta: '{"a":1}',
    });
    expect(events[1]).toMatchObject({ type: "tool-call", toolCall: { id: "late" } });
  });

  it("never returns a call that the token limit cut", () => {
    const chunks = [
      piece({ index: 0, id: "a", function: { name: "add", arguments: '{"a":' } }),
      chatChunk({}, "length"),
    ];
    expect(resultOf(chunks)).toMatchObject({ finishReason: "length", message: { content: [] } });
  });

  it.each([
    ["length", "length"],
    ["content_filter", "content-filter"],
    ["stop", "stop"],
    ["eos", "stop"],
  ])("reads the finish reason %s as %s", (given, reason) => {
    expect(resultOf([chatChunk({ content: "x" }, given)]).finishReason).toBe(reason);
  });

  it("keeps the cost that the server reports, and the tokens written to its cache", () => {
    const details = { cached_tokens: 2, cache_write_tokens: 1 };
    const usage = { prompt_tokens: 4, completion_tokens: 4, prompt_tokens_details: details, cost: 0.002 };
    const events = fold([chatChunk({ content: "x" }, "stop"), { usage, choices: [] }]);
    const billed = { amount: 0.002, currency: "USD" };
    expect(events.find(({ type }) => type === "usage")).toMatchObject({
      billed,
      usage: { inputTokens: 4, cacheReadTokens: 2, cacheWriteTokens: 1 },
    });
    expect(events.at(-1)).toMatchObject({ type: "done", result: { billed } });
  });

  it("finds usage where servers put it", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4, prompt_cache_hit_tokens: 2 };
    for (const chunk of [{ usage, choices: [] }, { x_groq: { usage } }]) {
      expect(resultOf([chatChunk({ content: "x" }, "stop"), chunk]).usage).toEqual({
        inputTokens: 3,
        outputTokens: 4,
        cacheReadTokens: 2,
      });
    }
  });

  it.each([
    [{ error: { code: "rate_limit_exceeded", message: "m" } }, "rate_limited"],
    [
      { error: { code: 502, message: "m" }, choices: [{ finish_reason: "error", delta: {} }] },
      "provider_overloaded",
    ],
    [{ error: { code: 429, message: "m" } }, "rate_limited"],
    [{ error: { code: "402", message: "m" } }, "quota_exceeded"],
    [{ error: "overloaded" }, "provider_rejected"],
    [{ error: { type: "exceed_context_size_error", code: 400, message: "m" } }, "context_overflow"],
  ])("turns %j in the stream into %s", (chunk, code) => {
    const last = fold([chatChunk({ content: "x" }), chunk]).find(({ type }) => type === "error");
    expect(last?.type === "error" && last.error.code).toBe(code);
  });

  it("lowers to a valid request when it was cut after any chunk", () => {
    const chunks = chatChunks(whole);
    for (let cut = 0; cut <= chunks.length; cut += 1) {
      const assembly = new Assembly();
      for (const event of fold(chunks.slice(0, cut), false)) assembly.apply(event);
      const parts: MessageContentPart[] = cut === chunks.length ? assembly.finish() : assembly.partial();
      const messages: ProviderMessage[] = [
        { role: "user", content: [{ type: "text", text: "go" }] },
        { role: "assistant", origin: reader, content: parts },
        { role: "user", content: [{ type: "text", text: "again" }] },
      ];
      const { body } = toChatRequest({ messages, metadata: reader }, reader, {
        includeUsage: true,
        maxTokensField: "max_tokens",
        effortParams: () => undefined,
        replayReasoning: "reasoning_content",
        sendsImages: true,
        sendsFiles: false,
        sendsCacheKey: false,
        takesOutput: false,
      });
      expect(validateChatRequest(body), `cut at ${cut}`).toEqual([]);
    }
  });
});

describe("reasoning in tags", () => {
  const said = (answer: ChatAnswer, thinkTags: boolean | "opened" = true) => {
    const events = fold(chatChunks(answer), true, false, thinkTags);
    const assembly = new Assembly();
    for (const event of events) if (event.type !== "error") assembly.apply(event);
    const last = events.at(-1);
    if (last?.type !== "done") throw new Error(`ended with ${last?.type}`);
    // The visible content is the content that is kept.
    expect(assembly.partial()).toEqual(last.result.message.content);
    const parts = last.result.message.content as { type: string; text?: string; name?: string }[];
    return parts.map(({ type, text, name }) => [type, text ?? name]);
  };
  const tagged = "<think>\nI should add.\n</think>\n\nIt is 3.";

  it("is a separate part, and streamed as such", () => {
    expect(said({ text: tagged })).toEqual([
      ["reasoning", "I should add."],
      ["text", "It is 3."],
    ]);
    const events = fold(chatChunks({ text: tagged }), true, false, true);
    const deltas = events.flatMap((event) => (event.type === "reasoning-delta" ? [event.textDelta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(said({ text: "I should add.</think>It is 3." }, "opened")).toEqual([
      ["reasoning", "I should add."],
      ["text", "It is 3."],
    ]);
  });

  it("is text if tags are not enabled, and if the server has a field for reasoning", () => {
    expect(said({ text: tagged }, false)).toEqual([["text", tagged]]);
    expect(said({ reasoning: "Hm.", text: tagged })).toEqual([
      ["reasoning", "Hm."],
      ["text", tagged],
    ]);
  });

  it("ends with a call, whether or not its tag was closed", () => {
    const calls = [{ name: "add", arguments: "{}" }];
    for (const text of ["<think>I add. </think>\n", "<think>I add."]) {
      expect(said({ text, calls })).toEqual([
        ["reasoning", "I add."],
        ["tool-call", "add"],
      ]);
    }
    expect(said({ text: "<thi", calls })).toEqual([
      ["text", "<thi"],
      ["tool-call", "add"],
    ]);
  });
});
