export { Agent, type AgentConfig, type AgentInput, type AgentMessage } from "./agent.js";
export type { AgentResult, AgentStream } from "./agent-stream.js";
export { AiSdkProviderAdapter, type AiSdkProviderAdapterConfig } from "./ai-sdk-provider-adapter.js";
export type { StreamPart } from "./from-stream-part.js";
export {
  createMessageListState,
  flushToCanonical,
  type MessageListOptions,
  type MessageListState,
  updateFromStreamPart,
} from "./message-list.js";
export { type ToAiSdkMessagesOptions, toAiSdkMessages } from "./to-model-messages.js";
