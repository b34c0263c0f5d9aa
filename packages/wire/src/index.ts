export type {
  AgentEvent,
  DeliveredMessage,
  StatusEvent,
  TurnDoneEvent,
  TurnErrorEvent,
  TurnInputEvent,
  TurnReasoningDeltaEvent,
  TurnSealedEvent,
  TurnStartEvent,
  TurnSteeringEvent,
  TurnStepCompleteEvent,
  TurnTextDeltaEvent,
  TurnToolCallEvent,
  TurnToolOutputEvent,
  TurnToolResultEvent,
  TurnUsageEvent,
} from "./agent-event.js";
export type {
  ChatMessage,
  Chunk,
  DataChunk,
  ErrorChunk,
  FileChunk,
  SourceChunk,
  SystemChunk,
  TextChunk,
  ThinkingChunk,
  ToolCallChunk,
  ToolResultChunk,
} from "./chunk.js";
export type { CompactionResult } from "./compaction.js";
export type { ConversationMeta, ConversationStatus } from "./conversation.js";
export type { ErrorCode } from "./error-code.js";
export type { Role, StepId, TurnId } from "./ids.js";
export type { JsonObject, JsonValue, OpenUnion, ProviderMetadata } from "./json.js";
export type { StepMetrics, ToolTiming, TurnMetrics } from "./metrics.js";
export type { QueuedMessage, QueueMode, QueuePayload } from "./queue.js";
export type { StoredChunk } from "./stored-chunk.js";
export type { TurnReason } from "./turn-reason.js";
export type { ReasoningEffort, Usage } from "./usage.js";
