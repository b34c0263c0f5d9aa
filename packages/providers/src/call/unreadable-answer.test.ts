import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { isParleyError } from "@parley/core/errors";
import { collect } from "@parley/core/messages";
import type { ProviderAdapter, ProviderCallParams } from "@parley/core/ports";
import { afterEach, describe, expect, it } from "vitest";
import { AiSdkProviderAdapter, type AiSdkProviderAdapterConfig } from "../ai-sdk/index.js";
import { AnthropicProviderAdapter } from "../anthropic/index.js";
import { createOpenAIHttpClient, OpenAIChatProviderAdapter, OpenAIProviderAdapter } from "../openai/index.js";

/** An answer with status 200 that violates the protocol. */
interface Unreadable {
  readonly type: string;
  readonly body: string;
}

const events = (data: string): Unreadable => ({ type: "text/event-stream", body: `data: ${data}\n\n` });
const json = (body: string): Unreadable => ({ type: "application/json", body });

const unreadable: Record<string, Unreadable> = {
  "a page": { type: "text/html", body: "<html>Please log in</html>" },
  "a page that says it is a stream": { type: "text/event-stream", body: "<html>Please log in</html>" },
  "JSON that is cut": json('{"id": "re'),
  "no object": json("null"),
  "a list": json("[]"),
  "an object of something else": json('{"hello": "world"}'),
  "an event that is not JSON": events("{nope"),
  "an event that is not an object": events("null"),
};

/** An event of the protocol without a field that every event of its type has. */
const misshapen = {
  responses: events('{"type":"response.output_item.done","output_index":0,"item":null}'),
  chat: events('{"choices":[{"index":0,"delta":{"tool_calls":[null]}}]}'),
  messages: events('{"type":"content_block_start","index":0,"content_block":null}'),
};

let server: Server | undefined;
let requests = 0;

afterEach(async () => {
  const closing = server;
  server = undefined;
  requests = 0;
  closing?.closeAllConnections();
  await new Promise((resolve) => (closing === undefined ? resolve(undefined) : closing.close(resolve)));
});

async function serve({ type, body }: Unreadable): Promise<string> {
  server = createServer((request, response) => {
    requests += 1;
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": type });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const params: ProviderCallParams = {
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  metadata: { provider: "test", model: "m" },
};

const responses = (baseUrl: string) =>
  new OpenAIProviderAdapter({ client: createOpenAIHttpClient({ apiKey: "k", baseUrl }), defaultModel: "m" });
const streamed = async (adapter: ProviderAdapter) => {
  if (adapter.completeStream === undefined) throw new Error("the adapter does not stream");
  return collect(await adapter.completeStream(params));
};

interface Caller {
  readonly protocol: keyof typeof misshapen;
  readonly call: (url: string) => Promise<unknown>;
}

const callers: Record<string, Caller> = {
  "the Responses API, in one piece": {
    protocol: "responses",
    call: (url) => responses(url).complete(params),
  },
  "the Responses API": { protocol: "responses", call: (url) => streamed(responses(url)) },
  "a compatible server": {
    protocol: "chat",
    call: (url) => streamed(new OpenAIChatProviderAdapter({ baseUrl: url, defaultModel: "m" })),
  },
  "the Messages API": {
    protocol: "messages",
    call: (url) =>
      streamed(new AnthropicProviderAdapter({ apiKey: "k", baseUrl: url, defaultModel: "claude-opus-5" })),
  },
  "@ai-sdk/openai": {
    protocol: "responses",
    call: (url) => throughSdk(createOpenAI({ apiKey: "k", baseURL: url }).responses("gpt-5.5")),
  },
  "@ai-sdk/openai, chat": {
    protocol: "chat",
    call: (url) => throughSdk(createOpenAI({ apiKey: "k", baseURL: url }).chat("gpt-5.5")),
  },
  "@ai-sdk/anthropic": {
    protocol: "messages",
    call: (url) => throughSdk(createAnthropic({ apiKey: "k", baseURL: url }).messages("claude-opus-5")),
  },
};

const throughSdk = (model: AiSdkProviderAdapterConfig["model"]) =>
  streamed(new AiSdkProviderAdapter({ model }));

describe.each(Object.entries(callers))("an answer of %s that cannot be read", (name, { protocol, call }) => {
  const bodies = { ...unreadable, "an event of another form": misshapen[protocol] };
  it.each(Object.entries(bodies))("is provider_rejected, and not retried: %s", async (kind, body) => {
    const failure = await call(await serve(body)).then(
      (result) => ({ code: `answered: ${JSON.stringify(result)}` }),
      (error: unknown) => ({ code: isParleyError(error) ? error.code : String(error) }),
    );
    // The SDK exposes neither the bytes nor that it skipped them: to it, such a stream was cut.
    const isHidden = name.startsWith("@ai-sdk") && kind === "a page that says it is a stream";
    expect(failure).toEqual({ code: isHidden ? "network" : "provider_rejected" });
    expect(requests).toBe(1);
  });
});
