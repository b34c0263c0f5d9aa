import type { ReasoningEffort } from "../figures/usage.js";
import type { CallerTool } from "../input/input-routes.js";
import type { OutputRequest } from "../log/output.js";
import type { QueueMode } from "../queue.js";

/**
 * Handling of a message while a turn runs. `reject`: it is refused with `turn_active`. `queue` and `steer`:
 * it waits in the queue in this mode. On an idle conversation each of them opens a turn.
 */
export type IfBusy = "reject" | QueueMode;

/**
 * Handling of a message while a turn waits for input. `queue`: as `ifBusy` says. `deny`: the open requests
 * are denied, the waiting turn ends as `aborted`, and the message opens a new one.
 */
export type WhenWaiting = "queue" | "deny";

/** A part of a message to send: more text, or a file by its upload or by the message that contains it. */
export type SentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly uploadId: string }
  | { readonly type: "file"; readonly conversationId: string; readonly seq: number };

/**
 * `POST /chat` and `chat.send`: a user message. It opens a turn; while one runs, `ifBusy` decides.
 *
 * Over HTTP the response is NDJSON, one `AgentEvent` per line, through `turn-sealed`, or through the `status`
 * with `waiting` if the turn waits for input (the same `messageId` leads back to it), with the conversation's
 * id in the header `X-Conversation-Id`. Disconnecting early does not affect the turn. For a message that was
 * queued by its `ifBusy` the response has status 202 and is a `MessageReceipt` as JSON.
 */
export interface SendMessageRequest {
  /** An unknown id is created. Absent: a new conversation whose id follows from `messageId`. */
  readonly conversationId?: string | undefined;
  /**
   * Chosen by the client. Sending the same id and body again, however often, yields the same turn: the
   * running one's events, or a replay of the sealed one. The same id with another body is `message_conflict`.
   * Absent: the server creates one, and a retry is a new message.
   */
  readonly messageId?: string | undefined;
  /** Its text. May be empty if there are parts. */
  readonly message: string;
  /** Parts that follow the text, in order. */
  readonly parts?: readonly SentPart[] | undefined;
  /** For this turn, as `credential/model`. Absent: the conversation's, else the server's. */
  readonly model?: string | undefined;
  /** For this turn. Absent: the conversation's, else `high`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** System instructions for this turn. Absent: the conversation's, else the server's. */
  readonly instructions?: string | undefined;
  /** Makes the conversation temporary, where the message creates it; has no effect on one that exists. */
  readonly temporary?: boolean | undefined;
  /**
   * Absent: `reject`. A retry may set another value than the first attempt: the message stays where that one
   * put it.
   */
  readonly ifBusy?: IfBusy | undefined;
  /** Absent: `queue`. */
  readonly whenWaiting?: WhenWaiting | undefined;
  /**
   * Tools of the caller, for the turn that the message opens. A call of one waits as a request of kind
   * `tool-output`, and any client with the scope `write` can submit the output. Not together with `ifBusy:
   * "steer"`.
   */
  readonly tools?: readonly CallerTool[] | undefined;
  /**
   * Data that the turn must return: its last text is then JSON that matches the schema, and `turn-sealed` has
   * the value. Not together with `ifBusy: "steer"`.
   */
  readonly output?: OutputRequest | undefined;
}

/** Outcome of an admitted message: it opened a turn, or it waits in the queue. */
export type ReceiptOutcome = "started" | "queued";

/** The response to a durable message. Sending the same message again gets the same response. */
export interface MessageReceipt {
  readonly conversationId: string;
  readonly messageId: string;
  readonly outcome: ReceiptOutcome;
  /** The turn that it opened, or that has taken it from the queue. Absent while it waits. */
  readonly turnId?: string;
}
