import { ParleyError } from "@parley/core/errors";
import type { ProviderCallParams, ProviderStreamEvent } from "@parley/core/ports";
import { createDefaultHttpClient, type HttpRequestOptions, type ResilienceProfile } from "@parley/http";
import { type ProviderScenario, providerContract } from "@parley/testing";
import {
  type Answer,
  type AnthropicServer,
  answer,
  begin,
  fail,
  redacted,
  refusedUrl,
  reset,
  serverToolUse,
  startAnthropicServer,
  stream,
  streamOpen,
  text,
  thinking,
  toolUse,
} from "@parley/testing/anthropic";
import { afterEach, describe, expect, it } from "vitest";
import type { MessagesEvent } from "./api-types.js";
import { AnthropicProviderAdapter, createAnthropicHttpClient } from "./index.js";

const servers: AnthropicServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(answerWith: Answer): Promise<AnthropicServer> {
  const server = await startAnthropicServer(answerWith);
  servers.push(server);
  return server;
}

const params: ProviderCallParams = {
  messages: [
    { role: "system", content: [{ type: "text", text: "Be brief." }] },
    { role: "user", content: [{ type: "text", text: "hi" }] },
  ],
  tools: [{ name: "files.read", schema: { type: "object" } }, { name: "add" }],
  metadata: { provider: "anthropic", model: "" },
};

function adapter(baseUrl: string, resilience: ResilienceProfile = {}): AnthropicProviderAdapter {
  return new AnthropicProviderAdapter({
    apiKey: "test-key",
    baseUrl,
    defaultModel: "claude-opus-5",
    httpClient: createDefaultHttpClient({
      clientName: "test",
      defaultResilience: { baseBackoffMs: 1, maxBackoffMs: 5, ...resilience },
    }),
  });
}

async function read(
  provider: AnthropicProviderAdapter,
  how: Partial<ProviderCallParams> = {},
): Promise<ProviderStreamEvent[]> {
  const events: ProviderStreamEvent[] = [];
  for await (const event of await provider.completeStream({ ...params, ...how })) events.push(event);
  return events;
}

const textIn = (events: readonly ProviderStreamEvent[]) =>
  events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");

function failureOf(events: readonly ProviderStreamEvent[]): ParleyError {
  const last = events.at(-1);
  if (last?.type !== "error") throw new Error(`ended with ${last?.type}`);
  return last.error;
}

describe("the adapter as a provider", () => {
  const answers: Record<ProviderScenario, MessagesEvent[]> = {
    text: answer([text("Hel", "lo", " you")]),
    tools: answer([
      text("I look."),
      toolUse("toolu_1", "add", '{"a"', ":1}"),
      toolUse("toolu_2", "add", "{}"),
      toolUse("toolu_3", "add"),
    ]),
    reasoning: answer([thinking("SIG", "let me", " see"), redacted("RED"), text("done")]),
    refusing: [],
    breaking: answer([text("some", " text")]).slice(0, 5),
    hanging: answer([text("some", " text")]).slice(0, 5),
  };

  const cases = providerContract(async (scenario) => {
    let leave: (gone: Promise<void>) => void = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const server = await startAnthropicServer(async (response, request) => {
      if (scenario === "refusing") return fail(response, 400, "invalid_request_error", "no");
      if (scenario !== "breaking" && scenario !== "hanging") return stream(response, answers[scenario]);
      await streamOpen(response, answers[scenario]);
      if (scenario === "breaking") reset(response);
      else leave(request.disconnected);
    });
    return {
      provider: adapter(server.url),
      params,
      ...(scenario === "hanging" ? { left } : {}),
      close: () => server.close(),
    };
  });
  for (const { name, run } of cases) it(name, run);
});

describe("a request", () => {
  it("carries key, version, annotations and what the API takes", async () => {
    const server = await serve((response) => stream(response, answer([text("ok")])));
    const sent: HttpRequestOptions[] = [];
    const http = createDefaultHttpClient({
      clientName: "test",
      interceptors: [{ beforeSend: ({ request }) => void sent.push(request) }],
    });
    const client = createAnthropicHttpClient({
      apiKey: "test-key",
      baseUrl: server.url,
      httpClient: http,
      betas: ["a", "b"],
      extensions: { tenant: "t1", "ai.operation": "mine" },
      agentContextFactory: () => ({ agent: "parley" }),
      headers: { "x-extra": "1" },
    });
    const provider = new AnthropicProviderAdapter({ client, defaultModel: "claude-opus-5", maxTokens: 77 });
    await provider.complete({
      ...params,
      metadata: { provider: "anthropic", model: "claude-sonnet-5", extensions: { call: 1 } },
    });
    const [request] = server.seen;
    expect(request?.headers).toMatchObject({
      "x-api-key": "test-key",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "a,b",
      "x-extra": "1",
      "content-type": "application/json",
    });
    expect(request?.body).toMatchObject({
      model: "claude-sonnet-5",
      max_tokens: 77,
      stream: true,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    });
    expect(sent[0]).toMatchObject({
      operation: "anthropic.messages.create",
      agentContext: { agent: "parley" },
      extensions: {
        "ai.provider": "anthropic",
        "ai.model": "claude-sonnet-5",
        "ai.operation": "mine",
        tenant: "t1",
        call: 1,
      },
    });
  });

  it("has another version, and the key where that version wants it", async () => {
    const server = await serve((response) => stream(response, answer([text("ok")])));
    const provider = new AnthropicProviderAdapter({
      apiKey: "test-key",
      baseUrl: server.url,
      version: "2026-10-21",
      defaultModel: "claude-opus-5",
      promptCache: "1h",
    });
    await provider.complete(params);
    const [request] = server.seen;
    expect(request?.headers).toMatchObject({
      "anthropic-version": "2026-10-21",
      authorization: "Bearer test-key",
    });
    expect(request?.headers).not.toHaveProperty("x-api-key");
    expect(JSON.stringify(request?.body)).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
  });

  it("reports calls whose arguments had to be sent as text", async () => {
    const server = await serve((response) => stream(response, answer([text("ok")])));
    const reported: unknown[] = [];
    const provider = new AnthropicProviderAdapter({
      apiKey: "test-key",
      baseUrl: server.url,
      defaultModel: "claude-opus-5",
      onUnsendableArguments: (calls) => reported.push(...calls),
    });
    await provider.complete({
      ...params,
      messages: [
        ...params.messages,
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "c1", name: "add", arguments: "{", argumentsText: "{" }],
        },
      ],
    });
    expect(reported).toEqual([
      { kind: "malformed-arguments", toolCallId: "c1", toolName: "add", argumentsText: "{" },
    ]);
  });
});

describe("an answer that the API pauses", () => {
  const first = answer([text("I search. "), serverToolUse("srvtoolu_1", "web_search", '{"query":"x"}')], {
    stopReason: "pause_turn",
  });
  const searching = { extraParams: { tools: [{ type: "web_search_20250305", name: "web_search" }] } };

  it("is gone on with in the same call, with the content sent back unchanged", async () => {
    const server = await serve((response, _, n) =>
      stream(response, n === 1 ? first : answer([text("Found.")], { id: "msg_2" })),
    );
    const events = await read(adapter(server.url), searching);
    expect(textIn(events)).toBe("I search. Found.");
    expect(events.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({
      type: "done",
      result: { finishReason: "stop", usage: { inputTokens: 20, outputTokens: 40 } },
    });
    const [one, two] = server.seen.map(({ body }) => body as { messages: unknown[] });
    expect(two?.messages).toEqual([
      ...(one?.messages ?? []),
      {
        role: "assistant",
        content: [
          { type: "text", text: "I search. " },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
        ],
      },
    ]);
  });

  it("is not gone on with for ever", async () => {
    const paused = answer([text("more ")], { stopReason: "pause_turn" });
    const server = await serve((response) => stream(response, paused));
    const events = await read(adapter(server.url), searching);
    expect(server.seen).toHaveLength(9);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { finishReason: "other" } });
  });

  it("keeps what was seen when the continuation fails, and does not show it again", async () => {
    const server = await serve((response, _, n) =>
      n === 1 ? stream(response, first) : fail(response, 400, "invalid_request_error", "no"),
    );
    const events = await read(adapter(server.url), searching);
    expect(textIn(events)).toBe("I search. ");
    expect(failureOf(events).code).toBe("provider_rejected");
  });

  it("is not gone on with where the API had no tools to run", async () => {
    const server = await serve((response) => stream(response, first));
    const events = await read(adapter(server.url));
    expect(server.seen).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { finishReason: "other" } });
  });
});

describe("a fault before the answer", () => {
  const whole = answer([text("Hello")]);

  it("is repeated where the API answers 500, 529 or 429 first, and the caller sees one answer", async () => {
    const first: [number, string][] = [
      [500, "api_error"],
      [529, "overloaded_error"],
    ];
    const server = await serve((response, _, n) => {
      const [status, type] = first[n - 1] ?? [200, ""];
      if (status === 200) stream(response, whole);
      else fail(response, status, type, "busy", { "retry-after-ms": "1" });
    });
    const events = await read(adapter(server.url));
    expect(textIn(events)).toBe("Hello");
    expect(server.seen).toHaveLength(3);
  });

  it("is repeated where the connection is reset before the headers", async () => {
    const server = await serve((response, _, n) => (n === 1 ? reset(response) : stream(response, whole)));
    expect(textIn(await read(adapter(server.url)))).toBe("Hello");
  });

  it.each<[string, number, string, Record<string, string>, object]>([
    [
      "429",
      429,
      "rate_limit_error",
      { "retry-after": "7" },
      { code: "rate_limited", retryable: true, retryAfterMs: 7000 },
    ],
    ["529", 529, "overloaded_error", {}, { code: "provider_overloaded", retryable: true }],
    ["401", 401, "authentication_error", {}, { code: "provider_auth", retryable: false }],
    ["403", 403, "permission_error", {}, { code: "provider_auth", retryable: false }],
    ["402", 402, "billing_error", {}, { code: "quota_exceeded", retryable: false }],
    ["404", 404, "not_found_error", {}, { code: "model_unavailable", retryable: false }],
    ["413", 413, "request_too_large", {}, { code: "too_large", retryable: false }],
    ["400", 400, "invalid_request_error", {}, { code: "provider_rejected", retryable: false }],
  ])("%s is a code, with when to try again", async (_, status, type, headers, expected) => {
    const server = await serve((response) => fail(response, status, type, "words", headers));
    const error = failureOf(await read(adapter(server.url, { maxAttempts: 1 })));
    expect(error).toMatchObject(expected);
    expect(error.details).toMatchObject({ status, reason: type, requestId: "req_1" });
    expect(error.message).toBe("anthropic: words");
  });

  it("is an overflow for a prompt that is too long", async () => {
    const message = "prompt is too long: 210000 tokens > 200000 maximum";
    const server = await serve((response) => fail(response, 400, "invalid_request_error", message));
    expect(failureOf(await read(adapter(server.url)))).toMatchObject({
      code: "context_overflow",
      details: { contextWindow: 200_000 },
    });
  });

  it("is network where no server listens", async () => {
    const error = failureOf(await read(adapter(await refusedUrl())));
    expect(error).toMatchObject({ code: "network", retryable: true });
  });

  it("is a timeout where the headers do not come", async () => {
    const server = await serve(() => {});
    const provider = adapter(server.url, { maxAttempts: 2, perAttemptTimeoutMs: 300 });
    expect(failureOf(await read(provider))).toMatchObject({ code: "timeout", retryable: true });
    expect(server.seen).toHaveLength(2);
  });

  it("never shows the key", async () => {
    const server = await serve((response) =>
      fail(response, 401, "authentication_error", "invalid x-api-key"),
    );
    const error = failureOf(await read(adapter(server.url)));
    expect(JSON.stringify([error, error.message, error.details])).not.toContain("test-key");
  });
});

describe("a fault inside the answer", () => {
  const whole = answer([thinking("SIG", "hm", " so"), text("Hel", "lo"), toolUse("t", "add", '{"a"', ":1}")]);
  const behind = (kind: string) => whole.findIndex(({ delta }) => delta?.type === kind) + 1;

  it.each([
    ["text", "text_delta"],
    ["thinking", "thinking_delta"],
    ["the input of a tool", "input_json_delta"],
  ])("is not repeated once %s was seen, and what was seen stays", async (_, kind) => {
    const seen = whole.slice(0, behind(kind));
    for (const fault of ["reset", "end", "stall", "overloaded", "garbage"] as const) {
      const server = await serve(async (response) => {
        await streamOpen(response, seen);
        if (fault === "reset") reset(response);
        else if (fault === "end") response.end();
        else if (fault === "overloaded")
          response.end(
            'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"o"}}\n\n',
          );
        else if (fault === "garbage") response.end("event: x\ndata: {not json\n\n");
      });
      // Only the stall case has a short timeout: on a busy machine any answer may take as long.
      const events = await read(adapter(server.url, fault === "stall" ? { stallTimeoutMs: 300 } : {}));
      const code = {
        reset: "network",
        end: "network",
        stall: "timeout",
        overloaded: "provider_overloaded",
        garbage: "provider_rejected",
      }[fault];
      expect(failureOf(events).code, fault).toBe(code);
      expect(server.seen, fault).toHaveLength(1);
      expect(events.filter(({ type }) => type === "reasoning-delta").length, fault).toBeGreaterThan(0);
      expect(textIn(events), fault).toBe(
        kind === "thinking_delta" ? "" : kind === "text_delta" ? "Hel" : "Hello",
      );
    }
  });

  it.each(["reset", "end", "overloaded"])("is repeated before anything was seen: %s", async (fault) => {
    const server = await serve(async (response, _, n) => {
      if (n > 1) return stream(response, whole);
      await streamOpen(response, whole.slice(0, 3));
      if (fault === "reset") reset(response);
      else if (fault === "end") response.end();
      else
        response.end(
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"o"}}\n\n',
        );
    });
    const events = await read(adapter(server.url));
    expect(server.seen).toHaveLength(2);
    expect(textIn(events)).toBe("Hello");
    expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
  });

  it("is not repeated where it would not help", async () => {
    const server = await serve(async (response) => {
      begin(response);
      response.end(
        'event: error\ndata: {"type":"error","error":{"type":"authentication_error","message":"o"}}\n\n',
      );
    });
    expect(failureOf(await read(adapter(server.url))).code).toBe("provider_auth");
    expect(server.seen).toHaveLength(1);
  });

  it("is none for an answer in tiny pieces, with CRLF and comments", async () => {
    const bytes = Buffer.from(
      `: hello\r\n\r\n${whole.map((event) => `event: ${event.type}\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join("")}`,
    );
    const server = await serve(async (response) => {
      begin(response);
      for (let at = 0; at < bytes.length; at += 7) {
        await new Promise<void>((resolve) => response.write(bytes.subarray(at, at + 7), () => resolve()));
      }
      response.end();
    });
    expect(textIn(await read(adapter(server.url)))).toBe("Hello");
  });

  it("leaves a call whose arguments are no JSON to the turn, as the model wrote them", async () => {
    const garbled = answer([toolUse("t", "add", '{"a": oops}')]);
    const server = await serve((response) => stream(response, garbled));
    const result = await adapter(server.url).complete(params);
    expect(result.toolCalls).toEqual([
      { id: "t", name: "add", arguments: '{"a": oops}', argumentsText: '{"a": oops}' },
    ]);
  });
});

describe("a whole turn over the wire", () => {
  it("replays what it got, and the API takes it at every step", async () => {
    const steps = [
      answer([
        thinking("SIG", "hm"),
        text("I look."),
        toolUse("toolu_1", "add", '{"a":1}'),
        toolUse("toolu_2", "add", "{"),
      ]),
      answer([thinking("SIG2", "so"), text("It is 3.")]),
      answer([text("You are welcome.")]),
    ];
    const server = await serve((response, _, n) => stream(response, steps[n - 1] ?? []));
    const provider = adapter(server.url);
    const messages = [...params.messages];
    const first = await provider.complete({ ...params, messages, reasoningEffort: "low" });
    messages.push(first.message);
    for (const call of first.toolCalls ?? []) {
      messages.push({
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: call.id, name: call.name, result: "3", resultText: "3" },
        ],
      });
    }
    messages.push((await provider.complete({ ...params, messages, reasoningEffort: "low" })).message);
    messages.push({ role: "user", content: [{ type: "text", text: "thanks" }] });
    const last = await provider.complete({ ...params, messages });
    expect(last.finishReason).toBe("stop");
    expect(server.seen.map(({ problems }) => problems)).toEqual([[], [], []]);
    const sent = server.seen[1]?.body.messages as { content: object[] }[];
    expect(sent[1]?.content[0]).toEqual({ type: "thinking", thinking: "hm", signature: "SIG" });
  });
});

describe("an error of this side", () => {
  it("is a ParleyError like any other", async () => {
    const provider = adapter("http://[bad");
    expect(failureOf(await read(provider))).toBeInstanceOf(ParleyError);
  });
});
