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
 * Whatever opens a turn fixes its model in the same transaction: the one chosen for the turn, else the conversation's
 * setting, else the model of its last turn, else `defaultModel`. So a queued, recovered or repeated turn keeps it.
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
  /** Rows outside turns that are written before it, in order, if it opens a turn. Refused as busy where it would wait. */
  before?: ConversationMessage[];
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
  /**
   * Ends the turn that waits in the conversation, if it is this one with this fence (else `stale_fence`): it is sealed,
   * its requests are denied, and the message opens its turn in the same transaction, without a pause of the queue.
   * Nothing of it happens where no turn waits.
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
  /** Promote all waiting `steer` entries behind the messages, unless the queue is paused or a stop was requested. */
  promoteSteers: boolean;
  /** Steps and calls so far, kept on the turn so that whoever takes over can go on counting. */
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
  /** New requests for input; their entries are among the messages. */
  inputs?: InputRequest[];
  /**
   * Only undecided calls are left: the turn waits from now on, and nobody holds it, unless a response has been recorded
   * that is not in the log yet, or a stop was requested.
   */
  wait?: boolean;
}

/**
 * The whole journal of the turn is gone after a commit: its events are in rows now. Of a request that was decided, the
 * recorded response is written, whatever the message says; one that was not is decided by it.
 */
export interface CommitResult {
  /** The written rows, with their seqs. Committing the same message ids again answers the same, promotions too. */
  entries: HistoryEntry[];
  /** The promoted entries as rows, in order. */
  promoted: HistoryEntry[];
  queue: QueueState;
  stopRequested: boolean;
  /** Set where the turn waits now: what it waits for. */
  waiting?: OpenInputs;
  /** Responses to the turn's requests that are not in the log yet. */
  responses: InputResponseEntry[];
}

/** How a lease ends: what, if anything, opens next. */
export interface NextTurn extends DefaultModel {
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

/** A seal also answers every request of the turn that is not answered, with an entry before the messages. */
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
  /** Why open requests are denied. Default: `stop` for an aborted turn, else `end`. */
  via?: "stop" | "send" | "end";
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
  log: LogNumber;
  turnId: TurnId;
  fence: number;
  node: string;
  choices: TurnChoices;
  startedAt: number;
  /**
   * How long the turn has been open, by the clock that `startedAt` was read from. Without it, whoever takes over has
   * only its own clock to compare with, which may be minutes off.
   */
  elapsedMs?: number;
  stopRequested: boolean;
  /** When it began to wait, if it waits now. */
  waitingSince?: number;
  /** How long it has waited before, in all. */
  waitedMs?: number;
  /** Its requests for input, in order. */
  inputs: InputRecord[];
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
