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
export type {
  CompactionPreview,
  CompactionResult,
  CompactRequest,
  UndoCompactionResponse,
} from "./compaction.js";
export type { ConversationMeta, ConversationStatus } from "./conversation.js";
export type {
  ActiveTurn,
  CloseResponse,
  ConversationDetail,
  CreateConversationRequest,
  CreateConversationResponse,
  DeleteQuery,
  DeleteResponse,
  EventsQuery,
  ForkRequest,
  ForkResponse,
  HistoryQuery,
  HistoryResponse,
  LastResponse,
  ListConversationsQuery,
  ListConversationsResponse,
  MetricsQuery,
  MetricsResponse,
  OpenResponse,
  StopResponse,
  TurnDetail,
} from "./conversation-routes.js";
export type { Cursor, CursoredEvent } from "./cursor.js";
export type { DoctorResponse, Finding } from "./doctor-routes.js";
export type { ErrorCode } from "./error-code.js";
export type {
  ExportedChunk,
  ExportedConversation,
  ExportedTurn,
  ExportLine,
  ExportQuery,
  ImportQuery,
  ImportResponse,
} from "./export-routes.js";
export type {
  ConversationParams,
  KeyParams,
  Nothing,
  QueuedMessageParams,
  ResponseFormat,
  Route,
  RouteBody,
  RouteMethod,
  RouteName,
  RouteParams,
  RoutePath,
  RouteQuery,
  RouteResponse,
  Routes,
  TurnParams,
} from "./http-routes.js";
export type { Role, StepId, TurnId } from "./ids.js";
export type { JsonObject, JsonValue, OpenUnion, ProviderMetadata } from "./json.js";
export type {
  ApiKeyInfo,
  CreateKeyRequest,
  CreateKeyResponse,
  DeleteKeyResponse,
  KeyScope,
  KeysResponse,
  LoginRequest,
  LogoutResponse,
  MeResponse,
} from "./key-routes.js";
export type {
  ContextManifest,
  ContextSegment,
  ContextSegmentKind,
  ContextTransform,
  ContextTransformKind,
  DroppedRange,
  PrefixBreak,
  ProviderCallInfo,
} from "./manifest.js";
export type { StepMetrics, ToolTiming, TurnMetrics } from "./metrics.js";
export type { FieldProblem, Problem } from "./problem.js";
export type { QueuedMessage, QueueMode, QueuePayload } from "./queue.js";
export type { EnqueueRequest, EnqueueResponse, QueueEdit, QueueResponse } from "./queue-routes.js";
export type { ReceiptOutcome, SendMessageRequest } from "./send-message.js";
export type {
  HealthResponse,
  ModelInfo,
  ModelsResponse,
  ReadyResponse,
  SearchHit,
  SearchQuery,
  SearchResponse,
} from "./server-routes.js";
export type {
  CompactThresholdSetting,
  InstructionsSetting,
  ModelSetting,
  ReasoningEffortSetting,
  TitleSetting,
} from "./settings-routes.js";
export type {
  WsChatQueue,
  WsChatSend,
  WsChatStop,
  WsChatSubscribe,
  WsChatUnsubscribe,
  WsClientMessage,
  WsPing,
  WsSurfaceSubscribe,
  WsSurfaceUnsubscribe,
} from "./socket-client-message.js";
export type {
  WsChatChunks,
  WsChatDelta,
  WsChatError,
  WsChatReceipt,
  WsChatReset,
  WsChatSnapshot,
  WsConversationCompacted,
  WsConversationOpen,
  WsConversationRemoved,
  WsConversationStatusChanged,
  WsConversationUpdated,
  WsPong,
  WsServerMessage,
  WsSurface,
  WsSurfaceCatalog,
  WsSurfaceError,
  WsSurfaceUpdate,
} from "./socket-server-message.js";
export type { SseEventName, SseEvents, SseMessage } from "./sse.js";
export type { StoredChunk } from "./stored-chunk.js";
export type {
  CustomSurfaceField,
  MessageQueueField,
  SurfaceCatalog,
  SurfaceCatalogEntry,
  SurfaceField,
  SurfaceSpec,
} from "./surface.js";
export type { TurnReason } from "./turn-reason.js";
export type { ReasoningEffort, Usage } from "./usage.js";
