import type {
  EnqueueResponse,
  QueueEdit,
  QueueMode,
  QueueResponse,
  ReasoningEffort,
  ReceiptOutcome,
  StopResponse,
} from "@parley/wire";
import type { ConversationState } from "../state/conversation-state.js";

/** How a message is sent. */
export interface SendOptions {
  /** Chosen by the caller. Absent: a new one. */
  readonly messageId?: string | undefined;
  /** For this turn, as `credential/model`. */
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** System instructions for this turn. */
  readonly instructions?: string | undefined;
}

/** How a message is queued. */
export interface EnqueueOptions {
  /** Absent: `steer`. */
  readonly mode?: QueueMode | undefined;
  /** Chosen by the caller. Absent: a new one. */
  readonly messageId?: string | undefined;
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
}

/** What became of a message that is now durable. */
export interface SendOutcome {
  readonly conversationId: string;
  readonly messageId: string;
  readonly outcome: ReceiptOutcome;
  /** The turn that it opened. */
  readonly turnId?: string;
}

/** One followed conversation: its state, and what can be done in it. */
export interface ConversationHandle {
  readonly id: string;
  getState(): ConversationState;
  /** Calls back when the state has changed, at most once per frame. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /**
   * Sends a message, which shows in the state at once. Resolves when it is durable. While the connection is away
   * it is kept and sent later, under the same message id. Rejects with `turn_active` while a turn runs; the
   * message then stays in the state as `failed`, for `retrySend` or `discardSend`.
   */
  send(text: string, options?: SendOptions): Promise<SendOutcome>;
  /**
   * Queues a message, or opens a turn with it when none runs. It is in the state's `unsent` until the server has it;
   * while the connection is away it is kept there and sent later, under the same message id, in the order of the calls.
   */
  enqueue(text: string, options?: EnqueueOptions): Promise<EnqueueResponse>;
  /**
   * Forgets a message that is `unsent`; its `enqueue` rejects with `canceled`. Should it have come through unheard, it
   * is removed from the server's queue when the connection is back; if it was delivered by then, it stays delivered.
   */
  discardUnsent(messageId: string): void;
  /** Changes a message that waits. `message_conflict` once it was delivered. */
  editQueued(messageId: string, change: QueueEdit): Promise<QueueResponse>;
  removeQueued(messageId: string): Promise<QueueResponse>;
  /** Goes on after a pause. */
  resumeQueue(): Promise<EnqueueResponse>;
  /** Stops the running turn. What it has said is kept. */
  stop(): Promise<StopResponse>;
  /** Loads the page before the oldest message. */
  loadEarlier(limit?: number): Promise<void>;
  /** Loads as many pages as it takes to hold this seq. */
  loadThrough(seq: number): Promise<void>;
  /** Sends a failed message again, under the same id. */
  retrySend(messageId: string): Promise<SendOutcome>;
  /**
   * Forgets a message that has failed, or that has no outcome yet: its `send` then rejects with `canceled`. Should it
   * have come through unheard, it is in the log all the same.
   */
  discardSend(messageId: string): void;
  /** Loads everything anew, after a failure. */
  reload(): void;
  /** Done with it. It is followed until nobody holds it any more. */
  release(): void;
}
