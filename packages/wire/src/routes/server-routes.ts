import type { ModelPrices } from "../figures/cost.js";
import type { ReasoningEffort } from "../figures/usage.js";
import type { Role } from "../log/ids.js";

/** `GET /search`: full text over the messages and titles of the caller's conversations. */
export interface SearchQuery {
  /** Words that must all occur. The last one may be incomplete, unless a space follows it. */
  readonly q: string;
  readonly limit?: number | undefined;
  /** Only the messages that this conversation shows, and no titles. */
  readonly conversationId?: string | undefined;
}

/** One message that matches, or one title. */
export interface SearchHit {
  readonly conversationId: string;
  /** The first seq of the message; 0 if the title matches. */
  readonly seq: number;
  /** The text around the match. Plain text: marks of markdown are left out. */
  readonly snippet: string;
  /** The conversation's title. */
  readonly title?: string;
  /** The message's role; absent if the title matches. */
  readonly role?: Role;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
}

/** The matches, newest first. */
export interface SearchResponse {
  readonly hits: readonly SearchHit[];
  /** True if there may be more matches: not everything could be searched in time. */
  readonly partial?: true;
}

/** Public data of a model. */
export interface ModelInfo {
  /** Maximum tokens, input and output together. */
  readonly contextWindow: number;
  /** Set where the window is a guess: neither declared, nor known of this model. */
  readonly isWindowAssumed?: true;
  readonly maxOutputTokens?: number;
  /** Absent if unknown. */
  readonly prices?: ModelPrices;
  /**
   * The efforts that make a difference, from least to most. Empty: an effort has no effect. Absent: unknown, and every
   * effort is passed on.
   */
  readonly efforts?: readonly ReasoningEffort[];
}

/** `GET /models`. */
export interface ModelsResponse {
  /** As `credential/model`. */
  readonly models: readonly string[];
  /** By the same names. */
  readonly modelInfo: Readonly<Record<string, ModelInfo>>;
  /** Model of a conversation without its own. */
  readonly defaultModel?: string;
}

/** `GET /health`: the process is responding. */
export interface HealthResponse {
  readonly status: "ok";
  /** Identifies the running server: changes with every start. */
  readonly instance: string;
}

/** `GET /ready`: 200 if the server can accept work, 503 with the same body if not. */
export interface ReadyResponse {
  readonly ready: boolean;
  /** True if the store responds. */
  readonly store: boolean;
  /** True if the store's schema is the one that this server expects. */
  readonly schema: boolean;
  /** True if the server is shutting down and accepts no new turns. */
  readonly draining: boolean;
  /** Reason why the server is not ready, for people. Absent if it is. */
  readonly reason?: string;
}
