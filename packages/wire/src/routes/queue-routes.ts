import type { ReasoningEffort } from "../figures/usage.js";
import type { QueueMode, QueuePayload } from "../queue.js";
import type { SentPart } from "./send-message.js";

/** `GET /conversations/:id/queue`, and the response to an edit or a removal. */
export interface QueueResponse {
  readonly conversationId: string;
  readonly queue: QueuePayload;
}

/**
 * `POST /conversations/:id/queue`: queues the message if a turn runs, opens a turn if not. Idempotent by
 * `messageId`.
 */
export interface EnqueueRequest {
  /** May be empty if there are parts. */
  readonly text: string;
  /** Parts that follow the text, in order. */
  readonly parts?: readonly SentPart[] | undefined;
  readonly messageId?: string | undefined;
  /** Absent: `steer`. */
  readonly mode?: QueueMode | undefined;
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
}

/** The response to `POST /conversations/:id/queue` and `POST /conversations/:id/queue/resume`. */
export interface EnqueueResponse {
  readonly conversationId: string;
  /** True if a turn was opened, because none was running. */
  readonly startedTurn: boolean;
  readonly queue: QueuePayload;
  /** The turn that was opened. */
  readonly turnId?: string;
}

/**
 * `PATCH /conversations/:id/queue/:messageId`: changes the given fields and leaves the rest. A message that
 * was delivered meanwhile can no longer be changed: `message_conflict`.
 */
export interface QueueEdit {
  readonly text?: string | undefined;
  readonly mode?: QueueMode | undefined;
  /** Null: use the conversation's again. */
  readonly model?: string | null | undefined;
  /** Null: use the conversation's again. */
  readonly reasoningEffort?: ReasoningEffort | null | undefined;
  /** Moves it before the message with this id; null moves it to the end. */
  readonly before?: string | null | undefined;
}
