import type {
  ConversationStatus,
  Finding,
  QueueMode,
  ReasoningEffort,
  StepMetrics,
  StoredChunk,
  TurnMetrics,
  TurnReason,
} from "@parley/wire";
import type { ImportInput, ImportResult } from "./imported-conversation.js";
import type { KeyStore } from "./key-store.js";
import type { ConversationId, ConversationMessage, TurnId } from "./messages/message.js";
import type { ConversationStore, HistoryEntry, ProviderCallRecord } from "./ports.js";

/**
 * The store that the runtime stands on. Every method is one transaction, takes and returns plain data that
 * survives a structured clone, and either happens as a whole or not at all. Failures are `ParleyError`s;
 * `store_unavailable` means that the outcome is unknown and the same call may be made again: admission,
 * commits, seals, forks and compactions are idempotent by the ids they carry.
 */
export interface LogStoreRoot {
  /** Brings the schema up, under a lock. Refuses a newer one with `schema_newer`. */
  migrate(): Promise<void>;

  /**
   * Renews the node's life by the store's own clock: `until` = now + ttl. Returns the turns of this node that
   * someone asked to stop and that are still open.
   */
  heartbeat(node: string, ttlMs: number): Promise<StopRequest[]>;

  /** Ends the node's life at once, until its next heartbeat: whatever leases it still holds can be claimed by others. */
  retire(node: string): Promise<void>;

  /**
   * Takes over leases whose node is dead or retired, oldest first, at most `limit`, skipping rows that someone
   * else is taking. Each gets fence + 1 and belongs to `node` from then on. A node that has never sent a heartbeat
   * is dead, and so is nobody: what was released, or opened without a holder, is claimed here too.
   */
  claimExpired(node: string, limit: number): Promise<Lease[]>;

  /**
   * Appends batches of journal events, for many conversations in one go. Answers per batch, in order: `ok`, or
   * `stale_fence` when that turn is no longer the writer's (that batch is then not written). A batch whose
   * `firstN` is already there is `ok` and not written twice.
   */
  flushJournal(batches: readonly JournalBatch[]): Promise<("ok" | "stale_fence")[]>;

  /** The store as one owner sees it: another owner's ids behave as unknown. */
  forOwner(owner: string): LogStore;

  /** The API keys of all owners. */
  readonly keys: KeyStore;

  /**
   * Whether the store answers, and how its schema stands to this version. Rejects with `store_unavailable` when it
   * does not answer.
   */
  check(): Promise<StoreCheck>;

  /**
   * Looks the store over: `store`, `schema`, `nodes`, `turns`, `journal`, `queue` and `log`, at least one finding each.
   * With `fix` it also puts right what is safe to. The log is read piece by piece, never as a whole.
   */
  examine(options: { fix: boolean }): Promise<Finding[]>;

  close(): Promise<void>;
}

/** `older`: `migrate` has something to do. `newer`: another version has been here, and this one refuses to write. */
export interface StoreCheck {
  schema: "current" | "older" | "newer";
}

/** A turn, or a compaction, that a node holds. */
export interface Lease {
  owner: string;
  conversationId: ConversationId;
  /** The id of the turn; of a lease that a compaction took, the id given to `lease`. */
  turnId: TurnId;
  /** What the lease was taken for. */
  purpose: "turn" | "compaction";
  /** Grows with every take-over. A write with an older fence is refused with `stale_fence`. */
  fence: number;
  stopRequested: boolean;
}

export interface StopRequest {
  owner: string;
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
}

/** One row of the journal: consecutive events of an open turn, encoded by the runtime, opaque to the store. */
export interface JournalBatch {
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
  /** The number of the first event, counted from 0 in its turn. */
  firstN: number;
  /** How many events the batch holds. */
  count: number;
  data: string;
}

/**
 * Model, effort and instructions as chosen for one turn. Absent fields fall back to the conversation's. Where
 * several waiting messages open a turn together, the last one that names a field wins.
 */
export interface TurnChoices {
  model?: string;
  reasoningEffort?: ReasoningEffort;
  instructions?: string;
}

/** What a conversation keeps about itself. `null` in an update means: back to the default. */
export interface ConversationSettings extends TurnChoices {
  title?: string;
  /** In tokens; 0 compacts only by hand. */
  compactThreshold?: number;
  metadata?: Record<string, unknown>;
}

/** A conversation with all that one look should tell. */
export interface ConversationRecord extends ConversationSettings {
  id: ConversationId;
  /** Empty until there is one. */
  title: string;
  /** `closed` while put away, else `active` while a turn is open. A compaction by hand leaves it `idle`. */
  status: ConversationStatus;
  createdAt: number;
  lastActivityAt: number;
  /** Moves with every change a watcher should hear of; never equal for two changes of one owner. */
  changedAt: number;
  parentId?: ConversationId;
  parentSeq?: number;
  /** Set while a summary is in force: the model does not read the whole log. */
  compacted?: true;
  /** The archive of the summary in force, where there is one: that of an imported summary stayed behind. */
  compactedFrom?: ConversationId;
  /** Set on the archive that a compaction made: the conversation it belongs to. Such a one refuses sends. */
  archiveOf?: ConversationId;
  /** The last seq given, 0 for none. */
  lastSeq: number;
  /** The last seq of sealed turns. */
  sealedSeq: number;
  /** The open turn, or the compaction, if there is one. */
  active?: ActiveLease;
  queue: QueueEntry[];
  queuePaused: boolean;
  /** Of the newest sealed turn that knows it. */
  contextSize?: number;
}

export interface ActiveLease {
  turnId: TurnId;
  purpose: "turn" | "compaction";
  /** Empty while nobody holds it. */
  node: string;
  fence: number;
  stopRequested: boolean;
  startedAt: number;
  model?: string;
}

export interface QueueEntry {
  /** The message id under which it was sent. */
  id: string;
  message: ConversationMessage;
  mode: QueueMode;
  queuedAt: number;
  choices: TurnChoices;
}

export interface QueueState {
  entries: QueueEntry[];
  paused: boolean;
}

/** A turn that a transaction has just opened, with its user rows already written. */
export interface OpenedTurn {
  turnId: TurnId;
  fence: number;
  choices: TurnChoices;
  /** The messages that opened it, in order, with their seqs. */
  entries: HistoryEntry[];
  startedAt: number;
}

export interface AdmitInput {
  /** The node that runs the turn, if one opens. */
  node: string;
  conversationId: ConversationId;
  /** Written when the conversation is unknown. */
  settings?: ConversationSettings;
  /** `message.id` is the client's message id. */
  message: ConversationMessage;
  /** Of everything the client sent: the same id with another hash is `message_conflict`. */
  bodyHash: string;
  ifBusy: "reject" | "queue";
  /** How it waits, if it has to. */
  mode: QueueMode;
  choices: TurnChoices;
  /** The id of the turn, if one opens. Used once in its conversation, as every turn's and compaction's. */
  turnId: TurnId;
  /** The longest the queue may get. */
  queueLength: number;
  /** The title of a conversation that has none yet. */
  title: string;
}

/**
 * - `started`: the user row is written, a turn is open and this node holds it.
 * - `queued`: a turn is running and the message waits.
 * - `known`: the same message was admitted before; its outcome then and, if it has one, its turn.
 *
 * Refusals: `turn_active`, `queue_full`, `message_conflict`, `conversation_not_found` (another owner's id),
 * `conversation_closed` (an archive). A closed conversation is reopened.
 */
export type AdmitOutcome =
  | { kind: "started"; turn: OpenedTurn; created: boolean }
  | { kind: "queued"; queue: QueueState; turnId?: TurnId }
  | { kind: "known"; outcome: "started" | "queued"; turnId?: TurnId };

export interface CommitInput {
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
  stepId: string;
  messages: ConversationMessage[];
  /** Promote all waiting `steer` entries behind the messages, unless the queue is paused or a stop was requested. */
  promoteSteers: boolean;
  /** Steps and calls so far, kept on the turn so that whoever takes over can go on counting. */
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
}

/** The whole journal of the turn is gone after a commit: its events are in rows now. */
export interface CommitResult {
  /** The written rows, with their seqs. Committing the same message ids again answers the same, promotions too. */
  entries: HistoryEntry[];
  /** The promoted entries as rows, in order. */
  promoted: HistoryEntry[];
  queue: QueueState;
  stopRequested: boolean;
}

/** How a lease ends: what, if anything, opens next. */
export interface NextTurn {
  node: string;
  /** The id of the next turn, if the queue opens one. */
  turnId: TurnId;
  /**
   * Keep what waits instead of opening a turn with it; an empty queue is not paused by it. A stop that was
   * requested does the same, so that the next turn never answers it.
   */
  pauseQueue: boolean;
  /**
   * False on a draining node, which leaves the queue to others: what waits opens its turn without a holder, for
   * whoever calls `claimExpired` next, and `next` is absent.
   */
  openNext: boolean;
}

export interface SealInput {
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
  /** The rows that no commit has written. */
  messages: ConversationMessage[];
  stepId?: string;
  reason: TurnReason;
  metrics: TurnMetrics;
  providerCalls: ProviderCallRecord[];
  next: NextTurn;
}

export interface SealResult {
  /** The seqs of the whole turn. */
  firstSeq: number;
  lastSeq: number;
  entries: HistoryEntry[];
  /** The turn that the queue opened in the same transaction: the waiting steers together, else the first entry. */
  next?: OpenedTurn;
  queue: QueueState;
  status: ConversationStatus;
}

/** The open turn as it is durable. */
export interface OpenTurnState {
  turnId: TurnId;
  fence: number;
  node: string;
  choices: TurnChoices;
  startedAt: number;
  stopRequested: boolean;
  /** Its committed rows, user messages first. */
  entries: HistoryEntry[];
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
  /** What the journal holds, in order of `firstN`, from the batch that contains `afterN` + 1 on. */
  journal: JournalBatch[];
}

export interface TurnRecord {
  turnId: TurnId;
  ordinal: number;
  status: "running" | "sealed";
  reason?: TurnReason;
  choices: TurnChoices;
  firstSeq: number;
  lastSeq: number;
  startedAt: number;
  sealedAt?: number;
  metrics?: TurnMetrics;
  providerCalls: ProviderCallRecord[];
}

/**
 * Editing and removing are refused with `message_conflict` once the message was delivered, and with
 * `invalid_request` where no such message ever waited.
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
      /** Move before this entry; null moves to the end. */
      before?: string | null;
    }
  /** An empty queue has nothing to keep: taking out the last entry ends a pause. Removing twice is removing once. */
  | { op: "remove"; id: string }
  | { op: "pause" }
  /** Unpauses; on an idle conversation the queue opens its next turn here. */
  | { op: "resume"; node: string; turnId: TurnId };

/** A fork takes on the origin's settings and which compactions are in force; later changes are each one's own. */
export interface ForkInput {
  conversationId: ConversationId;
  /** The last seq of a sealed turn (or of a sealed row outside turns), or 0. Anything else is `invalid_request`. */
  atSeq: number;
  newId: ConversationId;
  title?: string;
  /** Admitted in the fork in the same transaction: edit and regenerate. */
  admit?: Omit<AdmitInput, "conversationId">;
}

export interface ForkResult {
  conversation: ConversationRecord;
  /** False when `newId` existed as this very fork. */
  created: boolean;
  /** Also on a repeated call, as long as `admit.node` still holds it. */
  turn?: OpenedTurn;
}

/** The same summary and archive ids again are answered with what was written, whoever holds the lease by then. */
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
  /** What watchers are told of it. Absent: nothing. */
  notice?: Omit<CompactionNotice, "newConversationId">;
  /** Ends the lease of a compaction by hand; absent inside a turn. */
  release?: NextTurn;
}

export interface CompactResult {
  entry: HistoryEntry;
  next?: OpenedTurn;
  queue: QueueState;
}

/** What changed in an owner's conversations. */
export interface Changes {
  conversations: ConversationRecord[];
  notices: ConversationNotice[];
  last: number;
}

/**
 * What happened to a conversation and cannot be seen in its record. Kept for minutes: long enough for every node that
 * looks now and then. `changedAt` stands among those of the owner's records.
 */
export type ConversationNotice =
  | { kind: "removed"; changedAt: number; conversationIds: ConversationId[] }
  | ({ kind: "compacted"; changedAt: number; conversationId: ConversationId } & CompactionNotice);

/** What watchers are told of a compaction. */
export interface CompactionNotice {
  /** Its archive. */
  newConversationId: ConversationId;
  messagesSummarized: number;
  messagesKept: number;
}

export interface SearchHit {
  conversationId: ConversationId;
  title: string;
  seq: number;
  role: ConversationMessage["role"];
  /** Around the first hit, plain text. */
  snippet: string;
  createdAt: number;
}

/**
 * One owner's part of the store. For an unknown id, `get`, `readTurn`, `readOpenTurn`, `findReceipt`, `lastCall` and
 * `takeOver` answer null, `readNewest` and `remove` nothing; `admit`, `create` and `importConversation` make it; all
 * others refuse with `conversation_not_found`. A conversation id has 1 to 128 of `A-Za-z0-9._:-`, else it is
 * `invalid_request`.
 */
export interface LogStore extends ConversationStore {
  admit(input: AdmitInput): Promise<AdmitOutcome>;
  commitStep(input: CommitInput): Promise<CommitResult>;
  seal(input: SealInput): Promise<SealResult>;

  /** Marks the open turn, or the compaction. Returns its lease, or null when nothing runs. */
  requestStop(id: ConversationId): Promise<Lease | null>;
  /** Takes an open lease from whoever holds it (fence + 1), if it is still the given turn's with that fence. */
  takeOver(request: {
    conversationId: ConversationId;
    turnId: TurnId;
    fence: number;
    node: string;
  }): Promise<Lease | null>;
  /** Gives an open turn back unsealed: any node may claim it at once. */
  release(request: { conversationId: ConversationId; turnId: TurnId; fence: number }): Promise<void>;
  /** Takes the lease of an idle conversation for a compaction; `turn_active` when it is not idle. */
  lease(request: { conversationId: ConversationId; node: string; turnId: TurnId }): Promise<Lease>;
  /** Ends a compaction's lease without a compaction, and lets the queue go on. Ending it again answers the same. */
  endLease(request: {
    conversationId: ConversationId;
    turnId: TurnId;
    fence: number;
    next: NextTurn;
  }): Promise<{ next?: OpenedTurn; queue: QueueState }>;

  /** `sinceSeq < seq < beforeSeq`, ascending; `limit` keeps the newest; through ancestors; sealed unless `open`. */
  readChunks(query: {
    conversationId: ConversationId;
    sinceSeq?: number;
    beforeSeq?: number;
    limit?: number;
    open?: boolean;
  }): Promise<{ chunks: StoredChunk[]; latestSeq: number }>;
  /**
   * Whole messages from the newest end, newest first, through ancestors; `before` excludes seqs from there on.
   * Open turns included; summaries that were taken out of force left out. What was inherited reads as the
   * conversation's own: `message.conversationId` is the one asked for.
   */
  readNewest(query: {
    conversationId: ConversationId;
    limit: number;
    before?: number;
  }): Promise<{ entries: HistoryEntry[]; before?: number }>;
  /**
   * The open turn, or null. `afterN` leaves out journal batches that end at or before it; with `fence`, only if the
   * turn still has that fence, for a number that was counted under another one says nothing.
   */
  readOpenTurn(query: {
    conversationId: ConversationId;
    afterN?: number;
    fence?: number;
  }): Promise<OpenTurnState | null>;

  queue(id: ConversationId, operation: QueueOperation): Promise<QueueState & { started?: OpenedTurn }>;
  fork(input: ForkInput): Promise<ForkResult>;
  compact(input: CompactInput): Promise<CompactResult>;
  /** Takes the latest compaction out of force; `nothing_to_compact` when there is none; `turn_active` while busy. */
  undoCompaction(id: ConversationId): Promise<ConversationRecord>;

  /** Creates, or returns what is there under the same id (`created: false`). */
  create(input: {
    id: ConversationId;
    settings: ConversationSettings;
  }): Promise<{ conversation: ConversationRecord; created: boolean }>;
  get(id: ConversationId): Promise<ConversationRecord | null>;
  /** Newest activity first; archives left out. `before` is the `next` of the page before. */
  list(query: {
    q?: string;
    status?: ConversationStatus;
    limit: number;
    before?: string;
  }): Promise<{ conversations: ConversationRecord[]; next?: string }>;
  /** Changes what is named; null puts a setting back to its default. `closed` hides, pauses the queue, and opens again. */
  set(
    id: ConversationId,
    settings: { [Key in keyof ConversationSettings]?: ConversationSettings[Key] | null } & {
      closed?: boolean;
    },
  ): Promise<ConversationRecord>;
  readTurn(id: ConversationId, turnId: TurnId): Promise<{ turn: TurnRecord; entries: HistoryEntry[] } | null>;
  /** The turn that a message of this conversation belongs to, by its receipt. */
  findReceipt(
    id: ConversationId,
    messageId: string,
  ): Promise<{ outcome: "started" | "queued"; turnId?: TurnId } | null>;
  /** The newest call that a step made, through ancestors: what the next one is compared with. */
  lastCall(id: ConversationId): Promise<ProviderCallRecord | null>;
  /** Of sealed turns, in order, through ancestors. */
  metrics(id: ConversationId): Promise<TurnMetrics[]>;
  /**
   * What changed after `since`: conversations and notices, each in order of change and at most `limit` of both
   * together, and the `changedAt` of the last one (or `since`). Without `since`: none, and the newest `changedAt` there
   * is, to begin from.
   */
  changed(query: { since?: number; limit: number }): Promise<Changes>;
  /**
   * Writes a whole conversation, with the seqs and ids it had. The same again changes nothing; an id under which
   * another log stands is `message_conflict`.
   */
  importConversation(input: ImportInput): Promise<ImportResult>;
  search(query: { q: string; limit: number; conversationId?: ConversationId }): Promise<SearchHit[]>;
  /** Always succeeds on the owner's own: rows past the last living fork point go at once. Returns the ids that are gone. */
  remove(id: ConversationId, options: { cascade: boolean }): Promise<string[]>;
}

/** `news`: something was written. `stop`: someone asked the running turn to stop. `open`: show it to its clients. */
export type WakeKind = "news" | "stop" | "open";

/** How nodes and processes tell each other that a conversation has news. Losing one costs time, never data. */
export interface Wake {
  notify(conversationIds: readonly ConversationId[], kind?: WakeKind): void;
  /** Returns a function that stops listening. */
  listen(onWake: (conversationIds: readonly ConversationId[], kind: WakeKind) => void): () => void;
  close?(): Promise<void>;
}
