import type { ConversationHandle } from "./conversation-handle.js";
import type { ConversationListHandle } from "./conversation-list.js";
import type { Failure } from "./conversation-state.js";

/** Where the connection stands. */
export interface ConnectionState {
  /** `waiting`: it broke, and is tried again at `retryAt`. `closed`: for good; `error` says why, if not by `close()`. */
  readonly phase: "connecting" | "open" | "waiting" | "closed";
  /** How many attempts have failed since it was last open. */
  readonly attempt: number;
  /** When it is tried again, in epoch milliseconds. */
  readonly retryAt?: number;
  /** Whether it was ever open: before that, a page says "connecting", after it, "connection lost". */
  readonly everOpen: boolean;
  /** Why it is closed. */
  readonly error?: Failure;
}

/** One connection to the server, shared by everything that is followed. */
export interface Connection {
  getState(): ConnectionState;
  /** Calls back when the state has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Follows a conversation; `release()` it when done. */
  conversation(id: string): ConversationHandle;
  /** The same handle without holding it: nothing is loaded or followed until someone does. */
  peek(id: string): ConversationHandle;
  readonly list: ConversationListHandle;
  /** Hears that someone asks every client to show a conversation. Returns a function that stops. */
  onOpenRequest(listener: (conversationId: string) => void): () => void;
  /** Tries again at once, instead of waiting. */
  retryNow(): void;
  close(): void;
}
