import type {
  EnqueueResponse,
  IfBusy,
  MessageReceipt,
  QueueEdit,
  QueueResponse,
  ReasoningEffort,
  StopResponse,
} from "@parley/wire";
import type { ConversationState } from "../state/conversation-state.js";

/** How a message is sent. */
export interface SendOptions {
  /**
   * While a turn runs: `reject` refuses the message with `turn_active`, `queue` lets it wait for a turn of its own,
   * `steer` puts it into the running turn. Absent: `reject`.
   */
  readonly ifBusy?: IfBusy | undefined;
  /** Chosen by the caller. Absent: a new one. */
  readonly messageId?: string | undefined;
  /** For this turn, as `credential/model`. */
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** System instructions for this turn. */
  readonly instructions?: string | undefined;
}

/** One followed conversation: its state, and what can be done in it. */
export interface ConversationHandle {
  readonly id: string;
  getState(): ConversationState;
  /** Calls back when the state has changed, at most once per frame. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /**
   * Sends a message. It is in the state's `pending` at once, and resolves when it is durable. While the server cannot be
   * reached, or cannot do its work, it is sent again under its id; messages arrive in the order of the calls. Rejects
   * when it is refused; it then stays in `pending` as `failed`, for `retry` or `cancel`. A caller that shows `pending`
   * need not wait for it.
   */
  send(text: string, options?: SendOptions): Promise<MessageReceipt>;
  /**
   * Forgets a pending message; its `send` rejects with `canceled`. Should it have arrived though no receipt came, it is
   * removed from the server's queue as soon as that can be done; if it was delivered by then, it stays delivered.
   */
  cancel(messageId: string): void;
  /** Sends a failed message again, as it was and under its id. */
  retry(messageId: string): Promise<MessageReceipt>;
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
  /** Loads everything anew, after a failure. */
  reload(): void;
  /** Done with it. It is followed until nobody holds it any more. */
  release(): void;
}
