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
