import type { ContextManifest, DroppedRange } from "@parley/wire";
import type { Conversation, ConversationMessage } from "../messages/message.js";
import type { FileCounter } from "../messages/tokens/count-message.js";
import type { ConversationStore, HistoryEntry, ProviderMessage, ProviderToolDefinition } from "../ports.js";
import type { KeptHistory } from "./kept-history.js";
import type { TextCounter } from "./token-scale.js";

/** How much a request may hold. Every bound that is given is honoured; none means all of the history. */
export interface HistoryBudget {
  /** Max total messages to include (including the new user messages). */
  maxMessages?: number;
  /** Max total characters across all text content. */
  maxChars?: number;
  /** Approximate max tokens across all text content. */
  maxTokens?: number;
}

/** The provider call before this one in the same conversation. */
export interface PreviousCall {
  manifest: ContextManifest;
  /** The model that was called: another one has no cache of this prefix. */
  model?: string;
}

/** What is to be shown to the model in one call: the conversation, the new input and how much room there is. */
export interface HistoryBuildRequest {
  conversation: Conversation;
  /** Store from which to load prior messages. Read from the newest end where it can (`NewestFirstReader`). */
  store: ConversationStore;
  /** The input of this turn. Left out of what the store returns, by id, then appended. */
  newUserMessages: ConversationMessage[];
  budget?: HistoryBudget;
  /**
   * What the running turn has added behind its input so far: assistant, tool and steering messages in order.
   * Left out of what the store returns, by id, then appended behind the input.
   */
  turnMessages?: readonly ConversationMessage[];
  /** System instructions. They always stay and count against the budget, but are not among the messages. */
  instructions?: string;
  /** The tools that the request will carry. They always stay and count against the token budget. */
  tools?: readonly ProviderToolDefinition[];
  /** Chooses the calibration of the estimator; a switch of models is told in the manifest. */
  model?: string;
  /** Default: the estimator that the builder was made with. */
  tokens?: TextCounter;
  /** Counts stored files for the model. Default: an ordinary size for each kind. */
  countFile?: FileCounter;
  /** Lets the window begin where it began before, and tells whether the prefix was kept. */
  previous?: PreviousCall;
  /** What the caller keeps of the conversation from request to request, so that only what was added is read. */
  kept?: KeptHistory;
  /** The model's window, noted in the manifest. */
  contextWindow?: number;
}

/** What the model is not shown. */
export interface HistoryDropped {
  /** By seq, oldest first, with the reason: no room, or a summary stands in. */
  ranges: readonly DroppedRange[];
  /** How many parts the ranges of reason `budget` hold. */
  parts: number;
  /** How many messages had no room. Absent where the store was not read to its beginning. */
  messages?: number;
}

/** What the model is shown, and what was left out to make it fit. */
export interface HistoryBuildResult {
  /** Messages to send to the provider, in the correct order. */
  messages: ConversationMessage[];
  /** True if older messages had to be dropped. What a summary stands for is not dropped. */
  truncated: boolean;
  dropped?: HistoryDropped;
  manifest?: ContextManifest;
  /** `messages` as `toProviderMessages` gives them, where the manifest had to make them anyway. */
  providerMessages?: ProviderMessage[];
  /** The log's entries behind `messages`, in the same order, before any repair. */
  entries?: readonly HistoryEntry[];
}

/** Decides what the model is shown of a conversation. */
export interface HistoryBuilder {
  buildHistory(req: HistoryBuildRequest): Promise<HistoryBuildResult>;
}
