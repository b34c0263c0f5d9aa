import type {
  EnqueueResponse,
  IfBusy,
  InputRequestEntry,
  JsonValue,
  MessageReceipt,
  QueueEdit,
  QueueResponse,
  ReasoningEffort,
  RespondRequest,
  RespondResponse,
  StopResponse,
  UploadInfo,
} from "@parley/wire";
import type { ConversationState, LogGap } from "../state/conversation-state.js";

/** Options of a message. */
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
  /** Makes the conversation temporary, if the message creates it. */
  readonly temporary?: boolean | undefined;
  /** Uploaded files, which follow the text in this order. The text may then be empty. */
  readonly files?: readonly UploadInfo[] | undefined;
  /**
   * True for the first message of a conversation whose id the caller has just made: the message creates it, and it is
   * followed from its beginning. Nothing is loaded.
   */
  readonly isNew?: boolean | undefined;
}

/**
 * Answers to calls that wait for a person or for the caller. A response is in the state's `responses` at once. It
 * resolves when it is in force. It rejects with `already_decided` when another one is in force, which is then in the
 * state, and with other errors when it is refused or could not be sent; the same response may be sent again.
 */
export interface InputAnswers {
  respond(requestId: string, answer: RespondRequest): Promise<RespondResponse>;
  /** Allows a call exactly as it was shown: with the arguments whose hash the request names. */
  allow(
    request: Pick<InputRequestEntry, "requestId" | "argumentsHash">,
    more?: Omit<RespondRequest, "decision" | "argumentsHash">,
  ): Promise<RespondResponse>;
  deny(request: Pick<InputRequestEntry, "requestId">, note?: string): Promise<RespondResponse>;
  /** Answers a question. */
  answer(request: Pick<InputRequestEntry, "requestId">, value: JsonValue): Promise<RespondResponse>;
  /** Hands in the output of a tool of the caller, or how it failed. */
  output(
    request: Pick<InputRequestEntry, "requestId">,
    value: JsonValue,
    options?: { readonly isError?: boolean | undefined },
  ): Promise<RespondResponse>;
}

/** One followed conversation: its state, and what can be done in it. */
export interface ConversationHandle extends InputAnswers {
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
   * Forgets a pending message; its `send` rejects with `canceled`. If it arrived although no receipt came, it is
   * removed from the server's queue as soon as that can be done; if it was delivered by then, it stays delivered.
   */
  cancel(messageId: string): void;
  /** Sends a failed message again, as it was and under its id. */
  retry(messageId: string): Promise<MessageReceipt>;
  /** Changes a message that waits. Fails with `message_conflict` once it was delivered. */
  editQueued(messageId: string, change: QueueEdit): Promise<QueueResponse>;
  removeQueued(messageId: string): Promise<QueueResponse>;
  /** Continues the queue after a pause. */
  resumeQueue(): Promise<EnqueueResponse>;
  /** Stops the running turn. Its output so far is kept. */
  stop(): Promise<StopResponse>;
  /** Loads the page before the oldest message. */
  loadEarlier(limit?: number): Promise<void>;
  /** Loads everything from this seq to the newest message, page by page. */
  loadThrough(seq: number): Promise<void>;
  /** Loads a page around this seq, wherever it is. What lies between that and what was loaded is in the state's `gaps`. */
  loadAround(seq: number): Promise<void>;
  /** Loads a page of one of the state's `gaps`: its first messages, or its last. */
  loadGap(gap: LogGap, part: "first" | "last", limit?: number): Promise<void>;
  /** Loads everything again, after a failure. */
  reload(): void;
  /** Releases the handle. The conversation is followed until its last holder has released it. */
  release(): void;
}
