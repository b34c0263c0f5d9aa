import type { ConversationStatus, StoredChunk, TurnMetrics } from "@parley/wire";
import type { ConversationId, TurnId } from "../messages/message.js";
import type { AddedEntries, ConversationStore, HistoryEntry, ProviderCallRecord } from "../ports.js";
import type { BlobStore } from "./blob-store.js";
import type {
  CompactInput,
  CompactResult,
  ForkInput,
  ForkResult,
  QueueOperation,
} from "./conversation-changes.js";
import type { Changes, ConversationRecord, ConversationSettings, QueueState } from "./conversation-record.js";
import type { ImportInput, ImportResult } from "./imported-conversation.js";
import type { InputStore } from "./input-store.js";
import type { Lease } from "./leases.js";
import type { RemovedConversation } from "./log-store-root.js";
import type { SearchResult } from "./search-result.js";
import type {
  AdmitInput,
  AdmitOutcome,
  CommitInput,
  CommitResult,
  NextTurn,
  OpenedTurn,
  OpenTurnState,
  SealInput,
  SealResult,
  TurnRecord,
} from "./turn-transactions.js";
import type { UsageStore } from "./usage-store.js";
import type { WebhookStore } from "./webhook-store.js";

export type {
  BlobNumber,
  BlobRecord,
  BlobStore,
  CollectedBlobs,
  DerivedBytes,
  FileUsage,
  FinishUpload,
  NewUpload,
  RemovedBlob,
  UploadPiece,
  UploadRecord,
} from "./blob-store.js";
export type {
  CompactInput,
  CompactResult,
  ForkInput,
  ForkResult,
  QueueOperation,
} from "./conversation-changes.js";
export type {
  ActiveLease,
  CallerTool,
  Changes,
  CompactionNotice,
  ConversationNotice,
  ConversationRecord,
  ConversationSettings,
  LogNumber,
  QueueEntry,
  QueueState,
  TurnChoices,
  TurnOutputChoice,
} from "./conversation-record.js";
export type {
  AddInputs,
  GrantRecord,
  InputRecord,
  InputStore,
  OpenInputs,
  PendingInput,
  RespondInput,
  RespondResult,
} from "./input-store.js";
export type { JournalBatch, JournalOutcome, Lease, StopRequest } from "./leases.js";
export type {
  AbsentNode,
  LogStoreRoot,
  News,
  NewsQuery,
  RemovedConversation,
  StoreCheck,
  UnusedQuery,
} from "./log-store-root.js";
export type { SearchHit, SearchIndexing, SearchResult } from "./search-result.js";
export type {
  AdmitInput,
  AdmitOutcome,
  CommitInput,
  CommitResult,
  DefaultModel,
  NextTurn,
  OpenedTurn,
  OpenTurnState,
  SealInput,
  SealResult,
  TurnRecord,
} from "./turn-transactions.js";
export type { AddedUsage, SummedUsage, UsageRange, UsageStore } from "./usage-store.js";
export type { Presence, Wake, WakeKind } from "./wake.js";
export type {
  ClaimedDelivery,
  ClaimQuery,
  ClaimResult,
  DeliveryClaim,
  DeliveryOutcome,
  DeliveryRecord,
  NewWebhook,
  OutboxStore,
  WebhookChange,
  WebhookRecord,
  WebhookStore,
} from "./webhook-store.js";

/**
 * One owner's part of the store. For an unknown id, `get`, `readAfter`, `readTurn`, `readOpenTurn`, `findMessage`,
 * `findReceipt`, `lastCall` and `takeOver` return null, `readNewest` and `remove` nothing; `admit`, `create` and
 * `importConversation` create it; all others refuse with `conversation_not_found`. A conversation id has 1 to 128 of
 * `A-Za-z0-9._:-`, otherwise it is `invalid_request`.
 */
export interface LogStore extends ConversationStore, InputStore, WebhookStore, BlobStore, UsageStore {
  admit(input: AdmitInput): Promise<AdmitOutcome>;
  commitStep(input: CommitInput): Promise<CommitResult>;
  seal(input: SealInput): Promise<SealResult>;

  /**
   * Marks the open turn, or the compaction. A turn that waits is reopened without a holder (fence + 1). Returns its
   * lease, or null if nothing runs.
   */
  requestStop(id: ConversationId): Promise<Lease | null>;
  /**
   * Takes an open lease from its holder (fence + 1), if it is still the given turn's with that fence. A turn that
   * waits is not taken.
   */
  takeOver(request: {
    conversationId: ConversationId;
    turnId: TurnId;
    fence: number;
    node: string;
  }): Promise<Lease | null>;
  /** Releases an open turn unsealed: any node may claim it immediately. */
  release(request: { conversationId: ConversationId; turnId: TurnId; fence: number }): Promise<void>;
  /** Takes the lease of an idle conversation for a compaction; `turn_active` when it is not idle. */
  lease(request: { conversationId: ConversationId; node: string; turnId: TurnId }): Promise<Lease>;
  /**
   * Ends a compaction's lease without a compaction, and lets the queue continue. Ending it again returns the same.
   */
  endLease(request: {
    conversationId: ConversationId;
    turnId: TurnId;
    fence: number;
    next: NextTurn;
  }): Promise<{ next?: OpenedTurn; queue: QueueState }>;

  /**
   * Reads `sinceSeq < seq < beforeSeq`, ascending; `limit` keeps the newest; through ancestors; sealed unless `open`.
   */
  readChunks(query: {
    conversationId: ConversationId;
    sinceSeq?: number;
    beforeSeq?: number;
    limit?: number;
    open?: boolean;
  }): Promise<{ chunks: StoredChunk[]; latestSeq: number }>;
  /**
   * Reads whole messages from the newest end, newest first, through ancestors; `before` excludes seqs from there on.
   * Open turns are included; summaries that were taken out of force are left out. Inherited messages read as the
   * conversation's own: `message.conversationId` is the requested one. With `view`, a page that has entries names the
   * view that it was read under: see `readAfter`.
   */
  readNewest(query: {
    conversationId: ConversationId;
    limit: number;
    before?: number;
    view?: boolean;
  }): Promise<{ entries: HistoryEntry[]; before?: number; view?: string }>;
  /**
   * Reads whole messages after a seq, oldest first, as `readNewest` returns them, and the conversation's view: it
   * changes when the id comes to refer to another log, or when a summary is taken out of force. Null for an unknown
   * id.
   */
  readAfter(query: {
    conversationId: ConversationId;
    seq: number;
    limit: number;
  }): Promise<AddedEntries | null>;
  /**
   * Reads the open turn, or null. `afterN` leaves out journal batches that end at or before it; with `fence`, only if
   * the turn still has that fence, because a number that was counted under another one means nothing.
   */
  readOpenTurn(query: {
    conversationId: ConversationId;
    afterN?: number;
    fence?: number;
  }): Promise<OpenTurnState | null>;

  queue(id: ConversationId, operation: QueueOperation): Promise<QueueState & { started?: OpenedTurn }>;
  fork(input: ForkInput): Promise<ForkResult>;
  compact(input: CompactInput): Promise<CompactResult>;
  /** Takes the latest compaction out of force; `nothing_to_compact` if there is none; `turn_active` while busy. */
  undoCompaction(id: ConversationId): Promise<ConversationRecord>;

  /** Creates a conversation, or returns the existing one with the same id (`created: false`). */
  create(input: {
    id: ConversationId;
    settings: ConversationSettings;
  }): Promise<{ conversation: ConversationRecord; created: boolean }>;
  get(id: ConversationId): Promise<ConversationRecord | null>;
  /**
   * Lists by newest activity; archives and temporary ones are left out. `before` is the `next` of the previous page.
   * With `parent`: only those that were forked from this conversation itself, also if it was deleted since, temporary
   * ones included. With `model`: only those whose next turn uses it by default, by their own model, that of their
   * last turn, or `defaultModel`. With `pinnedFirst`: all pinned ones before all others; its pages belong together,
   * and not to lists without it.
   */
  list(query: {
    q?: string;
    status?: readonly ConversationStatus[];
    parent?: ConversationId;
    model?: string;
    defaultModel?: string;
    pinnedFirst?: boolean;
    /** Leaves out conversations whose metadata has this text as `parley.origin`. */
    withoutOrigin?: string;
    limit: number;
    before?: string;
  }): Promise<{ conversations: ConversationRecord[]; next?: string }>;
  /**
   * Changes the given fields; null resets a setting to its default. `closed` hides, pauses the queue, and opens
   * again.
   */
  set(
    id: ConversationId,
    settings: { [Key in keyof ConversationSettings]?: ConversationSettings[Key] | null } & {
      closed?: boolean;
    },
  ): Promise<ConversationRecord>;
  readTurn(id: ConversationId, turnId: TurnId): Promise<{ turn: TurnRecord; entries: HistoryEntry[] } | null>;
  /** Finds the place of a message in the log, through ancestors, and its turn. Null while it waits in the queue. */
  findMessage(id: ConversationId, messageId: string): Promise<{ firstSeq: number; turnId?: TurnId } | null>;
  /**
   * Returns the conversation that a chat was moved to by its newest fork. Null if it was never moved, or if that
   * conversation was deleted.
   */
  branchOf(chatId: string): Promise<ConversationId | null>;
  /**
   * Returns the conversations whose own log has a turn with this id, newest activity first: imports repeat the ids of
   * turns.
   */
  findTurn(turnId: TurnId): Promise<ConversationId[]>;
  /** Returns the turn of a message of this conversation, by its receipt. */
  findReceipt(
    id: ConversationId,
    messageId: string,
  ): Promise<{ outcome: "started" | "queued"; turnId?: TurnId } | null>;
  /** Returns the newest call that a step made, through ancestors: the next one is compared with it. */
  lastCall(id: ConversationId): Promise<ProviderCallRecord | null>;
  /**
   * Returns figures of sealed turns, in order, through ancestors: of those before the turn `before` the newest
   * `limit`. A `before` that no sealed turn with figures has is `invalid_request`.
   */
  metrics(
    id: ConversationId,
    query?: { readonly limit?: number; readonly before?: TurnId },
  ): Promise<TurnMetrics[]>;
  /**
   * Returns changes after `since`: conversations and notices, each in order of change and at most `limit` of both
   * together, and the `changedAt` of the last one (or `since`). Without `since`: none, and the newest `changedAt`, to
   * begin from.
   */
  changed(query: { since?: number; limit: number }): Promise<Changes>;
  /**
   * Writes a whole conversation, with the seqs and ids it had. The same again changes nothing; an id that has another
   * log is `message_conflict`.
   */
  importConversation(input: ImportInput): Promise<ImportResult>;
  /**
   * Finds messages that have all terms of the query (see `parseSearch`) in their first 100 KB of text, and
   * conversations that have them in their titles, newest first. A title is left out if messages of its conversation
   * are found. A message is found in the existing conversation that shows it: those of a removed one in the nearest
   * fork that shows them, those of an archive in its origin. A temporary conversation is searched like a removed one,
   * and shows its messages only if it is named. With `conversationId`: the messages that this conversation shows, and
   * no titles.
   *
   * The hits are all there are, up to the limit, or the result is `partial`. Takes a bounded time, and no longer
   * because of what other owners have written.
   */
  search(query: { q: string; limit: number; conversationId?: ConversationId }): Promise<SearchResult>;
  /**
   * Removes a conversation. Always succeeds on the owner's own: rows past the last living fork point are removed
   * immediately. Returns what is gone. With `unusedForMs`, only if it has not been used for so long, as `findUnused`
   * counts it; with `temporary`, only if it still is.
   */
  remove(
    id: ConversationId,
    options: { cascade: boolean; unusedForMs?: number; temporary?: boolean },
  ): Promise<RemovedConversation[]>;
}
