import type { ModelPrices } from "../figures/cost.js";
import type { Role } from "../log/ids.js";

/** `GET /search`: full text over the messages and titles of the caller's conversations. */
export interface SearchQuery {
  /** Words that all have to be there. The last one may be unfinished, unless a space follows it. */
  readonly q: string;
  readonly limit?: number | undefined;
  /** Only the messages that this conversation shows, and no titles. */
  readonly conversationId?: string | undefined;
}

/** One message that matches, or one title. */
export interface SearchHit {
  readonly conversationId: string;
  /** The first seq of the message; 0 where the title matches. */
  readonly seq: number;
  /** The text around the match. Plain text: marks of markdown are left out. */
  readonly snippet: string;
  /** The conversation's title. */
  readonly title?: string;
  /** The message's; absent where the title matches. */
  readonly role?: Role;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
}

/** The matches, newest first. */
export interface SearchResponse {
  readonly hits: readonly SearchHit[];
  /** There may be more matches than these: not everything could be looked through in time. */
  readonly partial?: true;
}

/** What is known of a model. */
export interface ModelInfo {
  /** Tokens that fit, input and output together. */
  readonly contextWindow: number;
  /** Set where the window is a guess: neither declared, nor known of this model. */
  readonly isWindowAssumed?: true;
  readonly maxOutputTokens?: number;
  /** Absent where they are unknown. */
  readonly prices?: ModelPrices;
}

/** `GET /models`. */
export interface ModelsResponse {
  /** As `credential/model`. */
  readonly models: readonly string[];
  /** By the same names. */
  readonly modelInfo: Readonly<Record<string, ModelInfo>>;
  /** What a conversation without a model of its own gets. */
  readonly defaultModel?: string;
}

/** `GET /health`: the process answers. */
export interface HealthResponse {
  readonly status: "ok";
  /** Identifies the running server: a new one with every start. */
  readonly instance: string;
}

/** `GET /ready`: 200 when the server can take work, 503 with the same body when not. */
export interface ReadyResponse {
  readonly ready: boolean;
  /** The store answers. */
  readonly store: boolean;
  /** The store's schema is the one that this server knows. */
  readonly schema: boolean;
  /** The server is shutting down and takes no new turns. */
  readonly draining: boolean;
  /** Why the server is not ready, for people. Absent when it is. */
  readonly reason?: string;
}
