import type { ConversationMeta } from "@parley/wire";
import type { Failure } from "./conversation-state.js";

/** The owner's conversations, newest activity first. */
export interface ConversationListState {
  readonly conversations: readonly ConversationMeta[];
  readonly phase: "loading" | "ready" | "failed";
  /** Whether there are more to load. */
  readonly hasMore: boolean;
  readonly error?: Failure;
}

/** The list of conversations, kept up to date while the connection is open. */
export interface ConversationListHandle {
  /** Begins to load the list when it is first asked. */
  getState(): ConversationListState;
  /** Calls back when the list has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Loads the next page. */
  loadMore(): Promise<void>;
  /** Loads the list anew. */
  refresh(): Promise<void>;
}
