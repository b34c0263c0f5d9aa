export { Agent, type AgentConfig, type AgentInput, type AgentMessage } from "./agent/agent.js";
export type { AgentResult, AgentStream } from "./agent/agent-stream.js";
export {
  createMessageListState,
  flushToCanonical,
  type MessageListOptions,
  type MessageListState,
  updateFromStreamPart,
} from "./agent/message-list.js";
export { AiSdkProviderAdapter, type AiSdkProviderAdapterConfig } from "./ai-sdk-provider-adapter.js";
export type { StreamPart } from "./answer/from-stream-part.js";
export { type ToAiSdkMessagesOptions, toAiSdkMessages } from "./request/to-model-messages.js";
