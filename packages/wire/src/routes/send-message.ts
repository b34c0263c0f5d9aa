import type { ReasoningEffort } from "../figures/usage.js";
import type { CallerTool } from "../input/input-routes.js";
import type { OutputRequest } from "../log/output.js";
import type { QueueMode } from "../queue.js";

/**
 * What becomes of a message while a turn runs. `reject`: it is refused with `turn_active`. `queue` and `steer`: it waits
 * in the queue in this mode. On an idle conversation each of them opens a turn.
 */
export type IfBusy = "reject" | QueueMode;

/**
 * What becomes of a message while a turn waits for input. `queue`: as `ifBusy` says. `deny`: the open requests are denied,
 * the turn that waits ends as `aborted`, and the message opens its own.
 */
export type WhenWaiting = "queue" | "deny";

/** A part of a message that is sent: more text, or a file by its upload or by the message that has it. */
export type SentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly uploadId: string }
  | { readonly type: "file"; readonly conversationId: string; readonly seq: number };

/**
 * `POST /chat` and `chat.send`: a user message. It opens a turn; while one runs, `ifBusy` decides.
 *
 * Over HTTP the answer is NDJSON, one `AgentEvent` a line, through `turn-sealed`, or through the `status` with `waiting`
 * where the turn waits for input (the same `messageId` leads back to it), with the conversation's id
 * in the header `X-Conversation-Id`. Leaving early does not touch the turn. A message that was queued by its `ifBusy` is
 * answered with status 202 and a `MessageReceipt` as JSON.
 */
export interface SendMessageRequest {
  /** An unknown id is created. Absent: a new conversation whose id follows from `messageId`. */
  readonly conversationId?: string | undefined;
  /**
   * Chosen by the client. Sending the same id and body again, however often, yields the same turn: the running
   * one's events, or a replay of the sealed one. The same id with another body is `message_conflict`.
   * Absent: the server makes one, and a retry is a new message.
   */
  readonly messageId?: string | undefined;
  /** Its text. May be empty where there are parts. */
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
  /** Absent: `reject`. A retry may say another one than the first attempt: the message is where that brought it. */
  readonly ifBusy?: IfBusy | undefined;
  /** Absent: `queue`. */
  readonly whenWaiting?: WhenWaiting | undefined;
  /**
   * Tools of the caller, for the turn that the message opens. A call of one waits as a request of kind `tool-output`, and
   * any client with the right to write can hand the output in. Not together with `ifBusy: "steer"`.
   */
  readonly tools?: readonly CallerTool[] | undefined;
  /**
   * Data that the turn has to return: its last text is then JSON that matches the schema, and `turn-sealed` has the value.
   * Not together with `ifBusy: "steer"`.
   */
  readonly output?: OutputRequest | undefined;
}

/** What became of an admitted message: it opened a turn, or it waits in the queue. */
export type ReceiptOutcome = "started" | "queued";

/** The answer to a message that is durable. The same message sent again gets the same answer. */
export interface MessageReceipt {
  readonly conversationId: string;
  readonly messageId: string;
  readonly outcome: ReceiptOutcome;
  /** The turn that it opened, or that has taken it from the queue. Absent while it waits. */
  readonly turnId?: string;
}
