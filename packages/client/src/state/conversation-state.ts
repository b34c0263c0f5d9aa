import type {
  ActiveTurn,
  Chunk,
  ConversationMeta,
  ConversationStatus,
  Cursor,
  ErrorCode,
  OpenUnion,
  QueueMode,
  QueuePayload,
  Role,
  StepId,
  ToolCallChunk,
  ToolResultChunk,
  ToolTiming,
  TurnReason,
  Usage,
  WsChatChunks,
  WsChatDelta,
  WsChatReset,
  WsChatSnapshot,
} from "@parley/wire";

/** What a subscription sends: the state around the log, committed chunks, a reset, or one event. */
export type SubscriptionFrame = WsChatSnapshot | WsChatChunks | WsChatReset | WsChatDelta;

/** What went wrong, for programs (`code`) and for people (`message`). */
export interface Failure {
  readonly code: OpenUnion<ErrorCode>;
  readonly message: string;
  /** Whether the same may succeed later. */
  readonly retryable: boolean;
}

/**
 * A conversation as a page shows it. Immutable: every change makes a new state, and whatever did not change keeps
 * its identity, so that a list row renders again only when its message changed.
 *
 * It is the same however it came about: followed live, loaded from history, cut off and resumed, or all of these.
 */
export interface ConversationState {
  readonly conversationId: string;
  /** `missing`: there is no such conversation (yet); a send to it makes it. `failed`: see `error`. */
  readonly phase: "loading" | "ready" | "missing" | "failed";
  /** Why it could not be loaded. */
  readonly error?: Failure;
  readonly meta?: ConversationMeta;
  readonly status: ConversationStatus;
  /** In order: committed ones by seq, then those of the open turn, then those that are on their way. */
  readonly messages: readonly MessageState[];
  /** The turns of the loaded messages, by id. */
  readonly turns: Readonly<Record<string, TurnState>>;
  /** The turn that runs. */
  readonly activeTurn?: ActiveTurn;
  /** What waits in the server, in order. */
  readonly queue: QueuePayload;
  /** What is on its way to the queue, in order: the server does not have it yet, as far as is known here. */
  readonly unsent: readonly UnsentMessage[];
  /** Tokens in context after the newest turn. Absent: unknown. */
  readonly contextSize?: number;
  /** The window of the model that the next turn would ask. Absent: unknown. */
  readonly contextWindow?: number;
  /** The lowest seq that is loaded. */
  readonly oldestSeq?: number;
  /** Whether there are older messages to load. */
  readonly hasEarlier: boolean;
  readonly loadingEarlier: boolean;
  /** Where to follow on from. */
  readonly cursor?: Cursor;
}

/** A message on its way to the queue. */
export interface UnsentMessage {
  /** The id that it will have in the queue and in the log. */
  readonly id: string;
  readonly text: string;
  readonly mode: QueueMode;
}

/** One message. */
export interface MessageState {
  /** The message's id: chosen by the sender for user messages, and the same live and in the log. */
  readonly id: string;
  readonly role: Role;
  readonly turnId?: string;
  readonly stepId?: StepId;
  /** In order. A window of history may begin inside a message and hold only its last parts. */
  readonly parts: readonly PartState[];
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  /** Epoch milliseconds. For display, never for order. */
  readonly createdAt?: number;
  /**
   * `sending`: on its way to the server. `failed`: it did not get there, see `error`. `streaming`: told, and
   * provisional until it is committed. `committed`: in the log, for ever.
   */
  readonly status: "sending" | "failed" | "streaming" | "committed";
  readonly error?: Failure;
}

/** One part of a message. */
export interface PartState {
  /** Unique in the conversation, and the same while it grows and once it is committed. */
  readonly key: string;
  /** Its 0-based place in the message. */
  readonly index: number;
  readonly chunk: Chunk;
  /** Whether more of it is expected. */
  readonly streaming: boolean;
  /** Its place in the log, once it is committed. */
  readonly seq?: number;
}

/** One turn. */
export interface TurnState {
  readonly turnId: string;
  readonly status: "running" | "sealed";
  /** Why it ended; `aborted` and `interrupted` among others. Absent: it runs, or is not known yet. */
  readonly reason?: OpenUnion<TurnReason>;
  /** The model, as `credential/model`. */
  readonly model?: string;
  /** Epoch milliseconds. While it runs; of a sealed turn, its first message says when. */
  readonly startedAt?: number;
  readonly durationMs?: number;
  /** The sum over all steps. Absent: unknown. */
  readonly usage?: Usage;
  readonly contextSize?: number;
  /** In order. */
  readonly steps: readonly StepState[];
  readonly error?: Failure;
  /** What tools printed, by call, while they work; once its result is committed, the result says it. */
  readonly toolOutput: Readonly<Record<string, string>>;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
}

/** Tokens and timing of one step. What is absent is unknown. */
export interface StepState {
  readonly stepId: StepId;
  readonly usage?: Usage;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  /** From the first tool's start to the last tool's end. Told only with the metrics of a sealed turn. */
  readonly toolMs?: number;
  /** The step's tools, in call order. */
  readonly tools?: readonly ToolTiming[];
  /** Whether the model has said its last word in this step. */
  readonly complete: boolean;
}

/** A tool call with what is known of it. */
export interface ToolCallState {
  readonly call: ToolCallChunk;
  readonly result?: ToolResultChunk;
  /** What the tool has printed so far. */
  readonly output: string;
  readonly status: "running" | "done" | "failed";
}
