export { type Clock, systemClock } from "./clock.js";
export {
  type ConversationEngine,
  DefaultConversationEngine,
  type DefaultConversationEngineOptions,
  type StreamingTurn,
  type StreamingTurnEvent,
  type TurnInput,
  type TurnOptions,
  type TurnOutput,
} from "./engine/engine.js";
export { InMemoryConversationStore } from "./engine/in-memory-conversation-store.js";
export { InMemoryMemoryStore, type InMemoryMemoryStoreOptions } from "./engine/in-memory-memory-store.js";
export { type ErrorCode, isParleyError, ParleyError, type ParleyErrorOptions } from "./errors.js";
export {
  BudgetedHistoryBuilder,
  type BudgetedHistoryBuilderOptions,
} from "./history/budgeted-history-builder.js";
export type {
  HistoryBudget,
  HistoryBuilder,
  HistoryBuildRequest,
  HistoryBuildResult,
  HistoryDropped,
  PreviousCall,
} from "./history/history-builder.js";
export { KeptHistory } from "./history/kept-history.js";
export {
  RecentNTurnsHistoryBuilder,
  type RecentNTurnsHistoryBuilderOptions,
} from "./history/recent-n-turns.js";
export type { TextCounter } from "./history/token-scale.js";
export { createUuidV7Factory, type IdFactory } from "./messages/ids.js";
export {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  type MessageId,
  type MessageOrigin,
  type MessageRole,
  type ProviderCallId,
  type TokenUsage,
  type TurnId,
  textOf,
} from "./messages/message.js";
export type {
  ErrorContentPart,
  FileContentPart,
  MessageContentPart,
  MetadataContentPart,
  ReasoningContentPart,
  SourceContentPart,
  TextContentPart,
  ToolCallContentPart,
  ToolResultContentPart,
} from "./messages/part.js";
export type {
  AddedEntries,
  AddedEntriesReader,
  AgentContext,
  ConversationStore,
  ConversationTurn,
  Extensions,
  ListConversationsOptions,
  ListMessagesOptions,
  NewestFirstReader,
  ProviderAdapter,
  ProviderCallMetadata,
  ProviderCallParams,
  ProviderCallRecord,
  ProviderCallResult,
  ProviderContentPart,
  ProviderFinishReason,
  ProviderMessage,
  ProviderOutput,
  ProviderRole,
  ProviderStream,
  ProviderStreamEvent,
  ProviderTextPart,
  ProviderToolCall,
  ProviderToolDefinition,
} from "./ports.js";
export type { Approval, ApprovalContext, ApprovalRule, ApprovalVerdict } from "./turn/approval/approval.js";
export { askUserTool } from "./turn/approval/ask-user.js";
export type { ApprovalAnswer, ApprovalRequest, Approve } from "./turn/approval/turn-inputs.js";
export {
  type JsonSchema,
  type StandardSchema,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolFile,
  type ToolOutput,
  type ToolQuestion,
  toolOutput,
} from "./turn/tools/tool.js";
export type { TurnLimits } from "./turn/turn.js";
