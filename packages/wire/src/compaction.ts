/** What a compaction did. */
export interface CompactionResult {
  /** The text that stands in for the summarized messages when the model is asked again. */
  readonly summary: string;
  /** The archive: the conversation as it was, closed and read-only. */
  readonly newConversationId: string;
  /** How many messages the summary covers. */
  readonly messagesSummarized: number;
  /** How many newer messages the model still sees as they are. */
  readonly messagesKept: number;
}

/** `POST /conversations/:id/compact`, and the same for a preview. */
export interface CompactRequest {
  /** How many of the newest messages stay as they are. Absent: 10. */
  readonly keepLastN?: number | undefined;
  /** The model that writes the summary, as `credential/model`. Absent: the conversation's. */
  readonly modelName?: string | undefined;
}

/** `POST /conversations/:id/compact/preview`: what a compaction would cover. Nothing is changed. */
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

/** `POST /conversations/:id/compact/undo`: the model sees again what the latest compaction had covered. */
export interface UndoCompactionResponse {
  readonly conversationId: string;
  /** The archive of the compaction that is in force now, if there was an earlier one. */
  readonly compactedFrom?: string;
}
