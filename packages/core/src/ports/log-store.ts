import type {
  ConversationStatus,
  Finding,
  QueueMode,
  ReasoningEffort,
  StoredChunk,
  TurnMetrics,
} from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { AddedEntries, ConversationStore, HistoryEntry, ProviderCallRecord } from "../ports.js";
import type { BlobNumber, BlobStore, CollectedBlobs, RemovedBlob } from "./blob-store.js";
import type {
  Changes,
  CompactionNotice,
  ConversationRecord,
  ConversationSettings,
  LogNumber,
  QueueState,
} from "./conversation-record.js";
import type { ImportInput, ImportResult } from "./imported-conversation.js";
import type { InputStore } from "./input-store.js";
import type { KeyStore } from "./key-store.js";
import type { SecretStore } from "./secret-store.js";
import type {
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
import type { SummedUsage, UsageRange, UsageStore } from "./usage-store.js";
import type { OutboxStore, WebhookStore } from "./webhook-store.js";

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
 * State that a reader already knows: changes by owner, rows by conversation. `published` are changes after `since`,
 * by the `changedAt` of conversations, that are known as well.
 */
export interface NewsQuery {
  readonly owners: readonly { owner: string; since: number; published?: readonly number[] }[];
  readonly conversations: readonly { log: LogNumber; owner: string; seq: number }[];
}

/** Owners and conversations with something new. */
export interface News {
  owners: string[];
  conversations: LogNumber[];
}

/**
 * Filter of unused conversations: temporary ones, or those of a prefix whose metadata has `origin` as
 * `parley.origin`.
 */
export type UnusedQuery = {
  readonly forMs: number;
  readonly limit: number;
} & ({ readonly temporary: true } | { readonly idPrefix: string; readonly origin: string });

/** A conversation that was removed, and its log. */
export interface RemovedConversation {
  readonly id: ConversationId;
  readonly log: LogNumber;
}

/** A node whose process seems to have ended. */
export interface AbsentNode {
  readonly node: string;
  /** Identifies its last heartbeat. */
  readonly renewal: number;
}

/**
 * The runtime's store. Every method is one transaction, takes and returns plain data that survives a structured
 * clone, and either happens as a whole or not at all. Failures are `ParleyError`s; `store_unavailable` means that the
 * outcome is unknown and the same call may be made again: admission, commits, seals, forks and compactions are
 * idempotent by the ids they carry.
 */
export interface LogStoreRoot {
  /** Creates or upgrades the schema, under a lock. Refuses a newer one with `schema_newer`. */
  migrate(): Promise<void>;

  /**
   * Renews the node's lease by the store's own clock: `until` = now + ttl. Returns the turns of this node that are
   * still open and for which a stop was requested. `presence` is the token of `Wake.presence`, by which other nodes
   * find out that the node's process has ended; a heartbeat without one withdraws it.
   */
  heartbeat(node: string, ttlMs: number, presence?: string): Promise<StopRequest[]>;

  /**
   * Returns whether the heartbeats of a node of this process have kept its leases on this owner's conversations. A
   * heartbeat of a store on several servers may reach some of them only; what the node runs on the others may be another's
   * then. Absent where a heartbeat renews all leases, or fails.
   */
  holdsLeases?(node: string, owner: string): boolean;

  /**
   * Ends the node's lease immediately, until its next heartbeat: the leases it still holds can be claimed by others.
   * With `renewal`: only if the node has sent no heartbeat since.
   */
  retire(node: string, renewal?: number): Promise<void>;

  /**
   * Returns the nodes whose lease has not expired although the session behind the presence of their last heartbeat
   * has ended. Their process is dead, or is about to send a heartbeat with another presence: a node that retires one
   * gives it the time for that. A presence that the store cannot check proves nothing.
   */
  absentNodes(): Promise<AbsentNode[]>;

  /**
   * Takes over leases whose node is dead or retired, oldest first, at most `limit`, skipping rows that another node
   * is taking. Each gets fence + 1 and belongs to `node` from then on. A node that has never sent a heartbeat is
   * dead, and a turn without a holder counts as one of a dead node: released turns, and those opened without a
   * holder, are claimed here too. A turn that waits cannot be claimed.
   */
  claimExpired(node: string, limit: number): Promise<Lease[]>;

  /**
   * Denies requests for input that were not answered in time, at most `limit`, oldest first. A turn that waits is
   * reopened without a holder, for the next node that calls `claimExpired`. Returns the logs.
   */
  expireInputs(limit: number): Promise<LogNumber[]>;

  /**
   * Finds conversations in which nothing has happened for `forMs` by the store's clock; at most `limit`, in no order,
   * archives left out. One is in use while a turn or a compaction by hand runs. A turn that waits for input is not
   * running: nothing happens until it is answered.
   */
  findUnused(query: UnusedQuery): Promise<{ owner: string; id: ConversationId }[]>;

  /**
   * Appends batches of journal events, for many conversations at once. Returns a result per batch, in order: `ok`,
   * `stale_fence` if that turn is no longer the writer's (that batch is then not written), or `unavailable` if the
   * outcome is unknown for that batch alone, which can be written again. A batch whose `firstN` already exists is `ok`
   * and not written twice.
   */
  flushJournal(batches: readonly JournalBatch[]): Promise<JournalOutcome[]>;

  /**
   * Checks many owners and conversations at once for something new: owners with changes after `since`, and
   * conversations with a running turn, with rows after `seq`, or that no longer belong to the owner. It may return
   * too many, and leaves out what another transaction has not committed yet: call it repeatedly.
   */
  news(query: NewsQuery): Promise<News>;

  /**
   * Adds messages of an owner to the search index, at most about `limit`. Searches also find messages that are not
   * indexed, only slower and, if many are missing, not all of them. `more`: there is more to add. Of two concurrent
   * calls for the same owner one does nothing.
   */
  indexSearch(request: { owner: string; limit: number }): Promise<SearchIndexing>;

  /**
   * Returns owners, in order, with messages missing in the search index; `next` is where to continue, absent at the
   * end.
   */
  unindexedOwners(query: { after?: string }): Promise<{ owners: string[]; next?: string }>;

  /** Sums the usage of all owners; with `by: "owner"`, for each of them. */
  sumUsage(range: UsageRange): Promise<SummedUsage>;

  /**
   * Removes bytes that nothing refers to any more, of at most `limit` files of all owners: those of uploads that have
   * expired, and those that only removed messages referred to. Bytes that a transaction is about to refer to are
   * kept, or that transaction is refused: nothing ever refers to bytes that are gone.
   */
  collectBlobs(limit: number): Promise<CollectedBlobs>;

  /**
   * Returns the id of this store among others that keep objects in the same place: the one that was proposed first.
   */
  identity(proposed: string): Promise<string>;

  /**
   * Returns bytes that were stored elsewhere and must be removed there. The same are returned again until they are
   * forgotten.
   */
  removedBlobs(limit: number): Promise<RemovedBlob[]>;

  /** Forgets bytes that were removed elsewhere. */
  forgetRemoved(blobs: readonly BlobNumber[]): Promise<void>;

  /** Returns which of these bytes the store has, unfinished uploads included. */
  existingBlobs(blobs: readonly BlobNumber[]): Promise<BlobNumber[]>;

  /** Returns the conversation of a log; null if it no longer has one. */
  locate(log: LogNumber): Promise<{ owner: string; conversationId: ConversationId } | null>;

  /**
   * Returns the store of one owner. Ids belong to their owner: in every method, an id that only another owner has
   * used counts as unused.
   */
  forOwner(owner: string): LogStore;

  /** The API keys of all owners. */
  readonly keys: KeyStore;

  /** Deliveries to the endpoints of all owners. */
  readonly outbox: OutboxStore;

  /** Encrypted values of all owners and of the installation. */
  readonly secrets: SecretStore;

  /**
   * Checks that the store responds, and compares its schema with this version. Rejects with `store_unavailable` if it
   * does not respond.
   */
  check(): Promise<StoreCheck>;

  /**
   * Checks the store: `store`, `schema`, `nodes`, `turns`, `journal`, `queue`, `search`, `webhooks`, `files` and
   * `log`, at least one finding each. With `fix` it also repairs what is safe to repair. The log is read piece by
   * piece, never as a whole.
   */
  examine(options: { fix: boolean }): Promise<Finding[]>;

  close(): Promise<void>;
}

/**
 * `older`: `migrate` has something to do. `newer`: a newer version has migrated it, and this one refuses to write.
 */
export interface StoreCheck {
  schema: "current" | "older" | "newer";
  /** Reason that the store should get no more work although it responds: most recent calls failed. For people. */
  trouble?: string;
}

/** A turn, or a compaction, that a node holds. */
export interface Lease {
  owner: string;
  conversationId: ConversationId;
  log: LogNumber;
  /** The id of the turn; for the lease of a compaction, the id given to `lease`. */
  turnId: TurnId;
  /** Purpose for which the lease was taken. */
  purpose: "turn" | "compaction";
  /** Grows with every takeover. A write with an older fence is refused with `stale_fence`. */
  fence: number;
  stopRequested: boolean;
  /**
   * Set on a turn that a stop has just taken out of waiting: no node holds it, and it can be taken over immediately.
   */
  isFree?: true;
}

/** A turn of a node for which a stop was requested. */
export interface StopRequest {
  owner: string;
  conversationId: ConversationId;
  log: LogNumber;
  turnId: TurnId;
  fence: number;
}

/** The outcome of a batch that was appended to the journal. */
export type JournalOutcome = "ok" | "stale_fence" | "unavailable";

/** One row of the journal: consecutive events of an open turn, encoded by the runtime, opaque to the store. */
export interface JournalBatch {
  log: LogNumber;
  /** Owner of the log: a batch that names another owner is refused like one that lost its turn. */
  owner: string;
  turnId: TurnId;
  fence: number;
  /** The number of the first event, counted from 0 in its turn. */
  firstN: number;
  /** Number of events in the batch. */
  count: number;
  data: string;
}

/**
 * Editing and removing are refused with `message_conflict` once the message was delivered, and with `invalid_request`
 * if no such message ever waited.
 */
export type QueueOperation =
  | { op: "list" }
  | {
      op: "edit";
      id: string;
      text?: string;
      mode?: QueueMode;
      model?: string | null;
      reasoningEffort?: ReasoningEffort | null;
      /** Moves before this entry; null moves to the end. */
      before?: string | null;
    }
  /**
   * Removing the last entry ends a pause: an empty queue has nothing to hold back. Removing twice is the same as
   * removing once.
   */
  | { op: "remove"; id: string }
  | { op: "pause" }
  /** Unpauses; on an idle conversation the queue opens its next turn here. */
  | ({ op: "resume"; node: string; turnId: TurnId } & DefaultModel);

/** A fork inherits the origin's settings and the compactions in force; later changes affect only one of the two. */
export interface ForkInput {
  conversationId: ConversationId;
  /** The last seq of a sealed turn (or of a sealed row outside turns), or 0. Anything else is `invalid_request`. */
  atSeq: number;
  newId: ConversationId;
  title?: string;
  /** Admitted in the fork in the same transaction: edit and regenerate. */
  admit?: Omit<AdmitInput, "conversationId">;
  /** From this transaction on, the chat with this id points to the fork: see `branchOf`. */
  chatId?: string;
}

/** The new conversation, and the turn that was opened in it. */
export interface ForkResult {
  conversation: ConversationRecord;
  /** False if `newId` existed as this very fork. */
  created: boolean;
  /** Also on a repeated call, as long as `admit.node` still holds it. */
  turn?: OpenedTurn;
}

/**
 * For the same summary and archive ids again, the written result is returned, whichever node holds the lease by then.
 */
export interface CompactInput {
  conversationId: ConversationId;
  /** The lease under which it runs: a turn's own, or one taken by `lease`. */
  turnId: TurnId;
  fence: number;
  /** A `system` message. */
  summary: ConversationMessage;
  covers: { fromSeq: number; toSeq: number };
  /** The id of the archive: a closed, hidden fork by reference at the last sealed seq. */
  archiveId: ConversationId;
  /** Notice for watchers. Absent: none. */
  notice?: Omit<CompactionNotice, "newConversationId">;
  /** Ends the lease of a compaction by hand; absent inside a turn. */
  release?: NextTurn;
}

/** The summary at its place, and the turn that continues after it. */
export interface CompactResult {
  entry: HistoryEntry;
  next?: OpenedTurn;
  queue: QueueState;
}

/** Progress of the search index. */
export interface SearchIndexing {
  /** Messages and titles that were added. */
  indexed: number;
  more: boolean;
}

/** A message, or a conversation's title, that a search found. */
export interface SearchHit {
  conversationId: ConversationId;
  title: string;
  /** The message's first; 0 for the title. */
  seq: number;
  /** The message's; absent for the title. */
  role?: ConversationMessage["role"];
  /** Around the first hit, plain text. */
  snippet: string;
  /** Of the message, or of the conversation. */
  createdAt: number;
}

/** The newest hits first. */
export interface SearchResult {
  hits: SearchHit[];
  /** True if there may be more hits, also newer ones, that could not be searched in time. */
  partial?: true;
}

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
   * immediately. Returns what is gone. With `unusedForMs`, only if `findUnused` would find it by that time.
   */
  remove(
    id: ConversationId,
    options: { cascade: boolean; unusedForMs?: number },
  ): Promise<RemovedConversation[]>;
}

/**
 * `news`: something was written. `stop`: a stop of the running turn was requested. `open`: show it to its clients.
 * `input`: a request of the running turn was decided. `webhooks`: endpoints have changed, of any owner. `models`:
 * connections to providers have changed. The log of these two is 0, which no log has.
 */
export type WakeKind = "news" | "stop" | "open" | "input" | "webhooks" | "models";

/**
 * Proof to other nodes that this process runs: something that ends immediately with the process, such as a lock of a
 * database session, and that lasts as long as its connection if the process hangs.
 */
export interface Presence {
  /** Identifies it in the store (see `LogStoreRoot.heartbeat`). Undefined while there is none. */
  token(): string | undefined;
  /** Calls back when the token has changed. Returns a function that stops it. */
  onChange(changed: () => void): () => void;
}

/** Notifications between nodes and processes that a conversation has news. Losing one costs time, never data. */
export interface Wake {
  notify(logs: readonly LogNumber[], kind?: WakeKind): void;
  /** Returns a function that stops listening. */
  listen(onWake: (logs: readonly LogNumber[], kind: WakeKind) => void): () => void;
  close?(): Promise<void>;
  /** Absent if other nodes cannot see that this process runs: then its lease has to expire. */
  readonly presence?: Presence;
}
