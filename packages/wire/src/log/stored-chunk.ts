import type { Chunk } from "./chunk.js";
import type { Role, StepId } from "./ids.js";

/**
 * A chunk at its place in a conversation's log.
 *
 * **`seq` is 1-based and gap-free per conversation.** The first chunk of every conversation has `seq` 1, the
 * next 2, and no number is ever skipped, reused or moved. So requesting everything after seq n is a complete
 * sync, and a client that holds a suffix of the log knows that older chunks exist exactly if its oldest seq
 * is above 1; there is no flag for it. Order is by `seq`, never by time. A stored chunk never changes.
 *
 * The chunks of one message are adjacent, with the same `messageId`, `role` and `createdAt`.
 */
export interface StoredChunk {
  readonly seq: number;
  readonly role: Role;
  readonly chunk: Chunk;
  /** The message this chunk is a part of: adjacent equal ids are one message. */
  readonly messageId?: string;
  /** The turn that the message belongs to. */
  readonly turnId?: string;
  /** The step that produced the message. Absent on user messages. */
  readonly stepId?: StepId;
  /** Creation time of the message, in epoch milliseconds. For display, never for order. */
  readonly createdAt?: number;
  /** This chunk's 0-based place in its message. */
  readonly partIndex?: number;
  /** Number of chunks of the message. A window of history may hold only some of them. */
  readonly partCount?: number;
}
