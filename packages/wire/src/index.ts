export type {
  CompactionPreview,
  CompactionResult,
  CompactRequest,
  UndoCompactionResponse,
} from "./compaction.js";
export type { ConversationMeta, ConversationStatus, EffectiveChoices, ModelSource } from "./conversation.js";
export type { ErrorCode } from "./error-code.js";
export type { Cost, CostAmount, CostSum, ModelPrices } from "./figures/cost.js";
export type {
  ContextManifest,
  ContextSegment,
  ContextSegmentKind,
  ContextTransform,
  ContextTransformKind,
  DroppedRange,
  PrefixBreak,
  ProviderCallInfo,
  ShownFile,
} from "./figures/manifest.js";
export type { StepMetrics, ToolTiming, TurnMetrics } from "./figures/metrics.js";
export type { ReasoningEffort, Usage } from "./figures/usage.js";
export type {
  GrantScope,
  InputActor,
  InputDecision,
  InputEntry,
  InputKind,
  InputRequestEntry,
  InputResponseEntry,
  InputVia,
  WaitingInfo,
} from "./input/input-entry.js";
export type {
  CallerTool,
  ConnectToolServerRequest,
  ConnectToolServerResponse,
  DisconnectToolServerResponse,
  FinishToolLoginRequest,
  FinishToolLoginResponse,
  GrantInfo,
  GrantParams,
  GrantsResponse,
  PendingParams,
  PendingQuery,
  PendingRequest,
  PendingResponse,
  RespondRequest,
  RespondResponse,
  RevokeGrantResponse,
  ToolInfo,
  ToolServerInfo,
  ToolServerParams,
  ToolsResponse,
} from "./input/input-routes.js";
export type { JsonObject, JsonValue, OpenUnion, ProviderMetadata } from "./json.js";
export type {
  AgentEvent,
  DeliveredMessage,
  StatusEvent,
  TurnDoneEvent,
  TurnErrorEvent,
  TurnInputEvent,
  TurnInputRequestEvent,
  TurnInputResponseEvent,
  TurnOutputInvalidEvent,
  TurnProgress,
  TurnProgressEvent,
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
} from "./log/agent-event.js";
export type {
  ChatMessage,
  Chunk,
  DataChunk,
  ErrorChunk,
  FileReference,
  InlineFile,
  SourceChunk,
  SystemChunk,
  TextChunk,
  ThinkingChunk,
  ToolCallChunk,
  ToolResultChunk,
} from "./log/chunk.js";
export type { Cursor, CursoredEvent } from "./log/cursor.js";
export type { Role, StepId, TurnId } from "./log/ids.js";
export type { OutputInvalidEntry, OutputRequest, OutputVerdict, TurnOutput } from "./log/output.js";
export type { StoredChunk } from "./log/stored-chunk.js";
export type { TurnReason } from "./log/turn-reason.js";
export type { QueuedMessage, QueueMode, QueuePayload } from "./queue.js";
export type {
  AddConnectionRequest,
  ChangeConnectionRequest,
  ConnectionInfo,
  ConnectionKind,
  ConnectionModel,
  ConnectionParams,
  ConnectionResponse,
  ConnectionSettings,
  ConnectionsResponse,
  DeleteConnectionResponse,
  TestConnectionResponse,
} from "./routes/connection-routes.js";
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
} from "./routes/conversation-routes.js";
export type { DoctorResponse, Finding } from "./routes/doctor-routes.js";
export type {
  ExportedChunk,
  ExportedConversation,
  ExportedTurn,
  ExportLine,
  ExportQuery,
  ImportQuery,
  ImportResponse,
} from "./routes/export-routes.js";
export type {
  DropUploadResponse,
  FileAddress,
  FileVariant,
  MessageFileParams,
  ReadFileQuery,
  SignedFileParams,
  SignFileQuery,
  UploadInfo,
  UploadParams,
  UploadQuery,
} from "./routes/file-routes.js";
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
} from "./routes/http-routes.js";
export type {
  ApiKeyInfo,
  CreateKeyRequest,
  CreateKeyResponse,
  DeleteKeyResponse,
  EndLoginsResponse,
  FileBounds,
  KeyScope,
  KeysResponse,
  LoginRequest,
  LogoutRequest,
  LogoutResponse,
  MeResponse,
} from "./routes/key-routes.js";
export type { FieldProblem, OpenRequestInfo, Problem } from "./routes/problem.js";
export type { EnqueueRequest, EnqueueResponse, QueueEdit, QueueResponse } from "./routes/queue-routes.js";
export type {
  IfBusy,
  MessageReceipt,
  ReceiptOutcome,
  SendMessageRequest,
  SentPart,
  WhenWaiting,
} from "./routes/send-message.js";
export type {
  HealthResponse,
  ModelInfo,
  ModelsResponse,
  ReadyResponse,
  SearchHit,
  SearchQuery,
  SearchResponse,
} from "./routes/server-routes.js";
export type {
  CompactThresholdSetting,
  InstructionsSetting,
  ModelSetting,
  PinnedSetting,
  ReasoningEffortSetting,
  TemporarySetting,
  TitleSetting,
} from "./routes/settings-routes.js";
export type {
  UsageGroup,
  UsageGrouping,
  UsageQuery,
  UsageResponse,
  UsageSums,
} from "./routes/usage-routes.js";
export type {
  WsChatQueue,
  WsChatRespond,
  WsChatSend,
  WsChatStop,
  WsChatSubscribe,
  WsChatUnsubscribe,
  WsClientMessage,
  WsPing,
  WsSurfaceSubscribe,
  WsSurfaceUnsubscribe,
} from "./socket/socket-client-message.js";
export type {
  WsChatChunks,
  WsChatDelta,
  WsChatError,
  WsChatReceipt,
  WsChatReset,
  WsChatResponded,
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
} from "./socket/socket-server-message.js";
export type { SseEventName, SseEvents, SseMessage, SseQueueChanged } from "./socket/sse.js";
export type {
  CustomSurfaceField,
  MessageQueueField,
  SurfaceCatalog,
  SurfaceCatalogEntry,
  SurfaceField,
  SurfaceSpec,
} from "./socket/surface.js";
export type {
  ConversationCreatedData,
  InputAnsweredData,
  InputRequestedData,
  TurnSealedData,
  WebhookConversation,
  WebhookEvent,
  WebhookEventType,
  WebhookTestData,
} from "./webhook/webhook-event.js";
export type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  DeliveriesQuery,
  DeliveriesResponse,
  DeliveryInfo,
  DeliveryState,
  ReplayRequest,
  ReplayResponse,
  TestWebhookResponse,
  WebhookInfo,
  WebhookParams,
  WebhookResponse,
  WebhooksResponse,
} from "./webhook/webhook-routes.js";
