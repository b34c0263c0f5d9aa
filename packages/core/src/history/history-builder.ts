import type { ContextManifest, DroppedRange } from "@parley/wire";
import type { Conversation, ConversationMessage } from "../messages/message.js";
import type { FileCounter } from "../messages/tokens/count-message.js";
import type { ConversationStore, HistoryEntry, ProviderMessage, ProviderToolDefinition } from "../ports.js";
import type { KeptHistory } from "./kept-history.js";
import type { TextCounter } from "./token-scale.js";

/** Limits of a request. Every bound that is given is honored; none means all of the history. */
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

/** Input for the messages of one model call: the conversation, the new input and the budget. */
export interface HistoryBuildRequest {
  conversation: Conversation;
  /** Store from which to load prior messages. Read from the newest end if it can be (`NewestFirstReader`). */
  store: ConversationStore;
  /** The input of this turn. Left out of what the store returns, by id, then appended. */
  newUserMessages: ConversationMessage[];
  budget?: HistoryBudget;
  /**
   * Messages that the running turn has added after its input so far: assistant, tool and steering messages in order.
   * Left out of what the store returns, by id, then appended after the input.
   */
  turnMessages?: readonly ConversationMessage[];
  /** System instructions. They always stay and count against the budget, but are not among the messages. */
  instructions?: string;
  /** The tools that the request will carry. They always stay and count against the token budget. */
  tools?: readonly ProviderToolDefinition[];
  /** Selects the calibration of the estimator; a switch of models is recorded in the manifest. */
  model?: string;
  /** Default: the estimator that the builder was made with. */
  tokens?: TextCounter;
  /** Counts stored files for the model. Default: a typical size for each kind. */
  countFile?: FileCounter;
  /** Lets the window begin where it began before, and reports if the prefix was kept. */
  previous?: PreviousCall;
  /** State that the caller keeps of the conversation from request to request, so that only what was added is read. */
  kept?: KeptHistory;
  /** The model's window, recorded in the manifest. */
  contextWindow?: number;
}

/** Content that the model is not shown. */
export interface HistoryDropped {
  /** By seq, oldest first, with the reason: did not fit, or replaced by a summary. */
  ranges: readonly DroppedRange[];
  /** Number of parts in the ranges of reason `budget`. */
  parts: number;
  /** Number of messages that did not fit. Absent if the store was not read to its beginning. */
  messages?: number;
}

/** Messages that the model is shown, and what was left out to make them fit. */
export interface HistoryBuildResult {
  /** Messages to send to the provider, in the correct order. */
  messages: ConversationMessage[];
  /** True if older messages had to be dropped. Messages that a summary replaces are not dropped. */
  truncated: boolean;
  dropped?: HistoryDropped;
  manifest?: ContextManifest;
  /** `messages` as `toProviderMessages` returns them, if the manifest had to make them anyway. */
  providerMessages?: ProviderMessage[];
  /** The log's entries of `messages`, in the same order, before any repair. */
  entries?: readonly HistoryEntry[];
}

/** Selects the messages of a conversation that the model is shown. */
export interface HistoryBuilder {
  buildHistory(req: HistoryBuildRequest): Promise<HistoryBuildResult>;
}
