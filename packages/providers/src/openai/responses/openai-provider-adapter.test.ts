import {
  DefaultConversationEngine,
  InMemoryConversationStore,
  RecentNTurnsHistoryBuilder,
} from "@parley/core";
import { isParleyError } from "@parley/core/errors";
import type { ProviderCallParams } from "@parley/core/ports";
import { createDefaultHttpClient, type HttpRequestOptions, type ResilienceProfile } from "@parley/http";
import { createNodeTransport } from "@parley/http/node";
import { type ProviderScenario, providerContract } from "@parley/testing";
import type { AnswerScript } from "@parley/testing/openai";
import { type AnswerItem, responsesEvents } from "@parley/testing/openai";
import { describe, expect, it } from "vitest";
import { codeOf, openAIServers, read, testHttpClient, textIn } from "../openai-adapter.test-support.js";
import { createOpenAIHttpClient, type OpenAIHttpClientConfig } from "../openai-http-client.js";
import type { OpenAIConversationState } from "./create-response.js";
import { OpenAIProviderAdapter, type OpenAIProviderAdapterConfig } from "./openai-provider-adapter.js";

const serve = openAIServers();

const params: ProviderCallParams = {
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  metadata: { provider: "openai", model: "gpt-test" },
};

const clientWith = (resilience: ResilienceProfile = {}) => testHttpClient({ maxAttempts: 3, ...resilience });

function clientFor(url: string, config: Partial<OpenAIHttpClientConfig> = {}) {
  return createOpenAIHttpClient({ apiKey: "sk-test", baseUrl: url, httpClient: clientWith(), ...config });
}

const hastyClientFor = (url: string, resilience: ResilienceProfile) =>
  clientFor(url, { httpClient: clientWith(resilience) });

function adapterFor(url: string, config: Partial<OpenAIProviderAdapterConfig> = {}) {
  return new OpenAIProviderAdapter({ client: clientFor(url), defaultModel: "gpt-default", ...config });
}

const spoken: AnswerItem[] = [{ type: "message", text: "Hello there, friend." }];
const thought: AnswerItem[] = [
  { type: "reasoning", summary: ["Hmm, let me see."], encrypted: "E" },
  ...spoken,
];
const called: AnswerItem[] = [
  { type: "function_call", name: "add", arguments: '{"a":1,"b":2}' },
  { type: "function_call", name: "search", arguments: '{"q":"parley"}' },
];

/** Answers as the API does: in events if a stream was requested, otherwise in one piece. */
const answering =
  (items: readonly AnswerItem[]): AnswerScript =>
  (answer, { body }) => {
    if (body.stream === true) void answer.send(responsesEvents(items)).then(answer.end);
    else answer.json(200, responsesEvents(items).at(-1)?.response);
  };

/** Returns the events up to and including the n-th delta of a kind. */
function upTo(items: readonly AnswerItem[], kind: string, n = 2) {
  const events = responsesEvents(items);
  const places = events.flatMap(({ type }, index) => (type === `response.${kind}.delta` ? [index] : []));
  return events.slice(0, (places[n - 1] ?? 0) + 1);
}

describe("the provider contract", () => {
  const scripts: Record<ProviderScenario, AnswerScript> = {
    text: answering(spoken),
    tools: answering(called),
    reasoning: answering(thought),
    refusing: (answer) => answer.json(401, { error: { code: "invalid_api_key", message: "no" } }),
    breaking: (answer) => void answer.send(upTo(spoken, "output_text")).then(answer.reset),
    hanging: (answer) => void answer.send(upTo(spoken, "output_text")),
  };
  for (const { name, run } of providerContract(async (scenario) => {
    let onLeft = () => {};
    const left = new Promise<void>((resolve) => {
      onLeft = resolve;
    });
    const server = await serve((answer, call, n) => {
      void call.left.then(onLeft);
      return scripts[scenario](answer, call, n);
    });
    const client = clientFor(server.url, {
      httpClient: createDefaultHttpClient({ transport: createNodeTransport() }),
    });
    return {
      provider: new OpenAIProviderAdapter({ client, defaultModel: "gpt-test" }),
      params,
      ...(scenario === "hanging" ? { left } : {}),
    };
  })) {
    it(name, run);
  }
});

describe("the request", () => {
  it("goes to the API with its headers, and names itself to policies", async () => {
    const server = await serve((answer) => void answer.send(responsesEvents(spoken)).then(answer.end));
    let seen: HttpRequestOptions | undefined;
    const client = clientFor(server.url, {
      organizationId: "org_1",
      projectId: "proj_1",
      extensions: { "ai.provider": "mine", a: 1, b: 1 },
      agentContextFactory: () => ({ agent: "factory" }),
      headers: { "x-extra": "yes" },
      httpClient: createDefaultHttpClient({
        transport: createNodeTransport(),
        interceptors: [
          {
            beforeSend: ({ request }) => {
              seen = request;
            },
          },
        ],
      }),
    });
    const adapter = new OpenAIProviderAdapter({ client, defaultModel: "gpt-test" });
    await adapter.complete({ ...params, metadata: { ...params.metadata, extensions: { b: 2 } } });
    const [call] = server.seen;
    expect(call).toMatchObject({ method: "POST", path: "/v1/responses" });
    expect(call?.headers).toMatchObject({
      authorization: "Bearer sk-test",
      "content-type": "application/json",
      "openai-organization": "org_1",
      "openai-project": "proj_1",
      "x-extra": "yes",
    });
    expect(seen).toMatchObject({
      operation: "openai.responses.create",
      agentContext: { agent: "factory" },
      extensions: {
        a: 1,
        b: 2,
        "ai.provider": "openai",
        "ai.model": "gpt-test",
        "ai.operation": "responses.create",
        "ai.tenant": "org_1",
      },
    });
    await adapter.complete({ ...params, agentContext: { agent: "call" } });
    expect(seen?.agentContext).toEqual({ agent: "call" });
  });

  it("names the default model where the call names none", async () => {
    const server = await serve((answer) => void answer.send(responsesEvents(spoken)).then(answer.end));
    await adapterFor(server.url).complete({ ...params, metadata: { provider: "openai", model: "" } });
    expect(server.seen[0]?.body.model).toBe("gpt-default");
  });
});

describe("data to answer with", () => {
  it("is asked for as text of that form, beside what the caller says about text", async () => {
    const server = await serve(answering(spoken));
    const adapter = adapterFor(server.url);
    const schema = { type: "object", properties: {}, additionalProperties: false };
    await adapter.complete({
      ...params,
      output: { name: "city", schema },
      extraParams: { text: { verbosity: "low" } },
    });
    expect(server.seen[0]?.body.text).toEqual({
      verbosity: "low",
      format: { type: "json_schema", name: "city", schema, strict: true },
    });
    expect(adapter.takesOutput()).toBe(true);
  });
});

describe("the client", () => {
  it("asks for an answer in one piece, and for a stream", async () => {
    const server = await serve(answering(thought));
    const { responses } = clientFor(server.url);
    const response = await responses.create({ model: "gpt-test", input: "hi" });
    expect(server.seen[0]?.body).not.toHaveProperty("stream");
    expect(server.seen[0]?.headers.accept).toBe("application/json");
    expect(response).toMatchObject({
      id: "resp_1",
      model: "gpt-test-2026-01-01",
      createdAt: new Date(1_763_200_000_000),
      outputText: "Hello there, friend.",
      usage: { inputTokens: 120, outputTokens: 30 },
      finishReason: "stop",
      raw: { object: "response" },
    });
    expect(response.providerMessage?.content.map(({ type }) => type)).toEqual(["reasoning", "text"]);
    const stream = await responses.createStream?.({ model: "gpt-test", input: "hi" });
    const events = [];
    for await (const event of stream ?? []) events.push(event);
    expect(server.seen[1]?.body.stream).toBe(true);
    expect(server.seen[1]?.headers.accept).toBe("text/event-stream");
    expect((await stream?.final)?.providerMessage).toEqual(response.providerMessage);
    expect(events.map((event) => (event.type === "text-delta" ? event.textDelta : "")).join("")).toBe(
      "Hello there, friend.",
    );
    const last = events.at(-1);
    expect(last?.type === "done" && last.result).toBe(await stream?.final);
  });

  it("serves a model that may not be streamed", async () => {
    const server = await serve((answer, call, n) => {
      if (call.body.stream === true) {
        answer.json(400, { error: { code: "unsupported_value", param: "stream", message: "not allowed" } });
      } else answering(thought)(answer, call, n);
    });
    const adapter = adapterFor(server.url);
    const result = await adapter.complete(params);
    expect(result).toMatchObject({ id: "resp_1", finishReason: "stop" });
    expect(result.message.content.map(({ type }) => type)).toEqual(["reasoning", "text"]);
    expect(codeOf(await read(await adapter.completeStream(params)))).toBe("provider_rejected");
    const plain = await adapter.completeStream({ ...params, extraParams: { stream: false } });
    expect(textIn(await read(plain))).toBe("Hello there, friend.");
  });

  it("fails in one piece as in a stream", async () => {
    const failed = { id: "resp_1", status: "failed", error: { code: "server_error", message: "no" } };
    const server = await serve((answer) => answer.json(200, failed));
    const client = clientFor(server.url, { streamRetries: 0 });
    await expect(client.responses.create({ model: "m", input: "hi" })).rejects.toMatchObject({
      code: "provider_overloaded",
    });
    const aborted = new AbortController();
    const hanging = await serve(() => aborted.abort());
    const left = clientFor(hanging.url).responses.create(
      { model: "m", input: "hi" },
      { signal: aborted.signal },
    );
    await expect(left).rejects.toMatchObject({ code: "canceled" });
  });

  it("keeps the role system for an unknown model behind another server", async () => {
    const server = await serve(answering(spoken));
    const messages = [{ role: "system" as const, content: [{ type: "text", text: "Be brief." }] }];
    await adapterFor(server.url).complete({
      messages,
      metadata: { provider: "proxy", model: "acme-large" },
    });
    expect(server.seen[0]?.body.input).toEqual([{ role: "system", content: "Be brief." }]);
  });

  it("continues from the state it is given, unless the request says from where", async () => {
    const server = await serve((answer) => void answer.send(responsesEvents(spoken)).then(answer.end));
    const { responses } = clientFor(server.url);
    const conversationState = { lastResponseId: "resp_0" };
    await responses.create({ model: "m", input: "hi" }, { conversationState });
    await responses.create({ model: "m", input: "hi", previousResponseId: "resp_9" }, { conversationState });
    expect(server.seen.map(({ body }) => body.previous_response_id)).toEqual(["resp_0", "resp_9"]);
  });

  it("throws the failure of a call out of the iteration", async () => {
    const server = await serve((answer) => answer.json(400, { error: { code: "context_length_exceeded" } }));
    const stream = await clientFor(server.url).responses.createStream?.({ model: "m", input: "hi" });
    await expect(async () => {
      for await (const _ of stream ?? []);
    }).rejects.toMatchObject({ code: "context_overflow" });
  });
});

describe("a chain", () => {
  it("keeps its state, and sends what is new", async () => {
    const server = await serve((answer, _, n) => {
      const events = responsesEvents(n === 1 ? called.slice(0, 1) : spoken);
      void answer.send(JSON.parse(JSON.stringify(events).replaceAll("resp_1", `resp_${n}`))).then(answer.end);
    });
    let state: OpenAIConversationState = { metadata: { title: "t" } };
    const adapter = adapterFor(server.url, {
      getConversationState: () => state,
      setConversationState: (next) => {
        state = next;
      },
    });
    const first = await adapter.complete(params);
    expect(state).toEqual({ metadata: { title: "t" }, lastResponseId: "resp_1" });
    await adapter.complete({
      ...params,
      messages: [
        ...params.messages,
        first.message,
        { role: "tool", content: [{ type: "tool-result", name: "add", result: "3", toolCallId: "call_0" }] },
      ],
    });
    expect(state.lastResponseId).toBe("resp_2");
    expect(server.seen[1]?.body).toMatchObject({
      previous_response_id: "resp_1",
      input: [{ type: "function_call_output", call_id: "call_0", output: "3" }],
    });
  });

  it("sends an engine's new messages alone, with a history of no turns", async () => {
    const server = await serve((answer, _, n) => {
      const whole = JSON.stringify(responsesEvents(n === 1 ? called.slice(0, 1) : spoken));
      void answer.send(JSON.parse(whole.replaceAll("resp_1", `resp_${n}`))).then(answer.end);
    });
    let state: OpenAIConversationState | undefined;
    const provider = adapterFor(server.url, {
      getConversationState: () => state,
      setConversationState: (next) => {
        state = next;
      },
    });
    const store = new InMemoryConversationStore();
    await store.createConversation({ id: "c" });
    const engine = new DefaultConversationEngine({
      store,
      historyBuilder: new RecentNTurnsHistoryBuilder({ maxTurns: 0 }),
      tools: [{ name: "add", schema: { type: "object", properties: {} }, execute: () => "3" }],
    });
    for (const text of ["first", "second"]) {
      const message = { id: text, conversationId: "c", role: "user" as const, createdAt: new Date(1) };
      await engine.runTurn({
        conversationId: "c",
        userMessages: [{ ...message, content: [{ type: "text", text }] }],
        provider,
        providerParams: { metadata: { provider: "openai", model: "gpt-test" } },
      });
    }
    const said = (text: string) => ({ role: "user", content: [{ type: "input_text", text }] });
    expect(server.seen.map(({ body }) => [body.previous_response_id, body.input])).toEqual([
      [undefined, [said("first")]],
      ["resp_1", [{ type: "function_call_output", call_id: "call_0", output: "3" }]],
      ["resp_2", [said("second")]],
    ]);
  });

  it("chains a client that somebody else wrote", async () => {
    const seen: unknown[] = [];
    let state: OpenAIConversationState | undefined;
    const create = async (request: unknown) => {
      seen.push(request);
      return { id: `resp_${seen.length}`, model: "m", createdAt: new Date(1), outputText: "hey", raw: null };
    };
    const adapter = new OpenAIProviderAdapter({
      client: { http: undefined as never, responses: { create } },
      defaultModel: "m",
      getConversationState: () => state,
      setConversationState: (next) => {
        state = next;
      },
    });
    await adapter.complete(params);
    await adapter.complete(params);
    await read(await adapter.completeStream(params));
    expect(seen.map((request) => (request as { previousResponseId?: string }).previousResponseId)).toEqual([
      undefined,
      "resp_1",
      "resp_2",
    ]);
    expect(state).toEqual({ lastResponseId: "resp_3" });
  });

  it("stays where it was when a call fails", async () => {
    const server = await serve((answer) => void answer.send(upTo(spoken, "output_text")).then(answer.reset));
    let changed = false;
    const adapter = adapterFor(server.url, {
      setConversationState: () => {
        changed = true;
      },
    });
    expect(codeOf(await read(await adapter.completeStream(params)))).toBe("network");
    await expect(adapter.complete(params)).rejects.toMatchObject({ code: "network" });
    expect(changed).toBe(false);
  });
});

describe("failures before the answer", () => {
  it("are repeated by the HTTP client alone", async () => {
    const server = await serve((answer) =>
      answer.json(500, { error: { code: "server_error", message: "x" } }),
    );
    expect(codeOf(await read(await adapterFor(server.url).completeStream(params)))).toBe(
      "provider_overloaded",
    );
    expect(server.seen).toHaveLength(3);
  });

  it.each([
    [400, { code: "context_length_exceeded", message: "m" }, "context_overflow"],
    [400, { code: null, type: "invalid_request_error", message: "m" }, "provider_rejected"],
    [400, { code: "content_filter", message: "m" }, "content_filtered"],
    [401, { code: "invalid_api_key", message: "m" }, "provider_auth"],
    [403, { code: null, message: "m" }, "provider_auth"],
    [413, { code: null, message: "m" }, "too_large"],
    [413, { code: "context_length_exceeded", message: "m" }, "too_large"],
    [404, { code: "model_not_found", message: "m" }, "model_unavailable"],
    [429, { code: "insufficient_quota", message: "m" }, "quota_exceeded"],
  ])("with status %i and %o become %s, once", async (status, error, code) => {
    const server = await serve((answer) => answer.json(status, { error }));
    const events = await read(await adapterFor(server.url).completeStream(params));
    expect(codeOf(events)).toBe(code);
    expect(server.seen).toHaveLength(1);
    const last = events.at(-1);
    expect(last?.type === "error" && last.error).toMatchObject({
      message: "openai: m",
      details: { status, requestId: "req_local" },
    });
    expect(JSON.stringify(last)).not.toContain("sk-test");
  });

  it("become rate_limited with the wait that was asked for", async () => {
    const server = await serve((answer) =>
      answer.json(429, { error: { code: "rate_limit_exceeded", message: "m" } }, { "retry-after-ms": "7" }),
    );
    const events = await read(await adapterFor(server.url).completeStream(params));
    const last = events.at(-1);
    expect(last?.type === "error" && last.error).toMatchObject({ code: "rate_limited", retryAfterMs: 7 });
    expect(server.seen).toHaveLength(3);
  });

  it("are not seen where a later attempt succeeds", async () => {
    const server = await serve((answer, _, n) => {
      if (n === 1) answer.json(500, {});
      else if (n === 2) answer.reset();
      else void answer.send(responsesEvents(spoken)).then(answer.end);
    });
    const events = await read(await adapterFor(server.url).completeStream(params));
    expect(textIn(events)).toBe("Hello there, friend.");
    expect(codeOf(events)).toBe("done");
  });

  it("become network where no server listens", async () => {
    const server = await serve(() => {});
    await server.close();
    expect(codeOf(await read(await adapterFor(server.url).completeStream(params)))).toBe("network");
  });

  it("become timeout where the headers do not come", async () => {
    const server = await serve(() => {});
    const client = hastyClientFor(server.url, { perAttemptTimeoutMs: 60 });
    expect(codeOf(await read(await adapterFor(server.url, { client }).completeStream(params)))).toBe(
      "timeout",
    );
  });

  it("about reasoning that the API cannot read are met by leaving it out", async () => {
    const server = await serve((answer, _, n) => {
      if (n === 2) answer.json(400, { error: { code: "invalid_encrypted_content", message: "m" } });
      else void answer.send(responsesEvents(thought)).then(answer.end);
    });
    const adapter = adapterFor(server.url);
    const { message } = await adapter.complete(params);
    const { finishReason } = await adapter.complete({
      ...params,
      messages: [...params.messages, message, ...params.messages],
    });
    expect(finishReason).toBe("stop");
    const kinds = (n: number) =>
      ((server.seen[n]?.body.input ?? []) as { type?: string }[]).map(({ type }) => type);
    expect(kinds(1)).toContain("reasoning");
    expect(kinds(2)).not.toContain("reasoning");
  });
});

describe("failures inside the answer", () => {
  const faults: [string, AnswerScript, string][] = [
    ["a reset", (answer) => answer.reset(), "network"],
    ["silence", () => {}, "timeout"],
    ["an end", (answer) => answer.end(), "network"],
    [
      "a failure of the API",
      (answer) =>
        void answer
          .send(
            responsesEvents([], { status: "failed", error: { code: "server_error", message: "m" } })
              .slice(-1)
              .map((event) => ({ ...event, sequence_number: 900 })),
          )
          .then(answer.end),
      "provider_overloaded",
    ],
    [
      "an error event",
      (answer) =>
        void answer.send([
          { type: "error", code: "rate_limit_exceeded", message: "m", sequence_number: 900 },
        ]),
      "rate_limited",
    ],
    ["garbage", (answer) => void answer.send(["{not json"]), "provider_rejected"],
  ];
  const middles: [string, AnswerItem[], string][] = [
    ["text", spoken, "output_text"],
    ["reasoning", thought, "reasoning_summary_text"],
    ["arguments", called, "function_call_arguments"],
  ];

  for (const [where, items, kind] of middles) {
    for (const [what, fault, code] of faults) {
      it(`${what} in the middle of ${where} is ${code}, keeps what came, and is not repeated`, async () => {
        const server = await serve(async (answer, call, n) => {
          await answer.send(upTo(items, kind));
          await fault(answer, call, n);
        });
        const config =
          code === "timeout" ? { client: hastyClientFor(server.url, { stallTimeoutMs: 300 }) } : {};
        const events = await read(await adapterFor(server.url, config).completeStream(params));
        expect(codeOf(events)).toBe(code);
        expect(server.seen).toHaveLength(1);
        expect(events.filter(({ type }) => type !== "usage" && type !== "error").length).toBe(2);
        expect(events.some(({ type }) => type === "tool-call" || type === "done")).toBe(false);
      });
    }
  }

  it("before anything was visible are repeated, and nothing is seen twice", async () => {
    const failed = responsesEvents([], { status: "failed", error: { code: "server_error", message: "m" } });
    const server = await serve(async (answer, _, n) => {
      if (n === 1) await answer.send(failed).then(answer.end);
      else if (n === 2) await answer.send(responsesEvents(spoken).slice(0, 2)).then(answer.reset);
      else await answer.send(responsesEvents(spoken)).then(answer.end);
    });
    const events = await read(await adapterFor(server.url).completeStream(params));
    expect(textIn(events)).toBe("Hello there, friend.");
    expect(codeOf(events)).toBe("done");
    expect(server.seen).toHaveLength(3);
  });

  it("are repeated only as often as allowed, and not where it cannot help", async () => {
    const script =
      (code: string): AnswerScript =>
      (answer) =>
        void answer
          .send(responsesEvents([], { status: "failed", error: { code, message: "m" } }))
          .then(answer.end);
    const busy = await serve(script("server_error"));
    const client = clientFor(busy.url, { streamRetries: 1 });
    const adapter = new OpenAIProviderAdapter({ client, defaultModel: "m" });
    expect(codeOf(await read(await adapter.completeStream(params)))).toBe("provider_overloaded");
    expect(busy.seen).toHaveLength(2);
    const refused = await serve(script("invalid_prompt"));
    expect(codeOf(await read(await adapterFor(refused.url).completeStream(params)))).toBe("content_filtered");
    expect(refused.seen).toHaveLength(1);
  });

  it("are a failure where a page came instead of a stream", async () => {
    const server = await serve(
      (answer) => void answer.raw("<html>captive portal</html>", "text/html").then(answer.end),
    );
    const client = clientFor(server.url, { streamRetries: 0 });
    const adapter = new OpenAIProviderAdapter({ client, defaultModel: "m" });
    expect(codeOf(await read(await adapter.completeStream(params)))).toBe("provider_rejected");
  });
});

describe("unusual answers", () => {
  it("in one piece of JSON are read as well", async () => {
    const whole = responsesEvents(thought).at(-1)?.response;
    const server = await serve((answer) => answer.json(200, whole));
    const events = await read(await adapterFor(server.url).completeStream(params));
    expect(textIn(events)).toBe("Hello there, friend.");
    expect(codeOf(events)).toBe("done");
  });

  it("may end with [DONE], and may leave the connection open behind the last event", async () => {
    const server = await serve((answer) => void answer.send([...responsesEvents(spoken), "[DONE]"]));
    const stream = await adapterFor(server.url).completeStream(params);
    expect(codeOf(await read(stream))).toBe("done");
    await server.seen[0]?.left;
  });

  it("with events that come twice are read once", async () => {
    const events = responsesEvents(called).flatMap((event) => [event, event]);
    const server = await serve((answer) => void answer.send(events).then(answer.end));
    const result = await adapterFor(server.url).complete(params);
    expect(result.toolCalls).toHaveLength(2);
  });

  it("with malformed arguments bring the call with its text", async () => {
    const server = await serve(
      (answer) =>
        void answer
          .send(responsesEvents([{ type: "function_call", name: "add", arguments: "{oops" }]))
          .then(answer.end),
    );
    const result = await adapterFor(server.url).complete(params);
    expect(result.toolCalls).toMatchObject([{ name: "add", argumentsText: "{oops" }]);
  });

  it("call tools by their own names, however they had to be spelled", async () => {
    const server = await serve((answer, { body }) => {
      const [tool] = body.tools as { name: string }[];
      const items: AnswerItem[] = [{ type: "function_call", name: tool?.name ?? "", arguments: "{}" }];
      void answer.send(responsesEvents(items)).then(answer.end);
    });
    const result = await adapterFor(server.url).complete({ ...params, tools: [{ name: "files.read" }] });
    expect(result.toolCalls).toMatchObject([{ name: "files.read" }]);
  });
});

describe("a reader that is slow", () => {
  it("holds the server back, and gets everything", async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => ({
      type: "response.output_text.delta",
      output_index: 0,
      content_index: 0,
      item_id: "msg_0",
      sequence_number: n + 3,
      delta: `${n} `.padEnd(400, "."),
    }));
    const [created, started, added] = responsesEvents([{ type: "message", text: "" }]);
    let sent = 0;
    const server = await serve(async (answer) => {
      await answer.send([created, started, added] as object[]);
      for (let at = 0; at < many.length; at += 100) {
        await answer.send(many.slice(at, at + 100));
        sent = at + 100;
      }
      await answer.send([{ type: "response.completed", sequence_number: 99_999, response: { id: "r" } }]);
      answer.end();
    });
    const stream = await adapterFor(server.url, {
      client: clientFor(server.url, {
        httpClient: createDefaultHttpClient({ transport: createNodeTransport() }),
      }),
    }).completeStream(params);
    let deltas = 0;
    let sentAtFirst: number | undefined;
    for await (const event of stream) {
      if (event.type !== "delta") continue;
      deltas += 1;
      if (sentAtFirst === undefined) {
        // As long as the sent amount still grows, back-pressure has not reached the server.
        let before = -1;
        while (before !== sent) {
          before = sent;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        sentAtFirst = sent;
      }
    }
    expect(deltas).toBe(many.length);
    expect(sentAtFirst).toBeLessThan(many.length);
  });
});

describe("a client that somebody else wrote", () => {
  it("serves with create alone, and with a stream of its own events", async () => {
    const response = { id: "r", model: "m", createdAt: new Date(1), outputText: "hey", raw: null };
    const create = async () => response;
    const http = undefined as never;
    const plain = new OpenAIProviderAdapter({ client: { http, responses: { create } }, defaultModel: "m" });
    expect(textIn(await read(await plain.completeStream(params)))).toBe("hey");
    const createStream = async () => ({
      final: Promise.resolve(response),
      async *[Symbol.asyncIterator]() {
        yield { type: "text-delta" as const, textDelta: "hey" };
        yield { type: "done" as const, result: response };
      },
    });
    const own = new OpenAIProviderAdapter({
      client: { http, responses: { create, createStream } },
      defaultModel: "m",
    });
    const events = await read(await own.completeStream(params));
    expect(textIn(events)).toBe("hey");
    expect(codeOf(events)).toBe("done");
  });

  it("may throw what its platform throws", async () => {
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new TypeError("terminated"));
      },
    });
    const httpClient = {
      ...createDefaultHttpClient(),
      getClientName: () => "own",
      requestRaw: async () => new Response(broken, { headers: { "content-type": "text/event-stream" } }),
    } as unknown as NonNullable<OpenAIHttpClientConfig["httpClient"]>;
    const client = clientFor("http://localhost", { httpClient, streamRetries: 0 });
    const error = await client.responses
      .create({ model: "m", input: "hi" })
      .catch((thrown: unknown) => thrown);
    expect(isParleyError(error) && error.code).toBe("network");
  });
});
