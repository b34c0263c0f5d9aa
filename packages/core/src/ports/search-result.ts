import type { ConversationId, ConversationMessage } from "../messages/message.js";

/** Progress of the search index. */
export interface SearchIndexing {
  /** Messages and titles that were added. */
  indexed: number;
  more: boolean;
}

/** A message, or a conversation's title, that a search found. */
export interface SearchHit {
  conversationId: ConversationId;
  title: string;
  /** The message's first; 0 for the title. */
  seq: number;
  /** The message's; absent for the title. */
  role?: ConversationMessage["role"];
  /** Around the first hit, plain text. */
  snippet: string;
  /** Of the message, or of the conversation. */
  createdAt: number;
}

/** The newest hits first. */
export interface SearchResult {
  hits: SearchHit[];
  /** True if there may be more hits, also newer ones, that could not be searched in time. */
  partial?: true;
}
