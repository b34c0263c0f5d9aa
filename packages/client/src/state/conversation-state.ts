import type { Failure, FoldedMessage, LogGap, TurnState } from "@parley/fold";
import type {
  ActiveTurn,
  ConversationMeta,
  ConversationStatus,
  Cursor,
  IfBusy,
  InputRequestEntry,
  InputResponseEntry,
  QueuePayload,
  RespondRequest,
  ToolCallChunk,
  ToolResultChunk,
  UploadInfo,
} from "@parley/wire";

export type { Failure, LogGap, PartState, StepState, SubscriptionFrame, TurnState } from "@parley/fold";

/**
 * A conversation as a page shows it. Immutable: every change makes a new state, and whatever did not change keeps its
 * identity, so that a list row renders again only when its message changed.
 *
 * The state does not depend on how it was built: followed live, loaded from history, cut off and resumed, or all of
 * these.
 */
export interface ConversationState {
  readonly conversationId: string;
  /** `missing`: there is no such conversation (yet); a send to it makes it. `failed`: see `error`. */
  readonly phase: "loading" | "ready" | "missing" | "failed";
  /** Reason why it could not be loaded. */
  readonly error?: Failure;
  readonly meta?: ConversationMeta;
  readonly status: ConversationStatus;
  /** In order: committed ones by seq, then those of the open turn, then pending ones. */
  readonly messages: readonly MessageState[];
  /** The turns of the loaded messages, by id. */
  readonly turns: Readonly<Record<string, TurnState>>;
  /** The turn that runs. */
  readonly activeTurn?: ActiveTurn;
  /** Messages that wait in the server, in order. */
  readonly queue: QueuePayload;
  /** Messages that this client sends, in order: the server does not have them yet, as far as is known here. */
  readonly pending: readonly PendingMessage[];
  /** Responses of this client to requests for input, by request. */
  readonly responses: Readonly<Record<string, OwnResponse>>;
  /** Tokens in context after the newest turn. Absent: unknown. */
  readonly contextSize?: number;
  /** The window of the model that the next turn would use. Absent: unknown. */
  readonly contextWindow?: number;
  /** The lowest seq that is loaded. */
  readonly oldestSeq?: number;
  /** True if there are older messages to load. */
  readonly hasEarlier: boolean;
  readonly loadingEarlier: boolean;
  /**
   * Ranges of the log that are not loaded, ascending. The first one may be the beginning (`hasEarlier`); others lie between
   * messages that are adjacent in `messages`, after `loadAround`.
   */
  readonly gaps: readonly LogGap[];
  /** Cursor to resume from. */
  readonly cursor?: Cursor;
}

/** A message that this client sends. It is removed when the queue or the log has it, or when it is canceled. */
export interface PendingMessage {
  /** The id that it will have in the queue and in the log. */
  readonly id: string;
  readonly text: string;
  readonly ifBusy: IfBusy;
  /** `sending`: on its way, also while the connection is down. `failed`: it needs a retry or a cancel, see `error`. */
  readonly status: "sending" | "failed";
  readonly error?: Failure;
  /** Time when it was first sent, in epoch milliseconds. */
  readonly createdAt?: number;
  /** Its files, by their uploads. */
  readonly files?: readonly UploadInfo[] | undefined;
  /**
   * `messages`: it should open a turn, and is among the `messages` too. `queue`: something else was running or pending
   * when it was sent, so that it should wait, and it is here alone.
   */
  readonly shownIn: "messages" | "queue";
}

/** One message: of the log, of the open turn, or one that this client is sending. */
export interface MessageState extends Omit<FoldedMessage, "status"> {
  /**
   * `sending`: on its way to the server. `failed`: it did not get there, see `error`. `streaming`: published, and
   * provisional until it is committed. `committed`: in the log, permanently.
   */
  readonly status: "sending" | "failed" | FoldedMessage["status"];
  readonly error?: Failure;
}

/** A tool call with its output, status and requests. */
export interface ToolCallState {
  readonly call: ToolCallChunk;
  readonly result?: ToolResultChunk;
  /** Output of the tool so far. */
  readonly output: string;
  /** `waiting`: for a person, or for the caller; see `inputs`. */
  readonly status: "waiting" | "running" | "done" | "failed";
  /** The call's requests for input, in order: one before it runs, and those of a tool that asks while it runs. */
  readonly inputs?: readonly CallInput[];
}

/** A call's request for input and the decision on it. */
export interface CallInput {
  readonly request: InputRequestEntry;
  /** Epoch milliseconds. Absent until the request is committed. */
  readonly requestedAt?: number;
  /** The decision in force. Absent: not decided. */
  readonly response?: InputResponseEntry;
  /** Epoch milliseconds. Absent until the response is committed. */
  readonly respondedAt?: number;
  /** The response of this client, until the log has one; with `late` also beside the one in force. */
  readonly own?: OwnResponse;
}

/** A response of this client to a request for input. */
export interface OwnResponse {
  readonly requestId: string;
  readonly answer: RespondRequest;
  /**
   * `sending`: on its way. `recorded`: in force. `late`: another decision was in force already. `failed`: see `error`;
   * after a `network` or `timeout` error it may have arrived, and the same response can be sent again.
   */
  readonly status: "sending" | "recorded" | "late" | "failed";
  /** The decision in force, with `recorded` and `late`. */
  readonly response?: InputResponseEntry;
  readonly error?: Failure;
}
