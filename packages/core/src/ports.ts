import type { AgentContext, Extensions } from "@parley/http";
import type { ContextManifest, Cost, ErrorCode, ModelPrices, ReasoningEffort } from "@parley/wire";
import type { ParleyError } from "./errors.js";
import type { CanonicalMessage } from "./messages/canonical/canonical-message.js";
import type {
  Conversation,
  ConversationId,
  ConversationMessage,
  MessageOrigin,
  MessageRole,
  ProviderCallId,
  TokenUsage,
  TurnId,
} from "./messages/message.js";
import type { MessageContentPart } from "./messages/part.js";
import type { CountedTokens } from "./messages/tokens/count-message.js";
import type { AnswerLimits } from "./ports/answer-limits.js";
import type { FileForm, ProviderFile } from "./ports/provider-file.js";

export type { AgentContext, AnswerLimits, Extensions, FileForm, ProviderFile };

export type ProviderRole = MessageRole;

export interface ProviderTextPart {
  type: "text";
  text: string;
}

/** Any part. Core always passes `MessageContentPart`s; other callers may pass a provider's own shapes. */
// biome-ignore lint/suspicious/noExplicitAny: the published shape of this type is open on purpose
export type ProviderContentPart = ProviderTextPart | { [key: string]: any };

/** A message as a provider takes and returns it. Shares its parts with every other envelope. */
export interface ProviderMessage {
  role: ProviderRole;
  content: ProviderContentPart[];
  /** The writer: an adapter replays opaque content only to the provider and model that made it. */
  origin?: MessageOrigin;
  /** Hints such as `{ role: "developer" }` that a provider may understand. */
  metadata?: Record<string, unknown>;
}

/** A tool as a provider sees it. `schema` is a JSON Schema of the arguments. */
export interface ProviderToolDefinition {
  name: string;
  description?: string;
  schema?: unknown;
}

/** Data that a model has to answer with: its text is then JSON that matches the schema. */
export interface ProviderOutput {
  name: string;
  description?: string;
  /** JSON Schema of an object. */
  schema: Record<string, unknown>;
}

/** A call the model made. `argumentsText` is the text it sent; `arguments` is derived from it. */
export interface ProviderToolCall {
  id: string;
  name: string;
  arguments: unknown;
  argumentsText?: string;
}

/** Target of a call: the provider and its model. */
export interface ProviderCallMetadata {
  /** Underlying provider name. */
  provider: string;
  /** Model name or identifier. */
  model: string;
  /** Passed to the HTTP layer and to policies; not interpreted by core. */
  extensions?: Extensions;
}

/** One request to a model, before an adapter puts it into its provider's form. */
export interface ProviderCallParams {
  /**
   * In order; instructions come first, as `system` messages. The adapter owns the list; the messages in it are
   * frozen: later requests of the conversation hold the same ones.
   */
  messages: ProviderMessage[];
  tools?: ProviderToolDefinition[];
  /** Provider-specific. */
  toolChoice?: unknown;
  /** Maximum number of tokens to generate. */
  maxTokens?: number;
  metadata: ProviderCallMetadata;
  agentContext?: AgentContext;
  /** Aborting ends the call and its socket; the stream then fails with `canceled`. */
  signal?: AbortSignal;
  /** Reasoning effort. Adapters map it to what their model takes, or ignore it. */
  reasoningEffort?: ReasoningEffort;
  /** Fields for the provider's request body, passed on as they are. They win over derived ones. */
  extraParams?: Record<string, unknown>;
  /** The same for calls that share a prefix, so that a provider finds its cache. */
  cacheKey?: string;
  /** Data to answer with. Passed only to an adapter whose `takesOutput` accepted it. */
  output?: ProviderOutput;
  /**
   * Limits of the answer: the caller abandons an answer that exceeds one. An adapter holds no more than this of an
   * answer before its caller sees it, and does not stop waiting earlier by itself.
   */
  limits?: AnswerLimits;
  /** Called before each wait after which the adapter makes the same call again. */
  onRetry?: (retry: ProviderRetry) => void;
}

/** A call that failed before anything of its answer was visible, and that its adapter makes again. */
export interface ProviderRetry {
  code: ErrorCode;
  /** The wait before the call is made again. */
  delayMs: number;
}

/** Reason that a call's generation ended. */
export type ProviderFinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "error" | "other";

/** The answer to one request, complete. */
export interface ProviderCallResult {
  id: ProviderCallId;
  createdAt: Date;
  /**
   * The assistant message: text, reasoning, files, sources and opaque parts in the order the model made them, with
   * `tool-call` parts in their places. A call listed both here and in `toolCalls` is one call, by its id.
   */
  message: ProviderMessage;
  toolCalls?: ProviderToolCall[];
  usage?: TokenUsage;
  /** Amount that the provider charges for the call, if it reports one. */
  billed?: BilledAmount;
  finishReason?: ProviderFinishReason;
  /** The provider's raw response. Kept only if requested. */
  raw?: unknown;
}

/** An amount of money as a provider reports it, in units of its currency. */
export interface BilledAmount {
  amount: number;
  /** ISO 4217 code. */
  currency: string;
}

/**
 * Event of a stream. `index` is the part's place in the final message; without it a delta continues the last part of
 * its kind, or opens a new one after a part of another kind.
 */
export type ProviderStreamEvent =
  /** `delta` is the message with the text so far (built when read), `textDelta` the increment. */
  | { type: "delta"; delta: ProviderMessage; textDelta?: string; index?: number }
  | { type: "reasoning-delta"; textDelta: string; index?: number }
  /** A part is complete, with all its metadata. Replaces what the deltas of the same place built. */
  | { type: "part"; part: MessageContentPart; index?: number }
  /** Progress of a call's arguments, for display only: `tool-call` follows when they are complete. */
  | { type: "tool-input-delta"; toolCallId: string; name: string; inputTextDelta: string }
  | { type: "tool-call"; toolCall: ProviderToolCall; index?: number }
  | { type: "usage"; usage: TokenUsage; billed?: BilledAmount }
  /** The call failed. Ends the stream; `final` rejects with the same error. */
  | { type: "error"; error: ParleyError }
  | { type: "done"; result: ProviderCallResult };

/**
 * One call in progress. Iterating drives it and always ends with `done` or `error`, never by throwing. `final` may be
 * awaited instead of, or beside, iterating; a rejection that no caller awaits is not reported as unhandled. Leaving
 * the iteration early cancels the call.
 */
export interface ProviderStream extends AsyncIterable<ProviderStreamEvent> {
  final: Promise<ProviderCallResult>;
}

/** Bridge to a model. There is one path: `complete` collects what `completeStream` streams. */
export interface ProviderAdapter {
  complete(params: ProviderCallParams): Promise<ProviderCallResult>;
  completeStream?(params: ProviderCallParams): Promise<ProviderStream>;
  /**
   * Returns true if the provider itself enforces the form of this data in a model's answer. Absent, or false: the
   * model is offered a tool to return the data with.
   */
  takesOutput?(output: ProviderOutput, model: string): boolean;
  /**
   * Returns the form in which a model takes a file. The messages of a call then hold its bytes, as base64 in `data`.
   * Absent: the model is shown no files, and each is mentioned in a line.
   */
  takesFile?(file: ProviderFile, model: string): FileForm;
  /**
   * Returns the efforts that make a difference for a model, from least to most; of several that lead to the same request,
   * only the first. Empty: an effort has no effect. Absent method: unknown, and every effort is passed on.
   */
  efforts?(query: EffortQuery): readonly ReasoningEffort[];
}

/** The requests that an effort would be part of. */
export interface EffortQuery {
  /** Empty: the adapter's default. */
  readonly model: string;
  readonly maxTokens?: number;
  readonly extraParams?: Record<string, unknown>;
}

/** Record of one request to a model: the model, the usage and what the model was shown. */
export interface ProviderCallRecord {
  id: ProviderCallId;
  /** Time of the answer, as the provider reports it; otherwise, the time of the request. */
  createdAt: Date;
  /** Time of the request, by this machine's clock. */
  startedAt?: Date;
  metadata: ProviderCallMetadata;
  /** The model as users name it, as `credential/model`; `metadata` has the provider's own name for it. */
  modelName?: string;
  usage?: TokenUsage;
  /** As billed, or estimated with `prices`. Absent: unknown. Fixed when the call was made. */
  cost?: Cost;
  /** The model's prices when the call was made. */
  prices?: ModelPrices;
  raw?: unknown;
  /** The step that made the call; for a compaction, the one before which it was made. */
  stepId?: string;
  /** Absent: the step itself. */
  purpose?: "step" | "compaction";
  /** Record of what the model was shown. */
  manifest?: ContextManifest;
  finishReason?: ProviderFinishReason;
  ttftMs?: number;
  decodeMs?: number;
  genTotalMs?: number;
}

/** One user-to-assistant cycle: the messages that opened it, and everything that it made. */
export interface ConversationTurn {
  id: TurnId;
  conversationId: ConversationId;
  createdAt: Date;
  userMessages: ConversationMessage[];
  assistantMessages: ConversationMessage[];
  toolMessages?: ConversationMessage[];
  providerCalls: ProviderCallRecord[];
  /** Holds, among others, `usage` (summed), `contextSize`, `reason` and `durationMs`. */
  metadata?: Record<string, unknown>;
}

/** Filter of the listed conversations. */
export interface ListConversationsOptions {
  /** Default 50. */
  limit?: number;
  /** Only conversations updated before this date. */
  before?: Date;
}

/** Filter and order of the listed messages. */
export interface ListMessagesOptions {
  /** Default: all. The first `limit` in the requested order, so `ascending: false` keeps the newest. */
  limit?: number;
  /** Oldest first when true. Stores of Parley order ascending by default and newest first when false. */
  ascending?: boolean;
}

/**
 * Persistence for the engine: eight methods, so that any application can bring its own store. Stores of Parley are
 * idempotent by message id and by turn id, and refuse a message whose id exists in another conversation.
 */
export interface ConversationStore {
  createConversation(input: {
    id?: ConversationId;
    title?: string;
    metadata?: Record<string, unknown>;
  }): Promise<Conversation>;
  getConversation(id: ConversationId): Promise<Conversation | null>;
  updateConversation(
    id: ConversationId,
    updates: Partial<Pick<Conversation, "title" | "metadata">>,
  ): Promise<Conversation | null>;
  /** Lists conversations, latest update first. */
  listConversations(options?: ListConversationsOptions): Promise<Conversation[]>;
  appendMessages(messages: ConversationMessage[]): Promise<void>;
  listMessages(conversationId: ConversationId, options?: ListMessagesOptions): Promise<ConversationMessage[]>;
  appendTurn(turn: ConversationTurn): Promise<void>;
  listTurns(conversationId: ConversationId): Promise<ConversationTurn[]>;
}

/** A message in its log, as the history reads it. */
export interface HistoryEntry {
  message: ConversationMessage;
  /** The message's range of seqs, one per part. Absent in stores that do not number. */
  firstSeq?: number;
  lastSeq?: number;
  turnId?: TurnId;
  stepId?: string;
  /** Set on a compaction's summary: the seqs it covers. */
  covers?: { fromSeq: number; toSeq: number };
  /** The message's estimated tokens before any calibration, if the store keeps them. */
  tokens?: CountedTokens;
}

/**
 * Optional capability of a store: pages from the newest end, so that a window costs the same however long the history
 * is. `before` is the cursor that the previous page returned.
 */
export interface NewestFirstReader {
  readNewest(request: {
    conversationId: ConversationId;
    limit: number;
    before?: number;
    /** Requests the view. Default false. */
    view?: boolean;
  }): Promise<{
    /** Newest first. */
    entries: HistoryEntry[];
    /** Absent if the beginning was reached. */
    before?: number;
    /** See `AddedEntries`. Absent if there are no entries, and from stores that have no views. */
    view?: string;
  }>;
}

/**
 * Optional capability of a store: reads what was added to a conversation since a reader's last read, and if what it
 * read then is still valid. A log only grows, so entries that were read stay as they are for as long as the view is
 * the same.
 */
export interface AddedEntriesReader {
  /** Returns null for an unknown conversation. */
  readAfter(request: {
    conversationId: ConversationId;
    seq: number;
    limit: number;
  }): Promise<AddedEntries | null>;
}

/** Entries that were added to a conversation after a seq. */
export interface AddedEntries {
  /**
   * Identifies the log and the summaries in force in it. Changes if the id belongs to another conversation, or the
   * conversation shows another past.
   */
  view: string;
  /** Whole messages of later seqs, oldest first. */
  entries: HistoryEntry[];
  /** True if there are more than the limit. */
  more: boolean;
}

/** A thread of the canonical store, called a conversation in the rest of Parley. */
export interface Thread {
  id: string;
  resourceId?: string;
  title?: string;
  metadata?: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

/** Persistence in canonical form, for agents outside the runtime. */
export interface MemoryStore {
  listMessages(args: {
    threadId: string;
    limit?: number;
    /** Default `asc`. With a limit, the first ones in that order. */
    orderBy?: "asc" | "desc";
  }): Promise<CanonicalMessage[]>;
  saveMessages(args: { messages: CanonicalMessage[] }): Promise<void>;
  getThreadById(args: { threadId: string }): Promise<Thread | null>;
  saveThread(args: { thread: Thread }): Promise<void>;
}

export type {
  ImportedEntry,
  ImportedTurn,
  ImportInput,
  ImportResult,
} from "./ports/imported-conversation.js";
export type { ApiKeyRecord, KeyStore, KeysInUse, LoginQuery, LoginRecord } from "./ports/key-store.js";
export type {
  AbsentNode,
  ActiveLease,
  AddedUsage,
  AddInputs,
  AdmitInput,
  AdmitOutcome,
  BlobNumber,
  BlobRecord,
  BlobStore,
  CallerTool,
  Changes,
  ClaimedDelivery,
  ClaimQuery,
  ClaimResult,
  CollectedBlobs,
  CommitInput,
  CommitResult,
  CompactInput,
  CompactionNotice,
  CompactResult,
  ConversationNotice,
  ConversationRecord,
  ConversationSettings,
  DefaultModel,
  DeliveryClaim,
  DeliveryOutcome,
  DeliveryRecord,
  DerivedBytes,
  FileUsage,
  FinishUpload,
  ForkInput,
  ForkResult,
  GrantRecord,
  InputRecord,
  InputStore,
  JournalBatch,
  JournalOutcome,
  Lease,
  LogNumber,
  LogStore,
  LogStoreRoot,
  News,
  NewsQuery,
  NewUpload,
  NewWebhook,
  NextTurn,
  OpenedTurn,
  OpenInputs,
  OpenTurnState,
  OutboxStore,
  PendingInput,
  Presence,
  QueueEntry,
  QueueOperation,
  QueueState,
  RemovedBlob,
  RemovedConversation,
  RespondInput,
  RespondResult,
  SealInput,
  SealResult,
  SearchHit,
  SearchIndexing,
  SearchResult,
  StopRequest,
  StoreCheck,
  SummedUsage,
  TurnChoices,
  TurnOutputChoice,
  TurnRecord,
  UnusedQuery,
  UploadPiece,
  UploadRecord,
  UsageRange,
  UsageStore,
  Wake,
  WakeKind,
  WebhookChange,
  WebhookRecord,
  WebhookStore,
} from "./ports/log-store.js";
export type {
  NewSecret,
  OpenedSecret,
  SealedSecret,
  SecretChange,
  SecretHold,
  SecretName,
  SecretQuery,
  SecretRecord,
  SecretStore,
  Secrets,
} from "./ports/secret-store.js";
export type { InputRequest } from "./turn/approval/turn-inputs.js";
