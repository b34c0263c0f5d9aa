import type { ProviderCallParams, ProviderRetry } from "@parley/core/ports";
import { createDefaultHttpClient, type HttpRequestOptions, type ResilienceProfile } from "@parley/http";
import { createNodeTransport } from "@parley/http/node";
import { type ProviderScenario, providerContract } from "@parley/testing";
import type { AnswerScript } from "@parley/testing/openai";
import { type ChatAnswer, chatChunk, chatChunks } from "@parley/testing/openai";
import { describe, expect, it } from "vitest";
import { codeOf, openAIServers, read, testHttpClient, textIn } from "../openai-adapter.test-support.js";
import {
  OpenAIChatProviderAdapter,
  type OpenAIChatProviderAdapterConfig,
} from "./openai-chat-provider-adapter.js";

const serve = openAIServers();

const params: ProviderCallParams = {
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  metadata: { provider: "local", model: "llama" },
};

const clientWith = (resilience: ResilienceProfile = {}) => testHttpClient({ maxAttempts: 2, ...resilience });

function adapterFor(url: string, config: Partial<OpenAIChatProviderAdapterConfig> = {}) {
  return new OpenAIChatProviderAdapter({
    baseUrl: url,
    defaultModel: "default",
    httpClient: clientWith(),
    ...config,
  });
}

const say =
  (answer: ChatAnswer): AnswerScript =>
  (reply) =>
    void reply.send([...chatChunks(answer), "[DONE]"]).then(reply.end);

const spoken: ChatAnswer = { text: "Hello there, friend." };
const called: ChatAnswer = {
  calls: [
    { name: "add", arguments: '{"a":1,"b":2}' },
    { name: "search", arguments: '{"q":"parley"}' },
  ],
};

describe("the provider contract", () => {
  const scripts: Record<ProviderScenario, AnswerScript> = {
    text: say(spoken),
    tools: say(called),
    reasoning: say({ ...spoken, reasoning: "Hmm, let me see." }),
    refusing: (answer) => answer.json(401, { error: { message: "no" } }),
    breaking: (answer) => void answer.send(chatChunks(spoken).slice(0, 3)).then(answer.reset),
    hanging: (answer) => void answer.send(chatChunks(spoken).slice(0, 3)),
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
    return {
      provider: adapterFor(server.url, { httpClient: createDefaultHttpClient() }),
      params,
      ...(scenario === "hanging" ? { left } : {}),
    };
  })) {
    it(name, run);
  }
});

describe("the request", () => {
  it("goes to chat completions, with a key only if there is one", async () => {
    const server = await serve(say(spoken));
    let seen: HttpRequestOptions | undefined;
    const httpClient = createDefaultHttpClient({
      transport: createNodeTransport(),
      interceptors: [
        {
          beforeSend: ({ request }) => {
            seen = request;
          },
        },
      ],
    });
    await adapterFor(server.url, { httpClient }).complete({
      ...params,
      reasoningEffort: "high",
      cacheKey: "c",
    });
    expect(server.seen[0]).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(server.seen[0]?.headers).not.toHaveProperty("authorization");
    expect(server.seen[0]?.body).toEqual({
      model: "llama",
      messages: [{ role: "user", content: "hi" }],
      stream_options: { include_usage: true },
      stream: true,
    });
    expect(seen).toMatchObject({
      operation: "openai.chat.completions.create",
      extensions: { "ai.provider": "local", "ai.model": "llama", "ai.operation": "chat.completions.create" },
    });
    await adapterFor(server.url, { apiKey: "k", includeUsage: false }).complete(params);
    expect(server.seen[1]?.headers.authorization).toBe("Bearer k");
    expect(server.seen[1]?.body).not.toHaveProperty("stream_options");
  });

  it("requests effort if the server is configured for it, and lets the caller's fields win", async () => {
    const server = await serve(say(spoken));
    await adapterFor(server.url, { effortParams: (effort) => ({ reasoning: { effort } }) }).complete({
      ...params,
      reasoningEffort: "high",
      extraParams: { temperature: 0, stream: false, model: "other" },
    });
    expect(server.seen[0]?.body).toMatchObject({
      reasoning: { effort: "high" },
      temperature: 0,
      stream: false,
      model: "other",
    });
    // The API refuses stream options without a stream.
    expect(server.seen[0]?.body).not.toHaveProperty("stream_options");
  });
});

describe("reasoning in tags", () => {
  it("is removed from the answer of a self-hosted server, unless configured otherwise", async () => {
    const server = await serve(say({ text: "<think>Hm.</think>Hello." }));
    const partsWith = async (thinkTags?: boolean) => {
      const config = thinkTags === undefined ? {} : { thinkTags };
      const { message } = await adapterFor(server.url, config).complete(params);
      return message.content.map(({ type, text }) => [type, text]);
    };
    expect(await partsWith()).toEqual([
      ["reasoning", "Hm."],
      ["text", "Hello."],
    ]);
    expect(await partsWith(false)).toEqual([["text", "<think>Hm.</think>Hello."]]);
  });
});

describe("servers that omit fields", () => {
  it("may end without [DONE], and with the connection left open", async () => {
    const plain = await serve(
      (answer) => void answer.send(chatChunks({ ...spoken, usage: false })).then(answer.end),
    );
    expect(codeOf(await read(await adapterFor(plain.url).completeStream(params)))).toBe("done");
    const open = await serve((answer) => void answer.send([...chatChunks(spoken), "[DONE]"]));
    expect(codeOf(await read(await adapterFor(open.url).completeStream(params)))).toBe("done");
    await open.seen[0]?.left;
  });

  it("may break after the finish reason, and the answer is complete", async () => {
    const chunks = chatChunks({ ...spoken, usage: false });
    const server = await serve((answer) => void answer.send(chunks).then(answer.reset));
    const events = await read(await adapterFor(server.url).completeStream(params));
    expect(textIn(events)).toBe("Hello there, friend.");
    expect(codeOf(events)).toBe("done");
  });

  it("may answer in one piece of JSON", async () => {
    const message = {
      role: "assistant",
      content: "Hello.",
      tool_calls: [{ id: "a", type: "function", function: { name: "add", arguments: "{}" } }],
    };
    const server = await serve((answer) =>
      answer.json(200, {
        id: "x",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      }),
    );
    const result = await adapterFor(server.url).complete(params);
    expect(result).toMatchObject({ finishReason: "tool-calls", usage: { inputTokens: 1 } });
    expect(result.message.content.map(({ type }) => type)).toEqual(["text", "tool-call"]);
  });

  it("may send comments to keep the connection alive", async () => {
    const server = await serve(async (answer) => {
      await answer.raw(": OPENROUTER PROCESSING\n\n");
      await answer.send([...chatChunks(spoken), "[DONE]"]);
      answer.end();
    });
    expect(textIn(await read(await adapterFor(server.url).completeStream(params)))).toBe(
      "Hello there, friend.",
    );
  });
});

describe("failures", () => {
  const middles: [string, object[]][] = [
    ["text", chatChunks(spoken).slice(0, 3)],
    ["reasoning", chatChunks({ reasoning: "Hmm, let me see." }).slice(0, 3)],
    ["arguments", chatChunks(called).slice(0, 4)],
  ];
  const faults: [string, AnswerScript, string][] = [
    ["a reset", (answer) => answer.reset(), "network"],
    ["silence", () => {}, "timeout"],
    ["an end", (answer) => answer.end(), "network"],
    [
      "an error object",
      (answer) => void answer.send([{ error: { code: 502, message: "m" } }]),
      "provider_overloaded",
    ],
    ["garbage", (answer) => void answer.send(["{nope"]), "provider_rejected"],
  ];
  for (const [where, chunks] of middles) {
    for (const [what, fault, code] of faults) {
      it(`${what} in the middle of ${where} is ${code}, keeps what arrived, and is not retried`, async () => {
        const server = await serve(async (answer, call, n) => {
          await answer.send(chunks);
          await fault(answer, call, n);
        });
        const config = code === "timeout" ? { httpClient: clientWith({ stallTimeoutMs: 300 }) } : {};
        const events = await read(await adapterFor(server.url, config).completeStream(params));
        expect(codeOf(events)).toBe(code);
        expect(events).toHaveLength(3);
        expect(server.seen).toHaveLength(1);
      });
    }
  }

  it("before anything was visible are retried, and nothing is emitted twice", async () => {
    const server = await serve(async (answer, _, n) => {
      if (n === 1) await answer.send([chatChunk({ role: "assistant" })]).then(answer.reset);
      else if (n === 2) await answer.send([{ error: { code: 503, message: "m" } }]).then(answer.end);
      else if (n === 3) await answer.json(429, { error: { message: "slow down" } });
      else await answer.send([...chatChunks(spoken), "[DONE]"]).then(answer.end);
    });
    const reported: string[] = [];
    const onRetry = ({ code, delayMs }: ProviderRetry) => reported.push(`${code} ${delayMs >= 0}`);
    const events = await read(await adapterFor(server.url).completeStream({ ...params, onRetry }));
    expect(textIn(events)).toBe("Hello there, friend.");
    expect(codeOf(events)).toBe("done");
    expect(server.seen).toHaveLength(4);
    expect(reported).toEqual(["network true", "provider_overloaded true", "rate_limited true"]);
  });

  it.each([
    [400, { error: { type: "exceed_context_size_error", code: 400, message: "m" } }, "context_overflow"],
    [402, { error: { code: 402, message: "m" } }, "quota_exceeded"],
    [404, { error: { message: "model not found", type: "api_error" } }, "provider_rejected"],
    [413, { detail: "too large" }, "too_large"],
    [413, { error: { code: "context_length_exceeded", message: "m" } }, "too_large"],
    [503, "loading", "provider_overloaded"],
  ])("with status %i and %j become %s", async (status, body, code) => {
    const server = await serve((answer) => answer.json(status, body));
    expect(codeOf(await read(await adapterFor(server.url).completeStream(params)))).toBe(code);
  });

  it("name the host of a redirect, which is not sent the prompt or the key", async () => {
    const elsewhere = await serve(say(spoken));
    const location = `${elsewhere.url}/v1/chat/completions?token=hidden-token`;
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await serve((answer) => answer.json(status, {}, { location }));
      for (const config of [{}, { httpClient: createDefaultHttpClient() }]) {
        const [last] = (await read(await adapterFor(server.url, config).completeStream(params))).slice(-1);
        expect(last).toMatchObject({
          type: "error",
          error: {
            code: "provider_rejected",
            retryable: false,
            message: expect.stringContaining(new URL(elsewhere.url).host),
          },
        });
        expect(JSON.stringify(last)).not.toContain("hidden-token");
      }
      expect(server.seen).toHaveLength(2);
    }
    expect(elsewhere.seen).toHaveLength(0);
  });

  it("are followed within the host, including prompt and key", async () => {
    const server = await serve((answer, call, n) =>
      n === 1 ? answer.json(307, {}, { location: "/v2/chat/completions" }) : say(spoken)(answer, call, n),
    );
    expect(textIn(await read(await adapterFor(server.url).completeStream(params)))).toBe(
      "Hello there, friend.",
    );
    expect(server.seen[1]?.body).toEqual(server.seen[0]?.body);
  });

  it.each([
    [
      "vLLM",
      {
        object: "error",
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
        type: "BadRequestError",
        code: 400,
      },
    ],
    ["llama.cpp", { error: { code: 400, type: "exceed_context_size_error", message: "m", n_ctx: 4096 } }],
  ])("of a request that is too long carry the window that %s names", async (_, body) => {
    const server = await serve((answer) => answer.json(400, body));
    const [last] = (await read(await adapterFor(server.url).completeStream(params))).slice(-1);
    expect(last).toMatchObject({
      type: "error",
      error: { code: "context_overflow", details: { contextWindow: 4096 } },
    });
  });
});
