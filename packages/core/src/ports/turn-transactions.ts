import type {
  ConversationStatus,
  InputResponseEntry,
  QueueMode,
  StepMetrics,
  TurnMetrics,
  TurnReason,
} from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { HistoryEntry, ProviderCallRecord } from "../ports.js";
import type { InputRequest } from "../turn/approval/turn-inputs.js";
import type { ConversationSettings, LogNumber, QueueState, TurnChoices } from "./conversation-record.js";
import type { InputRecord, OpenInputs } from "./input-store.js";
import type { JournalBatch } from "./log-store.js";

/**
 * Model for a turn that a transaction opens. Every transaction that opens a turn fixes its model: the one chosen for
 * the turn, else the conversation's setting, else the model of its last turn, else `defaultModel`. So a queued,
 * recovered or repeated turn keeps it.
 */
export interface DefaultModel {
  defaultModel?: string;
}

/** A turn that a transaction has just opened, with its user rows already written. */
export interface OpenedTurn {
  log: LogNumber;
  turnId: TurnId;
  fence: number;
  /** With the model that the turn was opened for. */
  choices: TurnChoices;
  /** The messages that opened it, in order, with their seqs. */
  entries: HistoryEntry[];
  startedAt: number;
}

export interface AdmitInput extends DefaultModel {
  /** The node that runs the turn, if one opens. */
  node: string;
  conversationId: ConversationId;
  /** Written when the conversation is unknown. */
  settings?: ConversationSettings;
  /** `message.id` is the client's message id. */
  message: ConversationMessage;
  /**
   * Rows outside turns that are written before it, in order, if it opens a turn. Refused as busy if it would wait.
   */
  before?: ConversationMessage[];
  /** Hash of everything the client sent: the same id with another hash is `message_conflict`. */
  bodyHash: string;
  ifBusy: "reject" | "queue";
  /** Mode in which it waits, if it has to. */
  mode: QueueMode;
  choices: TurnChoices;
  /** The id of the turn, if one opens. Used once in its conversation, as every turn's and compaction's. */
  turnId: TurnId;
  /** Maximum length of the queue. */
  queueLength: number;
  /** The title of a conversation that has none yet. */
  title: string;
  /**
   * Ends the turn that waits in the conversation, if it is this one with this fence (otherwise `stale_fence`): it is
   * sealed, its requests are denied, and the message opens its turn in the same transaction, without a pause of the
   * queue. Has no effect if no turn waits.
   */
  sealWaiting?: Omit<SealInput, "conversationId" | "next">;
}

/**
 * - `started`: the user row is written, a turn is open and this node holds it.
 * - `queued`: a turn is running and the message waits.
 * - `known`: the same message was admitted before; its outcome then and, if it has one, its turn.
 *
 * Refusals: `turn_active` (its details name the requests that the turn waits for), `queue_full`, `message_conflict`, `conversation_closed` (an archive). A closed conversation is reopened.
 */
export type AdmitOutcome =
  | {
      kind: "started";
      turn: OpenedTurn;
      created: boolean;
      /** The turn that waited and was ended by `sealWaiting`. */
      ended?: { turnId: TurnId; sealed: SealResult };
    }
  | { kind: "queued"; log: LogNumber; queue: QueueState; turnId?: TurnId }
  | { kind: "known"; outcome: "started" | "queued"; turnId?: TurnId };

export interface CommitInput {
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
  stepId: string;
  messages: ConversationMessage[];
  /** Promotes all waiting `steer` entries after the messages, unless the queue is paused or a stop was requested. */
  promoteSteers: boolean;
  /** Steps and calls so far, kept on the turn so that a node that takes over can continue counting. */
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
  /** New requests for input; their entries are among the messages. */
  inputs?: InputRequest[];
  /**
   * Only undecided calls are left: the turn waits from now on, and no node holds it, unless a response has been
   * recorded that is not in the log yet, or a stop was requested.
   */
  wait?: boolean;
}

/**
 * The whole journal of the turn is removed after a commit: its events are in rows now. For a request that was
 * decided, the recorded response is written, regardless of the message; one that was not is decided by it.
 */
export interface CommitResult {
  /** The written rows, with their seqs. Committing the same message ids again returns the same, promotions too. */
  entries: HistoryEntry[];
  /** The promoted entries as rows, in order. */
  promoted: HistoryEntry[];
  queue: QueueState;
  stopRequested: boolean;
  /** Set if the turn waits now: the requests it waits for. */
  waiting?: OpenInputs;
  /** Responses to the turn's requests that are not in the log yet. */
  responses: InputResponseEntry[];
}

/** End of a lease: the turn that opens next, if any. */
export interface NextTurn extends DefaultModel {
  node: string;
  /** The id of the next turn, if the queue opens one. */
  turnId: TurnId;
  /**
   * Keeps the waiting messages instead of opening a turn with them; an empty queue is not paused by it. A requested
   * stop has the same effect, so that the next turn never answers it.
   */
  pauseQueue: boolean;
  /**
   * False on a draining node, which leaves the queue to others: the waiting messages open their turn without a
   * holder, for the next node that calls `claimExpired`, and `next` is absent.
   */
  openNext: boolean;
}

/** Input of a seal. A seal also answers every unanswered request of the turn, with an entry before the messages. */
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
  /** Reason that open requests are denied. Default: `stop` for an aborted turn, otherwise `end`. */
  via?: "stop" | "send" | "end";
  next: NextTurn;
}

export interface SealResult {
  /** The seqs of the whole turn. */
  firstSeq: number;
  lastSeq: number;
  entries: HistoryEntry[];
  /**
   * The turn that the queue opened in the same transaction: the waiting steers together, otherwise the first entry.
   */
  next?: OpenedTurn;
  queue: QueueState;
  status: ConversationStatus;
}

/** The durable state of the open turn. */
export interface OpenTurnState {
  log: LogNumber;
  turnId: TurnId;
  fence: number;
  node: string;
  choices: TurnChoices;
  startedAt: number;
  /**
   * Time that the turn has been open, by the clock that `startedAt` was read from. Without it, a node that takes over
   * has only its own clock to compare with, which may be minutes off.
   */
  elapsedMs?: number;
  stopRequested: boolean;
  /** Time when it began to wait, if it waits now. */
  waitingSince?: number;
  /** Total time that it has waited before. */
  waitedMs?: number;
  /** Its requests for input, in order. */
  inputs: InputRecord[];
  /** Its committed rows, user messages first. */
  entries: HistoryEntry[];
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
  /** Batches of the journal, in order of `firstN`, from the batch that contains `afterN` + 1 on. */
  journal: JournalBatch[];
}

export interface TurnRecord {
  turnId: TurnId;
  ordinal: number;
  status: "running" | "waiting" | "sealed";
  reason?: TurnReason;
  choices: TurnChoices;
  firstSeq: number;
  lastSeq: number;
  startedAt: number;
  sealedAt?: number;
  metrics?: TurnMetrics;
  providerCalls: ProviderCallRecord[];
}
