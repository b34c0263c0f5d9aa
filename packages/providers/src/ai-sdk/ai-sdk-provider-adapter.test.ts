import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { isParleyError, type ParleyError } from "@parley/core/errors";
import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderCallParams, ProviderMessage, ProviderStreamEvent } from "@parley/core/ports";
import { resilientFetch } from "@parley/http";
import { type ProviderScenario, providerContract } from "@parley/testing";
import { called, finish, hangingAfter, type MockAnswer, mockModel, said } from "@parley/testing/ai-sdk";
import {
  type AnthropicServer,
  answer as claudeAnswer,
  text as claudeText,
  fail,
  redacted,
  type Answer as ServerAnswer,
  startAnthropicServer,
  stream,
  streamOpen,
  thinking,
  toolUse,
} from "@parley/testing/anthropic";
import {
  type AnswerItem,
  type AnswerScript,
  type OpenAIHttpServer,
  responsesEvents,
  startOpenAIHttpServer,
} from "@parley/testing/openai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AiSdkProviderAdapter } from "./ai-sdk-provider-adapter.js";

const open: (OpenAIHttpServer | AnthropicServer)[] = [];
const printed = [
  vi.spyOn(console, "error"),
  vi.spyOn(console, "warn"),
  vi.spyOn(console, "info"),
  vi.spyOn(console, "log"),
];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  const lines = printed.flatMap((spy) => spy.mock.calls.flat());
  for (const spy of printed) spy.mockClear();
  expect(lines, "nothing is printed").toEqual([]);
});

async function openai(script: AnswerScript, modelId = "gpt-5.5") {
  const server = await startOpenAIHttpServer(script);
  open.push(server);
  const model = createOpenAI({ apiKey: "sk-secret", baseURL: server.url }).responses(modelId);
  return { server, model, adapter: new AiSdkProviderAdapter({ model }) };
}

async function anthropic(script: ServerAnswer, modelId = "claude-opus-5") {
  const server = await startAnthropicServer(script);
  open.push(server);
  const model = createAnthropic({ apiKey: "test-key", baseURL: server.url }).messages(modelId);
  return { server, model, adapter: new AiSdkProviderAdapter({ model }) };
}

const hi: ProviderMessage = { role: "user", content: [{ type: "text", text: "hi" }] };
const params: ProviderCallParams = { messages: [hi], metadata: { provider: "", model: "" } };
const tools = [
  { name: "add", description: "Adds.", schema: { type: "object", properties: { a: { type: "number" } } } },
  { name: "search" },
];

async function read(adapter: AiSdkProviderAdapter, given: ProviderCallParams = params) {
  const events: ProviderStreamEvent[] = [];
  for await (const event of await adapter.completeStream(given)) events.push(event);
  return events;
}

async function failureOf(
  adapter: AiSdkProviderAdapter,
  given: ProviderCallParams = params,
): Promise<ParleyError> {
  const last = (await read(adapter, given)).at(-1);
  if (last?.type !== "error") throw new Error(`ended with ${last?.type}`);
  return last.error;
}

const contentOf = async (adapter: AiSdkProviderAdapter, given: ProviderCallParams = params) =>
  (await adapter.complete(given)).message.content as MessageContentPart[];

describe("the provider contract with a mock model", () => {
  const answers: Record<ProviderScenario, (left: () => void) => MockAnswer> = {
    text: () => [...said("t", "Hello ", "there"), finish()],
    tools: () => [
      ...called("c1", "add", '{"a":', "1}"),
      ...called("c2", "search", "{}"),
      finish("tool-calls"),
    ],
    reasoning: () => [
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-end", id: "r" },
      ...said("t", "ok"),
      finish(),
    ],
    refusing: () => () => {
      throw new Error("refused");
    },
    breaking: () => () =>
      new ReadableStream({
        start(controller) {
          for (const part of said("t", "Hel", "lo").slice(0, 3)) controller.enqueue(part);
        },
        pull: (controller) => controller.error(new TypeError("terminated")),
      }),
    hanging: (left) => hangingAfter(said("t", "Hel").slice(0, 2), left),
  };
  for (const { name, run } of providerContract((scenario) => {
    let onLeft = () => {};
    const left = new Promise<void>((resolve) => {
      onLeft = resolve;
    });
    return {
      provider: new AiSdkProviderAdapter({ model: mockModel(answers[scenario](() => onLeft())) }),
      params: { ...params, tools },
      ...(scenario === "hanging" ? { left } : {}),
    };
  })) {
    it(name, run);
  }
});

const spoken: AnswerItem[] = [{ type: "message", text: "Hello there, friend." }];
const thought: AnswerItem[] = [
  { type: "reasoning", summary: ["Hmm, let me see.", "And more."], encrypted: "ENC" },
  ...spoken,
];
const callsMade: AnswerItem[] = [
  { type: "function_call", name: "add", arguments: '{"a": 1.0}' },
  { type: "function_call", name: "search", arguments: "{}" },
];

/** Returns the events up to and including the second delta of the text. */
function upTo(items: readonly AnswerItem[]) {
  const events = responsesEvents(items);
  const places = events.flatMap(({ type }, index) => (type === "response.output_text.delta" ? [index] : []));
  return events.slice(0, (places[1] ?? 0) + 1);
}

describe("the provider contract with @ai-sdk/openai over HTTP", () => {
  const scripts: Record<ProviderScenario, AnswerScript> = {
    text: (answer) => void answer.send(responsesEvents(spoken)).then(answer.end),
    tools: (answer) => void answer.send(responsesEvents(callsMade)).then(answer.end),
    reasoning: (answer) => void answer.send(responsesEvents(thought)).then(answer.end),
    refusing: (answer) => answer.json(401, { error: { code: "invalid_api_key", message: "no" } }),
    breaking: (answer) => void answer.send(upTo(spoken)).then(answer.reset),
    hanging: (answer) => void answer.send(upTo(spoken)),
  };
  for (const { name, run } of providerContract(async (scenario) => {
    let onLeft = () => {};
    const left = new Promise<void>((resolve) => {
      onLeft = resolve;
    });
    const { adapter } = await openai((answer, call, n) => {
      void call.left.then(onLeft);
      return scripts[scenario](answer, call, n);
    });
    return { provider: adapter, params: { ...params, tools }, ...(scenario === "hanging" ? { left } : {}) };
  })) {
    it(name, run);
  }
});

describe("the provider contract with @ai-sdk/anthropic over HTTP", () => {
  const whole = claudeAnswer([claudeText("Hello ", "there")]);
  const scripts: Record<ProviderScenario, ServerAnswer> = {
    text: (response) => stream(response, whole),
    tools: (response) =>
      stream(
        response,
        claudeAnswer([toolUse("toolu_1", "add", '{"a":', "1}"), toolUse("toolu_2", "search", "{}")]),
      ),
    reasoning: (response) =>
      stream(response, claudeAnswer([thinking("SIG", "let me ", "see"), claudeText("ok")])),
    refusing: (response) => fail(response, 401, "authentication_error", "no"),
    breaking: async (response) => {
      await streamOpen(response, whole.slice(0, 5));
      response.socket?.resetAndDestroy();
    },
    hanging: async (response) => streamOpen(response, whole.slice(0, 5)),
  };
  for (const { name, run } of providerContract(async (scenario) => {
    let onLeft = () => {};
    const left = new Promise<void>((resolve) => {
      onLeft = resolve;
    });
    const { adapter } = await anthropic((response, request, n) => {
      void request.disconnected.then(onLeft);
      return scripts[scenario](response, request, n);
    });
    return { provider: adapter, params: { ...params, tools }, ...(scenario === "hanging" ? { left } : {}) };
  })) {
    it(name, run);
  }
});

describe("the model", () => {
  it("is never a name, which would go to a gateway over the network", () => {
    expect(() => new AiSdkProviderAdapter({ model: "openai/gpt-5.5" })).toThrowError(
      /is a name, not a model/,
    );
  });

  it("says what is missing where it is not a model at all", () => {
    expect(() => new AiSdkProviderAdapter({ model: {} as never })).toThrowError(/doStream/);
  });

  it("is the origin of its messages, unless the call names another", async () => {
    const adapter = new AiSdkProviderAdapter({ model: mockModel([...said("t", "x"), finish()]) });
    expect((await adapter.complete(params)).message.origin).toEqual({ provider: "mock", model: "mock-1" });
    const named = { ...params, metadata: { provider: "house", model: "fast" } };
    expect((await adapter.complete(named)).message.origin).toEqual({ provider: "house", model: "fast" });
  });

  it("of the version before works too", async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const model = {
      specificationVersion: "v2",
      provider: "old",
      modelId: "old-1",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("unused")),
      doStream: async () => ({
        stream: convertArrayToReadableStream([
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "hello" },
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: "stop", usage },
        ]),
      }),
    };
    const adapter = new AiSdkProviderAdapter({ model: model as never });
    const { message, finishReason } = await adapter.complete(params);
    expect(message.content).toEqual([{ type: "text", text: "hello" }]);
    expect(finishReason).toBe("stop");
    // The SDK's own message about models of that version, which it always prints.
    for (const spy of printed) spy.mockClear();
  });

  it("is asked once, whatever happens", async () => {
    let calls = 0;
    const { adapter } = await openai((answer) => {
      calls += 1;
      answer.json(503, { error: { message: "busy" } });
    });
    expect((await failureOf(adapter)).code).toBe("provider_overloaded");
    expect(calls).toBe(1);
  });

  it("is asked again where the host wants it, before the answer began", async () => {
    const { model, server } = await openai((answer, _call, n) => {
      if (n === 1) answer.json(503, { error: { message: "busy" } }, { "retry-after-ms": "1" });
      else void answer.send(responsesEvents(spoken)).then(answer.end);
    });
    const adapter = new AiSdkProviderAdapter({ model, maxRetries: 1 });
    expect(await contentOf(adapter)).toMatchObject([{ type: "text" }]);
    expect(server.seen).toHaveLength(2);
  });

  it("may ignore an abort: the call ends anyway", async () => {
    const model = mockModel(
      () =>
        new ReadableStream({
          start(controller) {
            for (const part of said("t", "x").slice(0, 2)) controller.enqueue(part);
          },
        }),
    );
    const abort = new AbortController();
    const stream = await new AiSdkProviderAdapter({ model }).completeStream({
      ...params,
      signal: abort.signal,
    });
    const codes: string[] = [];
    for await (const event of stream) {
      if (event.type === "delta") abort.abort("a reason of the caller's own");
      if (event.type === "error") codes.push(event.error.code);
    }
    expect(codes).toEqual(["canceled"]);
  });

  it("warns the host, not its console", async () => {
    const warnings: unknown[] = [];
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: convertArrayToReadableStream([
          { type: "stream-start", warnings: [{ type: "other", message: "careful" }] },
          ...said("t", "x"),
          finish(),
        ]),
      }),
    });
    await new AiSdkProviderAdapter({ model, onWarnings: (received) => warnings.push(...received) }).complete(
      params,
    );
    expect(warnings).toEqual([{ type: "other", message: "careful" }]);
  });
});

describe("a request", () => {
  const speak: AnswerScript = (answer) => void answer.send(responsesEvents(spoken)).then(answer.end);

  it("to OpenAI stores nothing, and carries effort, cache key, tools, limits and instructions", async () => {
    const { adapter, server } = await openai(speak);
    await adapter.complete({
      ...params,
      messages: [{ role: "system", content: [{ type: "text", text: "Be brief." }] }, hi],
      tools: [...tools, { name: "files.read", schema: { anyOf: [] } }],
      toolChoice: { type: "tool", name: "files.read" },
      maxTokens: 500,
      reasoningEffort: "high",
      cacheKey: "conv_1",
    });
    const body = server.seen[0]?.body ?? {};
    expect(body).toMatchObject({
      model: "gpt-5.5",
      store: false,
      stream: true,
      max_output_tokens: 500,
      prompt_cache_key: "conv_1",
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      input: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "hi" }] },
      ],
      tools: [
        { type: "function", name: "add", description: "Adds.", strict: false },
        { type: "function", name: "search", parameters: { type: "object", properties: {} } },
        { type: "function", name: expect.stringMatching(/^files_read_/) },
      ],
    });
    expect(body.tool_choice).toEqual({ type: "function", name: (body.tools as { name: string }[])[2]?.name });
  });

  it("to Claude carries effort and asks for its cache", async () => {
    const { adapter, server } = await anthropic((response) =>
      stream(response, claudeAnswer([claudeText("ok")])),
    );
    await adapter.complete({ ...params, reasoningEffort: "xhigh", cacheKey: "conv_1" });
    expect(server.seen[0]?.body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "xhigh" },
      cache_control: { type: "ephemeral" },
    });
  });

  it("to an older Claude has a budget for its thinking", async () => {
    const { adapter, server } = await anthropic(
      (response) => stream(response, claudeAnswer([claudeText("ok")])),
      "claude-sonnet-4-20250514",
    );
    await adapter.complete({ ...params, reasoningEffort: "low", maxTokens: 2_000 });
    expect(server.seen[0]?.body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 4_096 },
      max_tokens: 6_096,
    });
  });

  it("takes settings, the provider's options and options by provider from extraParams", async () => {
    const model = mockModel([...said("t", "x"), finish()]);
    const adapter = new AiSdkProviderAdapter({ model, providerOptions: { mock: { a: 1, b: 1 } } });
    await adapter.complete({
      ...params,
      maxTokens: 10,
      reasoningEffort: "high",
      cacheKey: "k",
      extraParams: { temperature: 0.5, maxOutputTokens: 20, b: 2, providerOptions: { other: { c: 3 } } },
    });
    const call = model.doStreamCalls[0];
    expect(call?.temperature).toBe(0.5);
    expect(call?.maxOutputTokens).toBe(20);
    expect(call?.providerOptions).toEqual({ mock: { a: 1, b: 2 }, other: { c: 3 } });
  });

  it("shows an unknown provider neither an effort nor a cache key", async () => {
    const model = mockModel([...said("t", "x"), finish()]);
    await new AiSdkProviderAdapter({ model }).complete({ ...params, reasoningEffort: "high", cacheKey: "k" });
    expect(model.doStreamCalls[0]?.providerOptions).toEqual({ mock: {} });
  });

  it("turns the names of tools back, in calls and in their progress", async () => {
    const { adapter } = await openai((answer, { body }) => {
      const name = (body.tools as { name: string }[])[0]?.name ?? "";
      const events = responsesEvents([{ type: "function_call", name, arguments: '{"path":"a"}' }]);
      void answer.send(events).then(answer.end);
    });
    const events = await read(adapter, { ...params, tools: [{ name: "files.read" }] });
    const names = events.flatMap((event) => {
      if (event.type === "tool-input-delta") return [event.name];
      return event.type === "tool-call" ? [event.toolCall.name] : [];
    });
    expect(new Set(names)).toEqual(new Set(["files.read"]));
  });

  it("without messages still asks for an answer", async () => {
    const model = mockModel([...said("t", "x"), finish()]);
    await new AiSdkProviderAdapter({ model }).complete({ ...params, messages: [] });
    expect(model.doStreamCalls[0]?.prompt).toMatchObject([
      { role: "user", content: [{ text: "Continue." }] },
    ]);
  });

  it("sends Claude the tools that its history has used and that are gone", async () => {
    const { adapter, server } = await anthropic((response) =>
      stream(response, claudeAnswer([claudeText("ok")])),
    );
    await adapter.complete({
      ...params,
      messages: [
        hi,
        {
          role: "assistant",
          content: [{ type: "tool-call", name: "add", toolCallId: "c1", arguments: {}, argumentsText: "{}" }],
        },
        {
          role: "tool",
          content: [{ type: "tool-result", name: "add", toolCallId: "c1", result: "1", resultText: "1" }],
        },
      ],
    });
    expect(server.seen[0]).toMatchObject({ problems: [], body: { tool_choice: { type: "none" } } });
  });
});

describe("what only its maker understands", () => {
  const asked = (content: MessageContentPart[], origin: { provider: string; model: string }) => ({
    ...params,
    messages: [hi, { role: "assistant" as const, content, origin }, hi],
  });

  it("goes back to OpenAI as it came: reasoning with its encrypted content, and ids", async () => {
    const { adapter, server } = await openai(
      (answer) => void answer.send(responsesEvents(thought)).then(answer.end),
    );
    const content = await contentOf(adapter);
    expect(content.map(({ type }) => type)).toEqual(["reasoning", "reasoning", "text"]);
    await adapter.complete(asked(content, adapter.origin));
    const input = server.seen[1]?.body.input as { readonly id?: string }[];
    expect(input).toMatchObject([
      { role: "user" },
      {
        type: "reasoning",
        id: "rs_0",
        encrypted_content: "ENC",
        summary: [{ text: "Hmm, let me see." }, { text: "And more." }],
      },
      { role: "assistant" },
      { role: "user" },
    ]);
    // Version 4 of the package omits the ids of messages.
    expect([undefined, "msg_1"]).toContain(input[2]?.id);
  });

  it("goes to no other model", async () => {
    const { adapter, server } = await openai(
      (answer) => void answer.send(responsesEvents(thought)).then(answer.end),
    );
    const content = await contentOf(adapter);
    await adapter.complete(asked(content, { ...adapter.origin, model: "gpt-4.9" }));
    const [before, answer, after] = (server.seen[1]?.body.input ?? []) as unknown[];
    expect([before, after]).toEqual(
      Array(2).fill({ role: "user", content: [{ type: "input_text", text: "hi" }] }),
    );
    // Version 4 of the package sends the text as it is.
    expect([
      { role: "assistant", content: [{ type: "output_text", text: "Hello there, friend." }] },
      { role: "assistant", content: "Hello there, friend." },
    ]).toContainEqual(answer);
  });

  it("goes back to Claude as it came: thinking with its signature, also hidden, in front of the calls", async () => {
    const { adapter, server } = await anthropic((response) =>
      stream(
        response,
        claudeAnswer([
          thinking("SIG", "let me ", "see"),
          redacted("HID"),
          toolUse("toolu_1", "add", '{"a":1}'),
        ]),
      ),
    );
    const content = await contentOf(adapter, { ...params, tools });
    const result: ProviderMessage = {
      role: "tool",
      content: [{ type: "tool-result", name: "add", toolCallId: "toolu_1", result: "1", resultText: "1" }],
    };
    await adapter.complete({
      ...params,
      tools,
      messages: [hi, { role: "assistant", content, origin: adapter.origin }, result],
    });
    expect(server.seen[1]?.problems).toEqual([]);
    expect(server.seen[1]?.body.messages).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "let me see", signature: "SIG" },
          { type: "redacted_thinking", data: "HID" },
          { type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "1" }] },
    ]);
  });

  it("is left out where the answer was cut in the middle of it", async () => {
    const { adapter, server } = await openai(
      (answer) => void answer.send(responsesEvents(spoken)).then(answer.end),
    );
    const reasoning: MessageContentPart = {
      type: "reasoning",
      text: "hm",
      providerMetadata: { openai: { itemId: "rs_1", reasoningEncryptedContent: "E" } },
    };
    // The reasoning is complete; the text after it was cut and so has no id.
    await adapter.complete(asked([reasoning, { type: "text", text: "par" }], adapter.origin));
    await adapter.complete(asked([reasoning], adapter.origin));
    const kinds = server.seen.map(({ body }) =>
      (body.input as { type?: string; role?: string }[]).map((item) => item.type ?? item.role),
    );
    expect(kinds).toEqual([
      ["user", "assistant", "user"],
      ["user", "user"],
    ]);
  });

  it("is replayed for a provider's own tools, call and result together", async () => {
    const answer = [
      {
        type: "tool-call",
        toolCallId: "s1",
        toolName: "web_search",
        input: '{"q":"x"}',
        providerExecuted: true,
        dynamic: true,
      },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: { hits: 2 } },
      ...said("t", "found"),
      finish(),
    ] as const;
    const model = mockModel([...answer]);
    const adapter = new AiSdkProviderAdapter({ model });
    const content = await contentOf(adapter);
    await adapter.complete(asked(content, adapter.origin));
    await adapter.complete(asked(content.slice(1), adapter.origin));
    await adapter.complete(asked(content, { provider: "else", model: "else" }));
    const sent = model.doStreamCalls.slice(1).map(({ prompt }) => prompt[1]?.content);
    expect(sent[0]).toMatchObject([
      { type: "tool-call", toolCallId: "s1", input: { q: "x" }, providerExecuted: true },
      { type: "tool-result", toolCallId: "s1", output: { type: "json", value: { hits: 2 } } },
      { type: "text", text: "found" },
    ]);
    expect(sent[1]).toMatchObject([{ type: "text", text: "found" }]);
    expect(sent[2]).toMatchObject([{ type: "text", text: "found" }]);
  });
});

describe("content that a provider's package cannot take", () => {
  it("is put into words, and the call is made", async () => {
    const { adapter, server } = await openai(
      (answer) => void answer.send(responsesEvents(spoken)).then(answer.end),
    );
    const content: MessageContentPart[] = [
      { type: "text", text: "What is this?" },
      { type: "file", mediaType: "audio/wav", data: "AAAA", filename: "a.wav" },
    ];
    await adapter.complete({ ...params, messages: [{ role: "user", content }] });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.body.input).toEqual([
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is this?" },
          { type: "input_text", text: "[File a.wav (audio/wav) cannot be shown]" },
        ],
      },
    ]);
  });

  it("is a file that cannot be fetched, too", async () => {
    const model = mockModel([...said("t", "x"), finish()]);
    const download = () => Promise.reject(new Error("no network here"));
    const adapter = new AiSdkProviderAdapter({ model, download });
    const content = [{ type: "file", mediaType: "image/png", url: "https://files.test/a.png" }];
    await adapter.complete({ ...params, messages: [{ role: "user", content }] });
    expect(model.doStreamCalls[0]?.prompt[0]?.content).toMatchObject([
      { type: "text", text: "[File (image/png, https://files.test/a.png) cannot be shown]" },
    ]);
  });
});

describe("failures", () => {
  const openaiStatus = async (status: number, error: object, headers: Record<string, string> = {}) => {
    const { adapter } = await openai((answer) => answer.json(status, { error }, headers));
    return failureOf(adapter);
  };

  it.each([
    [400, { code: "context_length_exceeded", message: "too long" }, "context_overflow", false],
    [413, { message: "too many bytes" }, "too_large", false],
    [413, { code: "context_length_exceeded", message: "too long" }, "too_large", false],
    [400, { message: "bad" }, "provider_rejected", false],
    [401, { code: "invalid_api_key", message: "no" }, "provider_auth", false],
    [403, { message: "no" }, "provider_auth", false],
    [404, { code: "model_not_found", message: "no" }, "model_unavailable", false],
    [429, { code: "insufficient_quota", message: "pay" }, "quota_exceeded", false],
    [429, { message: "slow" }, "rate_limited", true],
    [500, { message: "oops" }, "provider_overloaded", true],
  ])("status %i with %o is %s", async (status, error, code, retryable) => {
    const failure = await openaiStatus(status, error);
    expect(failure.code).toBe(code);
    expect(failure.retryable).toBe(retryable);
    expect(failure.details).toMatchObject({ status, requestId: "req_local" });
  });

  it("of a model that somebody else wrote keep their message", async () => {
    const model = new MockLanguageModelV3({
      doStream: () => Promise.reject(new Error("the model exploded")),
    });
    const failure = await failureOf(new AiSdkProviderAdapter({ model }));
    expect(failure).toMatchObject({
      code: "provider_rejected",
      message: expect.stringContaining("the model exploded"),
    });
  });

  it("name the host that a redirect leads to, which resilientFetch does not give the prompt", async () => {
    const elsewhere = await openai((answer) => answer.json(200, {}));
    const location = `${elsewhere.server.url}/responses`;
    const { server } = await openai((answer) => answer.json(307, {}, { location }));
    const model = createOpenAI({
      apiKey: "sk-secret",
      baseURL: server.url,
      fetch: resilientFetch(),
    }).responses("gpt-5.5");
    const failure = await failureOf(new AiSdkProviderAdapter({ model }));
    expect(failure).toMatchObject({
      code: "provider_rejected",
      retryable: false,
      message: expect.stringContaining(new URL(elsewhere.server.url).host),
    });
    expect(elsewhere.server.seen).toHaveLength(0);
  });

  it("carry the window that the provider names", async () => {
    const message = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
    const failure = await openaiStatus(400, { code: "context_length_exceeded", message });
    expect(failure).toMatchObject({ code: "context_overflow", details: { contextWindow: 8_192 } });
  });

  it("say when a retry makes sense", async () => {
    const failure = await openaiStatus(429, { message: "slow" }, { "retry-after": "3" });
    expect(failure.retryAfterMs).toBe(3_000);
  });

  it("of Claude are known by their types, also inside a stream", async () => {
    const refused = await anthropic((response) => fail(response, 529, "overloaded_error", "busy"));
    expect((await failureOf(refused.adapter)).code).toBe("provider_overloaded");
    const broken = await anthropic((response) =>
      stream(response, [
        ...claudeAnswer([claudeText("Hello ", "there")]).slice(0, 5),
        { type: "error", error: { type: "overloaded_error", message: "busy" } } as { type: string },
      ]),
    );
    const events = await read(broken.adapter);
    expect(events.some((event) => event.type === "delta")).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { code: "provider_overloaded" } });
  });

  it("of OpenAI inside a stream are known by their codes", async () => {
    const error = { code: "rate_limit_exceeded", message: "slow down" };
    const events = responsesEvents(spoken, { status: "failed", error });
    const { adapter } = await openai((answer) => void answer.send(events).then(answer.end));
    expect(await failureOf(adapter)).toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("slow down"),
    });
  });

  it.each([
    [
      "OpenAI",
      async () => (await openai((answer) => void answer.send(upTo(spoken)).then(answer.end))).adapter,
    ],
    [
      "Claude",
      async () =>
        (
          await anthropic((response) =>
            stream(response, claudeAnswer([claudeText("Hello ", "there")]).slice(0, 5)),
          )
        ).adapter,
    ],
  ])(
    "are an answer of %s that ends without its last event, though the SDK finishes it",
    async (_name, make) => {
      expect((await failureOf(await make())).code).toBe("network");
    },
  );

  it("are an answer that never began", async () => {
    const { adapter } = await openai((answer) => answer.reset());
    expect(await failureOf(adapter)).toMatchObject({ code: "network", retryable: true });
    const empty = new AiSdkProviderAdapter({ model: mockModel([]) });
    expect((await failureOf(empty)).code).toBe("network");
  });

  it("are a provider without a key, said without looking for one", async () => {
    const model = createOpenAI({ baseURL: "http://127.0.0.1:1" }).responses("gpt-5.5");
    expect((await failureOf(new AiSdkProviderAdapter({ model }))).code).toBe("provider_auth");
  });

  it("carry neither the key nor what was said", async () => {
    const { adapter } = await openai((answer) =>
      answer.raw("data: {not json at all secret answer\n\n").then(answer.end),
    );
    const secret = { role: "user" as const, content: [{ type: "text", text: "the secret question" }] };
    const failure = await failureOf(adapter, { ...params, messages: [secret] });
    expect(isParleyError(failure)).toBe(true);
    const seen: unknown[] = [failure, failure.cause, (failure.cause as Error | undefined)?.cause];
    const text = seen
      .map((error) =>
        error instanceof Error ? `${error.message}${error.stack}${JSON.stringify({ ...error })}` : "",
      )
      .join();
    expect(text).not.toMatch(/secret|sk-/);
  });
});
