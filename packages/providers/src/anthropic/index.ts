export {
  type AnthropicHttpClient,
  type AnthropicHttpClientConfig,
  createAnthropicHttpClient,
  type MessagesRequestOptions,
} from "./anthropic-http-client.js";
export {
  type AnthropicAdapterSettings,
  AnthropicProviderAdapter,
  type AnthropicProviderAdapterConfig,
} from "./anthropic-provider-adapter.js";
export type { MessagesBody, MessagesEvent, StartedBlock } from "./api-types.js";
export { rawArgumentsField, type UnsendableArguments } from "./request/lower-messages.js";
