import { createOpenAI } from "@ai-sdk/openai";
import type { ProviderAdapter } from "@parley/core/ports";
import { AiSdkProviderAdapter } from "@parley/providers/ai-sdk";
import {
  createOpenAIHttpClient,
  OpenAIChatProviderAdapter,
  OpenAIProviderAdapter,
} from "@parley/providers/openai";
import { startOpenAIHttpServer, validateChatRequest, validateResponsesRequest } from "@parley/testing/openai";
import {
  AnswerQueue,
  type Arrived,
  greeting,
  type ProviderEndpoint,
  type Scripted,
} from "./provider-endpoint.js";
import { toChatChunks } from "./render-chat.js";
import { toResponsesEvents } from "./render-responses.js";

const reasoningModels = ["gpt-5.5", "gpt-4o"] as const;

/** Opens the Responses API through Parley's own adapter. */
export function openResponsesEndpoint(): Promise<ProviderEndpoint> {
  return openEndpoint({
    name: "OpenAI Responses",
    provider: "openai",
    models: reasoningModels,
    seals: true,
    path: "/v1/responses",
    validate: validateResponsesRequest,
    events: ({ answer, n, sameIds }) => toResponsesEvents(answer, n, sameIds),
    adapter: (baseUrl, model) =>
      new OpenAIProviderAdapter({
        client: createOpenAIHttpClient({ baseUrl, apiKey: "sk-test", streamRetries: 0 }),
        defaultModel: model,
      }),
  });
}

/** Opens the chat completions API through Parley's own adapter. */
export function openChatEndpoint(): Promise<ProviderEndpoint> {
  return openEndpoint({
    name: "OpenAI-compatible chat",
    provider: "local",
    models: ["local-1", "local-2"],
    seals: false,
    path: "/v1/chat/completions",
    validate: validateChatRequest,
    events: ({ answer }) => toChatChunks(answer),
    adapter: (baseUrl, model) =>
      new OpenAIChatProviderAdapter({
        baseUrl,
        defaultModel: model,
        streamRetries: 0,
        ...(model === "local-1" ? { replayReasoning: "reasoning_content", sendsFiles: true } : {}),
      }),
  });
}

/** Opens the Responses API through the AI SDK's own package. */
export function openAiSdkOpenAIEndpoint(): Promise<ProviderEndpoint> {
  return openEndpoint({
    name: "AI SDK, `@ai-sdk/openai`",
    provider: "openai.responses",
    models: reasoningModels,
    seals: true,
    path: "/v1/responses",
    validate: validateResponsesRequest,
    events: ({ answer, n, sameIds }) => toResponsesEvents(answer, n, sameIds),
    adapter: (baseURL, model) =>
      new AiSdkProviderAdapter({ model: createOpenAI({ apiKey: "sk-test", baseURL }).responses(model) }),
  });
}

interface OpenAIEndpointOptions extends Pick<ProviderEndpoint, "name" | "provider" | "models" | "seals"> {
  readonly path: string;
  validate(body: unknown): string[];
  events(scripted: Scripted & { readonly n: number }): readonly (object | string)[];
  adapter(url: string, model: string): ProviderAdapter;
}

async function openEndpoint(options: OpenAIEndpointOptions): Promise<ProviderEndpoint> {
  const queue = new AnswerQueue();
  // Thousands of them are read: without the events that only repeat others.
  const greetingEvents = options.events({ answer: greeting, n: 1 }).filter((event) => !repeats(event));
  let count = 0;
  let latest: Arrived | undefined;
  const server = await startOpenAIHttpServer(async (answer, { body, method, path }) => {
    const isKnown = method === "POST" && path === options.path;
    const problems = isKnown ? options.validate(body) : [`${method} ${path} is unknown`];
    count += 1;
    latest = { body, problems };
    const [problem] = problems;
    if (problem !== undefined) {
      answer.json(400, {
        error: { message: problem, type: "invalid_request_error", param: null, code: null },
      });
      return;
    }
    const scripted = queue.next();
    const events = scripted.answer === greeting ? greetingEvents : options.events(scripted);
    await answer.send(events.slice(0, scripted.cutAt));
    answer.end();
  });
  const adapters = new Map<string, ProviderAdapter>();
  return {
    name: options.name,
    provider: options.provider,
    models: options.models,
    seals: options.seals,
    adapter(model) {
      const known = adapters.get(model) ?? options.adapter(server.url, model);
      adapters.set(model, known);
      return known;
    },
    script: (answers, given) => queue.set(answers, given),
    eventsIn: (answer) => options.events({ answer, n: 1 }).length,
    count: () => count,
    latest: () => latest,
    close: () => server.close(),
  };
}

function repeats(event: object | string): boolean {
  const type = (event as { type?: string }).type ?? "";
  return /in_progress|content_part|text\.done/.test(type);
}
