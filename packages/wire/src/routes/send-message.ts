import type { ReasoningEffort } from "../figures/usage.js";

/**
 * `POST /chat` and `chat.send`: a user message for an idle conversation. While a turn runs it is refused with
 * `turn_active`.
 *
 * Over HTTP the answer is NDJSON, one `AgentEvent` a line, through `turn-sealed`, with the conversation's id
 * in the header `X-Conversation-Id`. Leaving early does not touch the turn.
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
  readonly message: string;
  /** For this turn, as `credential/model`. Absent: the conversation's, else the server's. */
  readonly model?: string | undefined;
  /** For this turn. Absent: the conversation's, else `high`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** System instructions for this turn. Absent: the conversation's, else the server's. */
  readonly instructions?: string | undefined;
}

/** What became of an admitted message: it opened a turn, or it waits in the queue. */
export type ReceiptOutcome = "started" | "queued";
