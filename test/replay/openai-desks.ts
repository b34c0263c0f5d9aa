import { createOpenAI } from "@ai-sdk/openai";
import type { ProviderAdapter } from "@parley/core/ports";
import { AiSdkProviderAdapter } from "@parley/providers/ai-sdk";
import {
  createOpenAIHttpClient,
  OpenAIChatProviderAdapter,
  OpenAIProviderAdapter,
} from "@parley/providers/openai";
import { startOpenAIHttpServer, validateChatRequest, validateResponsesRequest } from "@parley/testing/openai";
import { AnswerQueue, type Arrived, type Desk, greeting, type Scripted } from "./desk.js";
import { toChatChunks } from "./render-chat.js";
import { toResponsesEvents } from "./render-responses.js";

const reasoningModels = ["gpt-5.5", "gpt-4o"] as const;

/** Opens the Responses API through Parley's own adapter. */
export function openResponsesDesk(): Promise<Desk> {
  return openDesk({
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
export function openChatDesk(): Promise<Desk> {
  return openDesk({
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
export function openAiSdkOpenAIDesk(): Promise<Desk> {
  return openDesk({
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

interface OpenAIDesk extends Pick<Desk, "name" | "provider" | "models" | "seals"> {
  readonly path: string;
  validate(body: unknown): string[];
  events(scripted: Scripted & { readonly n: number }): readonly (object | string)[];
  adapter(url: string, model: string): ProviderAdapter;
}

async function openDesk(desk: OpenAIDesk): Promise<Desk> {
  const queue = new AnswerQueue();
  // Thousands of them are read: without the events that only repeat others.
  const greetingEvents = desk.events({ answer: greeting, n: 1 }).filter((event) => !repeats(event));
  let count = 0;
  let latest: Arrived | undefined;
  const server = await startOpenAIHttpServer(async (answer, { body, method, path }) => {
    const isKnown = method === "POST" && path === desk.path;
    const problems = isKnown ? desk.validate(body) : [`${method} ${path} is unknown`];
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
    const events = scripted.answer === greeting ? greetingEvents : desk.events(scripted);
    await answer.send(events.slice(0, scripted.cutAt));
    answer.end();
  });
  const adapters = new Map<string, ProviderAdapter>();
  return {
    name: desk.name,
    provider: desk.provider,
    models: desk.models,
    seals: desk.seals,
    adapter(model) {
      const known = adapters.get(model) ?? desk.adapter(server.url, model);
      adapters.set(model, known);
      return known;
    },
    script: (answers, given) => queue.set(answers, given),
    eventsIn: (answer) => desk.events({ answer, n: 1 }).length,
    count: () => count,
    latest: () => latest,
    close: () => server.close(),
  };
}

function repeats(event: object | string): boolean {
  const type = (event as { type?: string }).type ?? "";
  return /in_progress|content_part|text\.done/.test(type);
}
