import { openAiSdkAnthropicEndpoint, openAnthropicEndpoint } from "./anthropic-endpoints.js";
import { openDemoEndpoint, openMockEndpoint } from "./mock-endpoints.js";
import { openAiSdkOpenAIEndpoint, openChatEndpoint, openResponsesEndpoint } from "./openai-endpoints.js";
import type { ProviderEndpoint } from "./provider-endpoint.js";

/** Opens an endpoint for each provider, in the order of the matrix. */
export function openAllEndpoints(): Promise<ProviderEndpoint[]> {
  return Promise.all([
    openResponsesEndpoint(),
    openChatEndpoint(),
    openAnthropicEndpoint(),
    openAiSdkOpenAIEndpoint(),
    openAiSdkAnthropicEndpoint(),
    openMockEndpoint(),
    openDemoEndpoint(),
  ]);
}
