import type { MessageOrigin, TokenUsage } from "@parley/core/messages";
import type { AnswerLimits, ProviderRetry } from "@parley/core/ports";
import type { AgentContext, Extensions } from "@parley/http";

/** Role of a message. `tool` carries results; the API has no such role, so it is lowered to what it has. */
export type OpenAIRole = "system" | "user" | "assistant" | "developer" | "tool";

export interface OpenAITextBlock {
  type: "text";
  text: string;
}

/**
 * Text, or parts: text blocks, Parley's own parts (`tool-call`, `tool-result`, `file`, `reasoning`), each
 * sent as the API's equivalent, and the API's own blocks, which are sent unchanged: parts of a message
 * (`input_image`, `input_file`) inside it, items (`function_call_output`, `reasoning`, `item_reference`)
 * beside it.
 */
export type OpenAIInputContent = string | OpenAITextBlock | (OpenAITextBlock | Record<string, unknown>)[];

/** A message of the input, with any role and parts. */
export interface OpenAIInputMessage {
  role: OpenAIRole;
  content: OpenAIInputContent;
  /** The author. Reasoning and ids are sent back only if this is the answering provider and model. */
  origin?: MessageOrigin;
}

/** An item in the API's own form, such as `function_call_output` or `item_reference`. Sent unchanged. */
export interface OpenAIInputItem {
  type: string;
  [field: string]: unknown;
}

export interface OpenAIFunctionTool {
  type: "function";
  name: string;
  description?: string;
  /** A JSON Schema of the arguments. */
  parameters: unknown;
  /** Ask the API to enforce the schema, which must then be a strict one. Default false. */
  strict?: boolean;
}

/** A function, or a tool that the API itself runs, passed on unchanged. */
export type OpenAIToolDefinition = OpenAIFunctionTool | Record<string, unknown>;

export type OpenAITokenUsage = TokenUsage;

/** The state of a chain of responses that the API stores. */
export interface OpenAIConversationState {
  /** The most recent response. */
  lastResponseId?: string;
  /** The host's own data. Never sent. */
  metadata?: Record<string, unknown>;
}

/** One call of the Responses API. */
export interface CreateResponseRequest {
  model: string;
  /** A text (sent unchanged, even if empty), or messages and items of the API's own, one or several. */
  input: string | OpenAIInputMessage | OpenAIInputItem | (OpenAIInputMessage | OpenAIInputItem)[];
  /** Sent unchanged, for servers that accept it. OpenAI's API has no such field and refuses it. */
  modalities?: ("text" | string)[];
  tools?: OpenAIToolDefinition[];
  /** Passed on; the shapes of other APIs for "this function" are understood too. */
  toolChoice?: unknown;
  /** Maximum tokens to generate. In an object the first number counts; the API's minimum is 16. */
  maxOutputTokens?: number | Record<string, unknown>;
  /** True if the API should store the response. Default: the API's own default, which is true. */
  store?: boolean;
  /**
   * Further fields of the body; they override all others. `response_format`, `reasoning_effort` and
   * `max_tokens` are translated to this API's names for them.
   */
  extraParams?: Record<string, unknown>;
  /** The response to continue from. */
  previousResponseId?: string;
  /** Stored by the API with the response: at most 16 pairs; other values are sent as text, cut at 512. */
  metadata?: Record<string, unknown>;
}

/** Options of a call that are not part of its body. */
export interface CreateResponseOptions {
  /** For telemetry and policies. Overrides the client's factory. */
  agentContext?: AgentContext;
  /** Merged over the client's. */
  extensions?: Extensions;
  /** Its `lastResponseId` is continued from if the request names none. It is not changed. */
  conversationState?: OpenAIConversationState;
  /** Aborting ends the call and its socket. */
  signal?: AbortSignal;
  /** The caller's limits for the answer; see `ProviderCallParams.limits`. */
  limits?: AnswerLimits;
  /** Called before the wait for each retry of the call. */
  onRetry?: (retry: ProviderRetry) => void;
  /** The author of the answer. Default: `openai` and the request's model. */
  origin?: MessageOrigin;
}
