import type { ReasoningEffort } from "./figures/usage.js";
import type { FileReference } from "./log/chunk.js";

/**
 * Delivery of a queued message to the model. `steer`: at the running turn's next tool-result boundary, or as
 * the opening of the next turn if there is none. `queue`: as a turn of its own, first in, first out.
 */
export type QueueMode = "steer" | "queue";

/**
 * A queued user message. Durable; when delivered, it remains a separate message with the same id, and can be
 * edited, moved, switched or removed until then.
 */
export interface QueuedMessage {
  /** The id under which it was sent, and its `messageId` in the log later. */
  readonly id: string;
  /** Its text for clients that show no files: with a line for each file. */
  readonly text: string;
  /** Its files, in order. They have no seq before it is delivered. */
  readonly files?: readonly FileReference[];
  /** Time when it was queued, in epoch milliseconds. */
  readonly queuedAt: number;
  /** Absent: `steer`. */
  readonly mode?: QueueMode;
  /** The model chosen when it was queued; a steer joins a running turn and keeps that turn's model. */
  readonly model?: string;
  readonly reasoningEffort?: ReasoningEffort;
}

/**
 * A conversation's whole queue, in delivery order. It is sent as the payload of the `message-queue` surface,
 * beside the chat stream, because it is state and not content. Empty `messages` is an empty queue.
 */
export interface QueuePayload {
  readonly messages: readonly QueuedMessage[];
  /** True after a stop or an error: nothing is delivered until the queue is resumed, and nothing is lost. */
  readonly paused?: boolean;
}
