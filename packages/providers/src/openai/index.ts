export type {
  CreateResponseOptions,
  CreateResponseRequest,
  OpenAIConversationState,
  OpenAIFunctionTool,
  OpenAIInputContent,
  OpenAIInputMessage,
  OpenAIRole,
  OpenAITextBlock,
  OpenAITokenUsage,
  OpenAIToolDefinition,
} from "./create-response.js";
export {
  OpenAIChatProviderAdapter,
  type OpenAIChatProviderAdapterConfig,
} from "./openai-chat-provider-adapter.js";
export {
  createOpenAIHttpClient,
  type OpenAIHttpClient,
  type OpenAIHttpClientConfig,
} from "./openai-http-client.js";
export { OpenAIProviderAdapter, type OpenAIProviderAdapterConfig } from "./openai-provider-adapter.js";
export type {
  OpenAIResponseObject,
  OpenAIResponseStream,
  OpenAIResponseStreamEvent,
} from "./response-object.js";
export type { OpenAIResponsesClient } from "./responses-client.js";
export { validateChatRequest } from "./validate-chat-request.js";
export { validateResponsesRequest } from "./validate-request.js";
