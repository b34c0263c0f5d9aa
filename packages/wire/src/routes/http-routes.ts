import type {
  CompactionPreview,
  CompactionResult,
  CompactRequest,
  UndoCompactionResponse,
} from "../compaction.js";
import type {
  ConnectToolServerRequest,
  ConnectToolServerResponse,
  DisconnectToolServerResponse,
  FinishToolLoginRequest,
  FinishToolLoginResponse,
  GrantParams,
  GrantsResponse,
  PendingParams,
  PendingQuery,
  PendingResponse,
  RespondRequest,
  RespondResponse,
  RevokeGrantResponse,
  ToolServerParams,
  ToolsResponse,
} from "../input/input-routes.js";
import type { JsonObject } from "../json.js";
import type { AgentEvent } from "../log/agent-event.js";
import type { SseMessage } from "../socket/sse.js";
import type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  DeliveriesQuery,
  DeliveriesResponse,
  ReplayRequest,
  ReplayResponse,
  TestWebhookResponse,
  WebhookParams,
  WebhookResponse,
  WebhooksResponse,
} from "../webhook/webhook-routes.js";
import type {
  AddConnectionRequest,
  ChangeConnectionRequest,
  ConnectionParams,
  ConnectionResponse,
  ConnectionSettings,
  ConnectionsResponse,
  DeleteConnectionResponse,
  TestConnectionResponse,
} from "./connection-routes.js";
import type {
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
import type { DoctorResponse } from "./doctor-routes.js";
import type { ExportLine, ExportQuery, ImportQuery, ImportResponse } from "./export-routes.js";
import type {
  DropUploadResponse,
  FileAddress,
  MessageFileParams,
  ReadFileQuery,
  SignedFileParams,
  SignFileQuery,
  UploadInfo,
  UploadParams,
  UploadQuery,
} from "./file-routes.js";
import type {
  CreateKeyRequest,
  CreateKeyResponse,
  DeleteKeyResponse,
  EndLoginsResponse,
  KeysResponse,
  LoginRequest,
  LogoutRequest,
  LogoutResponse,
  MeResponse,
} from "./key-routes.js";
import type { EnqueueRequest, EnqueueResponse, QueueEdit, QueueResponse } from "./queue-routes.js";
import type { SendMessageRequest } from "./send-message.js";
import type {
  HealthResponse,
  ModelsResponse,
  ReadyResponse,
  SearchQuery,
  SearchResponse,
} from "./server-routes.js";
import type {
  CompactThresholdSetting,
  InstructionsSetting,
  ModelSetting,
  PinnedSetting,
  ReasoningEffortSetting,
  TemporarySetting,
  TitleSetting,
} from "./settings-routes.js";
import type { UsageQuery, UsageResponse } from "./usage-routes.js";

/** No members. */
export type Nothing = Readonly<Record<never, never>>;

/** Path parameters of a route below one conversation. */
export interface ConversationParams {
  readonly id: string;
}

/** Path parameters of a route to one queued message. */
export interface QueuedMessageParams extends ConversationParams {
  readonly messageId: string;
}

/** Path parameters of a route to one turn. */
export interface TurnParams extends ConversationParams {
  readonly turnId: string;
}

/** Path parameters of a route to one API key. */
export interface KeyParams {
  readonly id: string;
}

/**
 * Format of a route's response: one JSON value, one value per line, one per server-sent event, plain text, or
 * a file's bytes.
 */
export type ResponseFormat = "json" | "ndjson" | "sse" | "text" | "bytes";

/** Parameters and response of a route. */
export interface Route {
  readonly params: object;
  readonly query: object;
  /** `undefined`: the route has no body. */
  readonly body: unknown;
  /** The whole response, or with `ndjson` and `sse` one element of it. A failure is a `Problem` instead. */
  readonly response: unknown;
  readonly format: ResponseFormat;
}

interface Get<Params extends object, Query extends object, Answer> extends Route {
  readonly params: Params;
  readonly query: Query;
  readonly body: undefined;
  readonly response: Answer;
  readonly format: "json";
}

/** Supports `Range`, and then returns a part of the file with status 206. */
interface GetFile<Params extends object> extends Route {
  readonly params: Params;
  readonly query: ReadFileQuery;
  readonly body: undefined;
  readonly response: Uint8Array;
  readonly format: "bytes";
}

interface Write<Params extends object, Body, Answer> extends Route {
  readonly params: Params;
  readonly query: Nothing;
  readonly body: Body;
  readonly response: Answer;
  readonly format: "json";
}

/**
 * The HTTP contract: every route, by method and path. In a query string numbers are decimal, booleans `true`
 * or `false`, and absent members are omitted. A server ignores unknown fields; malformed ones get a 400 that
 * names the field.
 */
export interface Routes {
  readonly "POST /chat": {
    readonly params: Nothing;
    readonly query: Nothing;
    readonly body: SendMessageRequest;
    readonly response: AgentEvent;
    readonly format: "ndjson";
  };

  readonly "POST /conversations": Write<Nothing, CreateConversationRequest, CreateConversationResponse>;
  readonly "GET /conversations": Get<Nothing, ListConversationsQuery, ListConversationsResponse>;
  readonly "GET /conversations/:id": Get<ConversationParams, HistoryQuery, HistoryResponse>;
  readonly "GET /conversations/:id/meta": Get<ConversationParams, Nothing, ConversationDetail>;
  readonly "GET /conversations/:id/events": {
    readonly params: ConversationParams;
    readonly query: EventsQuery;
    readonly body: undefined;
    readonly response: SseMessage;
    readonly format: "sse";
  };
  readonly "GET /conversations/:id/metrics": Get<ConversationParams, MetricsQuery, MetricsResponse>;
  readonly "GET /conversations/:id/last": Get<ConversationParams, Nothing, LastResponse>;
  readonly "GET /conversations/:id/turns/:turnId": Get<TurnParams, Nothing, TurnDetail>;
  readonly "DELETE /conversations/:id": {
    readonly params: ConversationParams;
    readonly query: DeleteQuery;
    readonly body: undefined;
    readonly response: DeleteResponse;
    readonly format: "json";
  };

  readonly "GET /conversations/:id/queue": Get<ConversationParams, Nothing, QueueResponse>;
  readonly "POST /conversations/:id/queue": Write<ConversationParams, EnqueueRequest, EnqueueResponse>;
  readonly "PATCH /conversations/:id/queue/:messageId": Write<QueuedMessageParams, QueueEdit, QueueResponse>;
  readonly "DELETE /conversations/:id/queue/:messageId": Write<QueuedMessageParams, undefined, QueueResponse>;
  readonly "POST /conversations/:id/queue/resume": Write<ConversationParams, undefined, EnqueueResponse>;

  readonly "POST /conversations/:id/stop": Write<ConversationParams, undefined, StopResponse>;
  readonly "POST /conversations/:id/close": Write<ConversationParams, undefined, CloseResponse>;
  readonly "POST /conversations/:id/open": Write<ConversationParams, undefined, OpenResponse>;
  readonly "POST /conversations/:id/fork": Write<ConversationParams, ForkRequest, ForkResponse>;

  readonly "POST /conversations/:id/compact": Write<ConversationParams, CompactRequest, CompactionResult>;
  readonly "POST /conversations/:id/compact/preview": Write<
    ConversationParams,
    CompactRequest,
    CompactionPreview
  >;
  readonly "POST /conversations/:id/compact/undo": Write<
    ConversationParams,
    undefined,
    UndoCompactionResponse
  >;

  readonly "GET /conversations/:id/title": Get<ConversationParams, Nothing, TitleSetting>;
  readonly "PUT /conversations/:id/title": Write<ConversationParams, TitleSetting, TitleSetting>;
  readonly "GET /conversations/:id/pinned": Get<ConversationParams, Nothing, PinnedSetting>;
  readonly "PUT /conversations/:id/pinned": Write<ConversationParams, PinnedSetting, PinnedSetting>;
  readonly "GET /conversations/:id/model": Get<ConversationParams, Nothing, ModelSetting>;
  readonly "PUT /conversations/:id/model": Write<ConversationParams, ModelSetting, ModelSetting>;
  readonly "GET /conversations/:id/reasoning-effort": Get<
    ConversationParams,
    Nothing,
    ReasoningEffortSetting
  >;
  readonly "PUT /conversations/:id/reasoning-effort": Write<
    ConversationParams,
    ReasoningEffortSetting,
    ReasoningEffortSetting
  >;
  readonly "GET /conversations/:id/instructions": Get<ConversationParams, Nothing, InstructionsSetting>;
  readonly "PUT /conversations/:id/instructions": Write<
    ConversationParams,
    InstructionsSetting,
    InstructionsSetting
  >;
  readonly "GET /conversations/:id/compact-threshold": Get<
    ConversationParams,
    Nothing,
    CompactThresholdSetting
  >;
  readonly "PUT /conversations/:id/compact-threshold": Write<
    ConversationParams,
    CompactThresholdSetting,
    CompactThresholdSetting
  >;
  readonly "GET /conversations/:id/temporary": Get<ConversationParams, Nothing, TemporarySetting>;
  readonly "PUT /conversations/:id/temporary": Write<ConversationParams, TemporarySetting, TemporarySetting>;

  /** With `format=markdown` the response is `text/markdown`. */
  readonly "GET /conversations/:id/export": {
    readonly params: ConversationParams;
    readonly query: ExportQuery;
    readonly body: undefined;
    readonly response: ExportLine;
    readonly format: "ndjson";
  };
  /** The body is NDJSON: the lines of one export. */
  readonly "POST /import": {
    readonly params: Nothing;
    readonly query: ImportQuery;
    readonly body: readonly ExportLine[];
    readonly response: ImportResponse;
    readonly format: "json";
  };

  /** The body is the unmodified file, of any type. The response has status 201. */
  readonly "POST /files": {
    readonly params: Nothing;
    readonly query: UploadQuery;
    readonly body: Uint8Array;
    readonly response: UploadInfo;
    readonly format: "json";
  };
  readonly "GET /files/:id": GetFile<UploadParams>;
  readonly "DELETE /files/:id": Write<UploadParams, undefined, DropUploadResponse>;
  readonly "GET /files/:id/address": Get<UploadParams, SignFileQuery, FileAddress>;
  readonly "GET /conversations/:id/files/:seq": GetFile<MessageFileParams>;
  readonly "GET /conversations/:id/files/:seq/address": Get<MessageFileParams, SignFileQuery, FileAddress>;
  /** Needs no key: the address is signed. */
  readonly "GET /signed-files/:token": GetFile<SignedFileParams>;

  readonly "GET /pending": Get<Nothing, PendingQuery, PendingResponse>;
  readonly "POST /conversations/:id/pending/:requestId": Write<
    PendingParams,
    RespondRequest,
    RespondResponse
  >;
  readonly "GET /grants": Get<Nothing, Nothing, GrantsResponse>;
  readonly "DELETE /grants/:id": Write<GrantParams, undefined, RevokeGrantResponse>;
  readonly "GET /tools": Get<Nothing, Nothing, ToolsResponse>;
  readonly "POST /tools/:server/connect": Write<
    ToolServerParams,
    ConnectToolServerRequest,
    ConnectToolServerResponse
  >;
  readonly "POST /tools/:server/finish": Write<
    ToolServerParams,
    FinishToolLoginRequest,
    FinishToolLoginResponse
  >;
  readonly "POST /tools/:server/disconnect": Write<ToolServerParams, undefined, DisconnectToolServerResponse>;
  /**
   * The address that a browser returns to from a login at a server of tools, identified by the cookie set at
   * its start.
   */
  readonly "GET /oauth/callback": {
    readonly params: Nothing;
    readonly query: FinishToolLoginRequest;
    readonly body: undefined;
    readonly response: string;
    readonly format: "text";
  };

  readonly "GET /webhooks": Get<Nothing, Nothing, WebhooksResponse>;
  readonly "POST /webhooks": Write<Nothing, CreateWebhookRequest, CreateWebhookResponse>;
  readonly "PATCH /webhooks/:id": Write<WebhookParams, ChangeWebhookRequest, WebhookResponse>;
  readonly "DELETE /webhooks/:id": Write<WebhookParams, undefined, DeleteWebhookResponse>;
  readonly "POST /webhooks/:id/test": Write<WebhookParams, undefined, TestWebhookResponse>;
  readonly "GET /webhooks/:id/deliveries": Get<WebhookParams, DeliveriesQuery, DeliveriesResponse>;
  readonly "POST /webhooks/:id/replay": Write<WebhookParams, ReplayRequest, ReplayResponse>;

  readonly "GET /connections": Get<Nothing, Nothing, ConnectionsResponse>;
  readonly "POST /connections": Write<Nothing, AddConnectionRequest, ConnectionResponse>;
  readonly "PATCH /connections/:name": Write<ConnectionParams, ChangeConnectionRequest, ConnectionResponse>;
  readonly "DELETE /connections/:name": Write<ConnectionParams, undefined, DeleteConnectionResponse>;
  readonly "POST /connections/test": Write<Nothing, ConnectionSettings, TestConnectionResponse>;
  readonly "POST /connections/:name/test": Write<ConnectionParams, undefined, TestConnectionResponse>;

  readonly "GET /me": Get<Nothing, Nothing, MeResponse>;
  readonly "POST /login": Write<Nothing, LoginRequest, MeResponse>;
  readonly "POST /logout": Write<Nothing, LogoutRequest, LogoutResponse>;
  readonly "GET /keys": Get<Nothing, Nothing, KeysResponse>;
  readonly "POST /keys": Write<Nothing, CreateKeyRequest, CreateKeyResponse>;
  readonly "DELETE /keys/:id": Write<KeyParams, undefined, DeleteKeyResponse>;
  readonly "DELETE /keys/:id/logins": Write<KeyParams, undefined, EndLoginsResponse>;
  readonly "GET /doctor": Get<Nothing, Nothing, DoctorResponse>;
  readonly "POST /doctor": Write<Nothing, undefined, DoctorResponse>;

  readonly "GET /usage": Get<Nothing, UsageQuery, UsageResponse>;
  readonly "GET /search": Get<Nothing, SearchQuery, SearchResponse>;
  readonly "GET /models": Get<Nothing, Nothing, ModelsResponse>;
  readonly "GET /health": Get<Nothing, Nothing, HealthResponse>;
  readonly "GET /ready": Get<Nothing, Nothing, ReadyResponse>;
  readonly "GET /openapi.json": Get<Nothing, Nothing, JsonObject>;
  /** Prometheus text. */
  readonly "GET /metrics": {
    readonly params: Nothing;
    readonly query: Nothing;
    readonly body: undefined;
    readonly response: string;
    readonly format: "text";
  };
}

/** A route's name: its method and path. */
export type RouteName = keyof Routes;

/** The method of a route, in capitals. */
export type RouteMethod<Name extends RouteName> = Name extends `${infer Method} ${string}` ? Method : never;

/** The path of a route, with its parameters as `:name`. */
export type RoutePath<Name extends RouteName> = Name extends `${string} ${infer Path}` ? Path : never;

/** Path parameters of a route. */
export type RouteParams<Name extends RouteName> = Routes[Name]["params"];

/** Query parameters of a route. */
export type RouteQuery<Name extends RouteName> = Routes[Name]["query"];

/** Body of a route. */
export type RouteBody<Name extends RouteName> = Routes[Name]["body"];

/** Response of a route: the whole, or one element of a stream. */
export type RouteResponse<Name extends RouteName> = Routes[Name]["response"];
