/** Result of a compaction. */
export interface CompactionResult {
  /** The text that replaces the summarized messages in later model calls. */
  readonly summary: string;
  /** The archive: the conversation as it was, closed and read-only. */
  readonly newConversationId: string;
  /** Number of messages that the summary covers. */
  readonly messagesSummarized: number;
  /** Number of newer messages that the model still sees unchanged. */
  readonly messagesKept: number;
}

/** `POST /conversations/:id/compact`, and the same for a preview. */
export interface CompactRequest {
  /** Number of the newest messages that stay unchanged. Absent: 10. */
  readonly keepLastN?: number | undefined;
  /** The model that writes the summary, as `credential/model`. Absent: the conversation's. */
  readonly modelName?: string | undefined;
}

/** `POST /conversations/:id/compact/preview`: the range that a compaction would cover. Nothing is changed. */
export interface CompactionPreview {
  readonly messagesSummarized: number;
  readonly messagesKept: number;
  /** The first seq that the summary would cover. */
  readonly firstSeq: number;
  /** The last seq that the summary would cover, inclusive. */
  readonly lastSeq: number;
  /** Estimated tokens that the covered messages take in the context now. */
  readonly estimatedTokens: number;
}

/**
 * `POST /conversations/:id/compact/undo`: the model sees the messages again that the latest compaction had
 * covered.
 */
export interface UndoCompactionResponse {
  readonly conversationId: string;
  /** The archive of the compaction that is in force now, if there was an earlier one. */
  readonly compactedFrom?: string;
}
