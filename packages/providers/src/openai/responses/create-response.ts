import type { MessageOrigin, TokenUsage } from "@parley/core/messages";
import type { AnswerLimits, ProviderRetry } from "@parley/core/ports";
import type { AgentContext, Extensions } from "@parley/http";

/** Who speaks. `tool` carries results; the API has no such role, so it is lowered to what it has. */
export type OpenAIRole = "system" | "user" | "assistant" | "developer" | "tool";

export interface OpenAITextBlock {
  type: "text";
  text: string;
}

/**
 * Text, or parts: text blocks, Parley's own parts (`tool-call`, `tool-result`, `file`, `reasoning`), each sent as what
 * the API takes in its place, and the API's own blocks, which are sent as they are: parts of a message
 * (`input_image`, `input_file`) inside it, items (`function_call_output`, `reasoning`, `item_reference`) beside it.
 */
export type OpenAIInputContent = string | OpenAITextBlock | (OpenAITextBlock | Record<string, unknown>)[];

/** A message of the input, whichever role and parts it has. */
export interface OpenAIInputMessage {
  role: OpenAIRole;
  content: OpenAIInputContent;
  /** Who wrote it. Reasoning and ids are sent back only where this is the answering provider and model. */
  origin?: MessageOrigin;
}

/** An item of the API's own, such as `function_call_output` or `item_reference`. Sent as it is. */
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
  /** Ask the API to hold the model to the schema, which must then be a strict one. Default false. */
  strict?: boolean;
}

/** A function, or a tool that the API itself runs, passed on as it is. */
export type OpenAIToolDefinition = OpenAIFunctionTool | Record<string, unknown>;

export type OpenAITokenUsage = TokenUsage;

/** Where a chain of responses stands that the API keeps on its side. */
export interface OpenAIConversationState {
  /** The most recent response. */
  lastResponseId?: string;
  /** The host's own. Never sent. */
  metadata?: Record<string, unknown>;
}

/** One call of the Responses API. */
export interface CreateResponseRequest {
  model: string;
  /** A text (sent as it is, also an empty one), or messages and items of the API's own, one or several. */
  input: string | OpenAIInputMessage | OpenAIInputItem | (OpenAIInputMessage | OpenAIInputItem)[];
  /** Sent as it is, for servers that take it. OpenAI's API has no such field and refuses it. */
  modalities?: ("text" | string)[];
  tools?: OpenAIToolDefinition[];
  /** Passed on; the shapes of other APIs for "this function" are understood too. */
  toolChoice?: unknown;
  /** The most tokens to generate. In an object the first number counts; the API's least is 16. */
  maxOutputTokens?: number | Record<string, unknown>;
  /** Whether the API keeps the response. Default: its own, which is yes. */
  store?: boolean;
  /**
   * Further fields of the body; they win over all others. `response_format`, `reasoning_effort` and
   * `max_tokens` are translated to what this API calls them.
   */
  extraParams?: Record<string, unknown>;
  /** The response to go on from. */
  previousResponseId?: string;
  /** Kept by the API with the response: at most 16 pairs; other values are sent as text, cut at 512. */
  metadata?: Record<string, unknown>;
}

/** What belongs to a call but not to its body. */
export interface CreateResponseOptions {
  /** For telemetry and policies. Wins over the client's factory. */
  agentContext?: AgentContext;
  /** Merged over the client's. */
  extensions?: Extensions;
  /** Its `lastResponseId` is gone on from where the request names none. It is not changed. */
  conversationState?: OpenAIConversationState;
  /** Aborting ends the call and its socket. */
  signal?: AbortSignal;
  /** What the caller holds the answer to; see `ProviderCallParams.limits`. */
  limits?: AnswerLimits;
  /** Called before each wait after which the call is made again. */
  onRetry?: (retry: ProviderRetry) => void;
  /** Whom the answer is ascribed to. Default: `openai` and the request's model. */
  origin?: MessageOrigin;
}
