import type { ReasoningEffort } from "./figures/usage.js";

/**
 * `active`: a turn is running. `idle`: none is. `closed`: put away, but not deleted; a send reopens it. The
 * server owns the transitions and tells every client of them.
 */
export type ConversationStatus = "active" | "idle" | "closed";

/** What a list shows of a conversation. */
export interface ConversationMeta {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; moves with every commit. */
  readonly lastActivityAt: number;
  /** The first user message, shortened, until someone sets another. */
  readonly title: string;
  readonly status: ConversationStatus;
  /** The archive that shows the conversation as it was before its latest compaction. */
  readonly compactedFrom?: string;
  /** The conversation's own model, as `credential/model`. Absent: the server's default. */
  readonly model?: string;
  /** The conversation's own effort. Absent: `high`. */
  readonly reasoningEffort?: ReasoningEffort;
  /** The conversation that this one was forked from. */
  readonly parentId?: string;
  /** The last seq that this fork has in common with its parent; its own seqs go on from there. */
  readonly forkedAtSeq?: number;
}
