import type {
  AgentEvent,
  CompactionPreview,
  CompactionResult,
  CompactRequest,
  ConversationDetail,
  ConversationMeta,
  ConversationStatus,
  CursoredEvent,
  EffectiveChoices,
  ExportLine,
  HistoryResponse,
  ImportResponse,
  LastResponse,
  QueueMode,
  QueuePayload,
  ReasoningEffort,
  ToolsResponse,
  TurnDetail,
  TurnMetrics,
  UsageQuery,
  UsageResponse,
} from "@parley/wire";
import type { HiddenEntry } from "../../messages/hidden-entry.js";
import type { ConversationSettings, SearchResult, TurnRecord } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import type { ExternalMessage, Receipt, SendInput } from "../admission/inbox.js";
import type { Subscriber } from "../delivery/hub.js";
import type { Subscription, TurnFollower } from "../delivery/subscribe.js";
import type { WatchEvent } from "../delivery/watchers.js";
import type { FileApi } from "../files/file-verbs.js";
import type { InputApi } from "../input/input-verbs.js";
import type { UnkeptInput } from "../turns/unkept-turn.js";
import type { WebhookApi } from "../webhooks/webhook-verbs.js";

/** A change of settings; null resets one to its default. */
export type SettingsChange = {
  readonly [Key in keyof ConversationSettings]?: ConversationSettings[Key] | null;
};

/** The queue of a conversation. Entries wait until they are delivered, and can be changed until then. */
export interface QueueApi {
  list(conversationId: string): Promise<QueuePayload>;
  /** Waits if a turn runs, opens one if not. Idempotent by message id. */
  add(
    input: Omit<SendInput, "ifBusy"> & {
      readonly conversationId: string;
      /** Default `steer`. */
      readonly mode?: QueueMode | undefined;
    },
  ): Promise<Receipt>;
  /** Changes text, mode, model, effort or place. `message_conflict` once it was delivered. */
  edit(
    conversationId: string,
    messageId: string,
    change: {
      readonly text?: string | undefined;
      readonly mode?: QueueMode | undefined;
      readonly model?: string | null | undefined;
      readonly reasoningEffort?: ReasoningEffort | null | undefined;
      readonly before?: string | null | undefined;
    },
  ): Promise<QueuePayload>;
  remove(conversationId: string, messageId: string): Promise<QueuePayload>;
  /** Continues after a pause. On an idle conversation the next turn opens immediately. */
  resume(conversationId: string): Promise<{ readonly queue: QueuePayload; readonly turnId?: string }>;
}

/** Operations of one owner. Ids of other owners behave as unknown. */
export interface OwnerRuntime {
  /** Admits a message. Resolves when it is durable; the turn runs independently. */
  send(input: SendInput): Promise<Receipt>;
  /**
   * Sends a message when it is first read, and yields the events of its turn up to `turn-sealed`. Refused with
   * `turn_active` while another turn runs. The turn continues if the reader stops reading.
   */
  chat(input: Omit<SendInput, "ifBusy">): AsyncIterable<CursoredEvent>;
  /**
   * Runs a turn that is not kept, for callers that keep the conversation themselves: yields its events, up to `done`.
   * A call of the caller's own tools ends it. It ends when its reader leaves.
   */
  runUnkept(input: UnkeptInput): AsyncIterable<AgentEvent>;
  /** Appends messages outside turns, in order; the next turn sees them. `turn_active` while a turn runs. */
  append(conversationId: string, messages: readonly ExternalMessage[]): Promise<readonly string[]>;
  /** Takes a message, or one of its parts, out of lists and out of what models are shown. Idempotent. */
  hide(conversationId: string, hidden: Omit<HiddenEntry, "type">): Promise<void>;
  /** Finds the first seq of a message, own or inherited. Undefined for an unknown one, and while it waits. */
  seqOf(conversationId: string, messageId: string): Promise<number | undefined>;
  /** Finds a turn without knowing its conversation; the newest one if imports have repeated it. */
  findTurn(turnId: string): Promise<
    | {
        readonly conversationId: string;
        readonly turn: TurnRecord;
        readonly entries: readonly HistoryEntry[];
      }
    | undefined
  >;
  /**
   * Returns the tools that every turn is currently offered, and the servers they come from, with the owner's own
   * logins.
   */
  tools(): Promise<ToolsResponse>;
  readonly queue: QueueApi;
  /** Calls that wait for a person or for the caller. */
  readonly input: InputApi;
  /** Endpoints that events are posted to. */
  readonly webhooks: WebhookApi;
  /** Files: uploads, and those of messages. */
  readonly files: FileApi;
  /** Requests the running turn to stop. Its partial answer is kept, the queue is paused. Idempotent. */
  stop(conversationId: string): Promise<{ readonly abortedTurn: boolean }>;
  /** Stops a running turn, pauses the queue and hides the conversation. A send reopens it. */
  close(conversationId: string): Promise<{ readonly abortedTurn: boolean }>;
  /** Unhides it, and notifies every watcher to show it. */
  open(conversationId: string): Promise<void>;
  create(input: ConversationSettings & { readonly id?: string | undefined }): Promise<{
    readonly conversation: ConversationMeta;
    readonly created: boolean;
  }>;
  list(query?: {
    readonly q?: string | undefined;
    readonly status?: readonly ConversationStatus[] | undefined;
    readonly parent?: string | undefined;
    readonly model?: string | undefined;
    readonly pinned?: "first" | undefined;
    readonly limit?: number | undefined;
    readonly before?: string | undefined;
    /** Also conversations that hold a single response, for callers that keep the history themselves. Default false. */
    readonly withResponses?: boolean | undefined;
  }): Promise<{ readonly conversations: readonly ConversationMeta[]; readonly nextBefore?: string }>;
  meta(conversationId: string): Promise<ConversationDetail>;
  /**
   * Returns the settings, and beside them what the next turn uses. `defaultThreshold` is the `compactThreshold` that
   * applies if none is set; absent if the window of the model is unknown.
   */
  settings(conversationId: string): Promise<
    ConversationSettings & {
      readonly effective: EffectiveChoices;
      readonly defaultThreshold?: number;
    }
  >;
  set(conversationId: string, change: SettingsChange): Promise<ConversationMeta>;
  history(query: {
    readonly conversationId: string;
    readonly sinceSeq?: number | undefined;
    readonly beforeSeq?: number | undefined;
    readonly limit?: number | undefined;
    readonly open?: boolean | undefined;
  }): Promise<HistoryResponse>;
  /** Returns metrics of sealed turns, in order: of those before the turn `before` the newest `limit`. */
  metrics(
    conversationId: string,
    query?: { readonly limit?: number | undefined; readonly before?: string | undefined },
  ): Promise<readonly TurnMetrics[]>;
  /** Returns tokens and cost of the owner's calls over days in UTC: of sealed turns, and of calls outside turns. */
  usage(query?: Omit<UsageQuery, "owner" | "owners">): Promise<UsageResponse>;
  turn(conversationId: string, turnId: string): Promise<TurnDetail>;
  /** Waits for a running turn, then returns the last assistant text; for a turn that waits for input, immediately. */
  last(conversationId: string, options?: { readonly signal?: AbortSignal }): Promise<LastResponse>;
  compact(conversationId: string, request?: CompactRequest): Promise<CompactionResult>;
  previewCompaction(conversationId: string, request?: CompactRequest): Promise<CompactionPreview>;
  undoCompaction(conversationId: string): Promise<ConversationMeta>;
  /** Creates a conversation that shares the log up to `atSeq`; with a message, its first turn opens immediately. */
  fork(input: {
    readonly conversationId: string;
    readonly atSeq: number;
    readonly id?: string | undefined;
    readonly message?: SendInput["message"] | undefined;
    readonly parts?: SendInput["parts"];
    readonly messageId?: string | undefined;
    readonly model?: string | undefined;
    readonly reasoningEffort?: ReasoningEffort | undefined;
    readonly instructions?: string | undefined;
    readonly tools?: SendInput["tools"] | undefined;
    /** A chat that points to the fork from now on, in the same transaction: see `branchOf`. */
    readonly chatId?: string | undefined;
    readonly toolNames?: SendInput["toolNames"];
    readonly maxOutputTokens?: SendInput["maxOutputTokens"];
    readonly output?: SendInput["output"];
    readonly metadata?: SendInput["metadata"];
    readonly before?: SendInput["before"];
  }): Promise<{ readonly conversation: ConversationMeta; readonly turnId?: string }>;
  /**
   * Returns the conversation that a chat points to: the newest fork that was made with its `chatId`, otherwise the
   * conversation of this id, which need not exist. For clients that keep one id while answers are edited and
   * regenerated.
   */
  branchOf(chatId: string): Promise<string>;
  /** Returns the turn of a message, own or inherited. Undefined for an unknown one, and while it waits. */
  turnOf(conversationId: string, messageId: string): Promise<string | undefined>;
  /**
   * Yields the conversation as lines, its sealed part whole: the input of `importLines`, here or on another server.
   */
  exportLines(conversationId: string): AsyncIterable<ExportLine>;
  /**
   * Creates a conversation from exported lines, under `id` or the one it had. All of it or nothing: `invalid_request`
   * names the line that cannot be kept. The same lines again change nothing; other ones under that id are
   * `message_conflict`.
   */
  importLines(
    lines: AsyncIterable<ExportLine> | Iterable<ExportLine>,
    options?: { readonly id?: string | undefined },
  ): Promise<ImportResponse>;
  /** Searches messages and titles; with `conversationId`, the messages that this conversation shows. */
  search(query: {
    readonly q: string;
    readonly limit?: number | undefined;
    readonly conversationId?: string | undefined;
  }): Promise<SearchResult>;
  /**
   * Removes a conversation; with `unusedForMs`, only if nothing has happened in it for so long and no turn runs; with
   * `temporary`, only if it still is.
   */
  remove(
    conversationId: string,
    options?: {
      readonly cascade?: boolean | undefined;
      readonly unusedForMs?: number | undefined;
      readonly temporary?: boolean | undefined;
    },
  ): Promise<readonly string[]>;
  /** Follows a conversation from a cursor on, or from the open turn's first event. */
  subscribe(conversationId: string, cursor?: string): Subscription;
  /** Follows a conversation with callbacks: one call per frame and no promise. Returns a function that leaves. */
  attach(conversationId: string, cursor: string | undefined, subscriber: Subscriber): () => void;
  /** Refuses a cursor that would end `attach` immediately, for callers that have to know before they respond. */
  checkCursor(conversationId: string, cursor: string | undefined): Promise<void>;
  /**
   * Follows one turn with callbacks, from its first event to `turn-sealed` or to the status that reports that it
   * waits. Returns a function that leaves.
   */
  followTurn(conversationId: string, turnId: string, follower: TurnFollower): () => void;
  /** Yields the events of one turn from its first to `turn-sealed`, or to the status that reports that it waits. */
  events(conversationId: string, turnId: string): AsyncIterable<CursoredEvent>;
  /** Notifies the listener of every change in the owner's conversations. Returns a function that stops it. */
  watch(listener: (event: WatchEvent) => void): Promise<() => void>;
}
