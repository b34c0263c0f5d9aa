export {
  OpenAIChatProviderAdapter,
  type OpenAIChatProviderAdapterConfig,
} from "./chat/openai-chat-provider-adapter.js";
export {
  createOpenAIHttpClient,
  type OpenAIHttpClient,
  type OpenAIHttpClientConfig,
} from "./openai-http-client.js";
export type {
  CreateResponseOptions,
  CreateResponseRequest,
  OpenAIConversationState,
  OpenAIFunctionTool,
  OpenAIInputContent,
  OpenAIInputItem,
  OpenAIInputMessage,
  OpenAIRole,
  OpenAITextBlock,
  OpenAITokenUsage,
  OpenAIToolDefinition,
} from "./responses/create-response.js";
export {
  OpenAIProviderAdapter,
  type OpenAIProviderAdapterConfig,
} from "./responses/openai-provider-adapter.js";
export type {
  OpenAIResponseObject,
  OpenAIResponseStream,
  OpenAIResponseStreamEvent,
} from "./responses/response-object.js";
export type { OpenAIResponsesClient } from "./responses/responses-client.js";
