import { createAnthropic } from "@ai-sdk/anthropic";
import type { ProviderAdapter } from "@parley/core/ports";
import { AiSdkProviderAdapter } from "@parley/providers/ai-sdk";
import { AnthropicProviderAdapter } from "@parley/providers/anthropic";
import { startAnthropicServer, stream } from "@parley/testing/anthropic";
import { AnswerQueue, type ProviderEndpoint } from "./provider-endpoint.js";
import { toMessagesEvents } from "./render-messages.js";

/** Opens the Messages API through Parley's own adapter. */
export function openAnthropicEndpoint(): Promise<ProviderEndpoint> {
  return openEndpoint("Anthropic", "anthropic", (baseUrl, defaultModel) => {
    return new AnthropicProviderAdapter({ baseUrl, apiKey: "test-key", defaultModel, streamRetries: 0 });
  });
}

/** Opens the Messages API through the AI SDK's own package. */
export function openAiSdkAnthropicEndpoint(): Promise<ProviderEndpoint> {
  return openEndpoint("AI SDK, `@ai-sdk/anthropic`", "anthropic.messages", (baseURL, model) => {
    return new AiSdkProviderAdapter({
      model: createAnthropic({ apiKey: "test-key", baseURL }).messages(model),
    });
  });
}

async function openEndpoint(
  name: string,
  provider: string,
  create: (url: string, model: string) => ProviderAdapter,
): Promise<ProviderEndpoint> {
  const queue = new AnswerQueue();
  const server = await startAnthropicServer((response) => {
    const { answer, cutAt, n } = queue.next();
    stream(response, toMessagesEvents(answer, n).slice(0, cutAt));
  });
  const adapters = new Map<string, ProviderAdapter>();
  return {
    name,
    provider,
    // The second is of the generation that takes a budget for its thinking.
    models: ["claude-opus-5", "claude-sonnet-4-5"],
    seals: true,
    adapter(model) {
      const known = adapters.get(model) ?? create(server.url, model);
      adapters.set(model, known);
      return known;
    },
    script: (answers, given) => queue.set(answers, given),
    eventsIn: (answer) => toMessagesEvents(answer, 1).length,
    count: () => server.seen.length,
    latest() {
      const seen = server.seen.at(-1);
      if (seen === undefined) return undefined;
      return { body: seen.body, problems: seen.problems.map(({ at, problem }) => `${at}: ${problem}`) };
    },
    close: () => server.close(),
  };
}
