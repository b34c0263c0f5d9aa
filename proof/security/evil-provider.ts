import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ModelBinding } from "@parley/core/runtime";
import { createNodeHttpClient } from "@parley/http/node";
import { AnthropicProviderAdapter, createAnthropicHttpClient } from "@parley/providers/anthropic";
import {
  createOpenAIHttpClient,
  OpenAIChatProviderAdapter,
  OpenAIProviderAdapter,
} from "@parley/providers/openai";
import type { Secrets } from "./secrets.js";

/** Failures of this provider. Each time it repeats every header and the whole body that it was sent. */
export const failures = [
  "401",
  "403",
  "400",
  "404",
  "429",
  "500",
  "html",
  "event",
  "garbage",
  "cut",
] as const;
type Failure = (typeof failures)[number];

/** A provider of models that reveals to every caller what it was sent. */
export interface EvilProvider {
  /** Models over every protocol, whose keys and headers are planted. */
  readonly models: readonly ModelBinding[];
  /** The base of its addresses. */
  readonly url: string;
  /** Requests that it received: they show that the secrets arrived at all. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

/** Starts the provider. It fails in the way that the last message names. */
export async function openEvilProvider(secrets: Secrets): Promise<EvilProvider> {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    const echo = `You sent ${JSON.stringify(request.headers)}`;
    received.push(echo);
    fail(request, response, failureIn(body), echo);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const httpClient = createNodeHttpClient({ clientName: "evil", defaultResilience: { maxAttempts: 1 } });
  const reach = (protocol: string) => ({
    baseUrl: `${url}/v1`,
    httpClient,
    apiKey: secrets.make("a provider's key", `the key of ${protocol}`),
    headers: { "x-planted": secrets.make("a provider's header", `a header of ${protocol}`) },
    streamRetries: 0,
  });
  const providers = {
    responses: new OpenAIProviderAdapter({
      client: createOpenAIHttpClient(reach("responses")),
      defaultModel: "m",
    }),
    chat: new OpenAIChatProviderAdapter({ ...reach("chat"), defaultModel: "m" }),
    messages: new AnthropicProviderAdapter({
      client: createAnthropicHttpClient(reach("messages")),
      defaultModel: "m",
    }),
  };
  return {
    url,
    received,
    models: Object.entries(providers).map(([name, provider]) => ({
      name: `evil/${name}`,
      provider,
      providerName: name,
      model: "m",
      contextWindow: 100_000,
    })),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function failureIn(body: string): Failure {
  return failures.findLast((each) => body.includes(`fail-${each}`)) ?? "400";
}

function fail(request: IncomingMessage, response: ServerResponse, how: Failure, echo: string): void {
  const payload = JSON.stringify({
    type: "error",
    error: { type: "invalid_request_error", code: echo.slice(0, 3_000), message: echo },
  });
  const json = { "content-type": "application/json" };
  switch (how) {
    case "html":
      response.writeHead(502, { "content-type": "text/html" }).end(`<h1>${echo}</h1>`);
      return;
    case "event":
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`event: error\ndata: ${payload}\n\n`);
      return;
    case "garbage":
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`data: ${echo}\n\n`);
      return;
    case "cut":
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: ${echo}\n\n`, () => request.socket.destroy());
      return;
    default:
      response.writeHead(Number(how), { ...json, "x-request-id": "r1" }).end(payload);
  }
}
