/**
 * Requests and answers of the Messages API, as far as Parley uses them. Answers are read without trusting
 * their shape.
 */

export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "5m" | "1h";
}

interface Cacheable {
  readonly cache_control?: CacheControl;
}

export interface TextBlock extends Cacheable {
  readonly type: "text";
  readonly text: string;
}

export interface ImageBlock extends Cacheable {
  readonly type: "image";
  readonly source:
    | { readonly type: "base64"; readonly media_type: string; readonly data: string }
    | { readonly type: "url"; readonly url: string };
}

export interface DocumentBlock extends Cacheable {
  readonly type: "document";
  readonly source:
    | { readonly type: "base64"; readonly media_type: "application/pdf"; readonly data: string }
    | { readonly type: "text"; readonly media_type: "text/plain"; readonly data: string }
    | { readonly type: "url"; readonly url: string };
  readonly title?: string;
}

export interface ToolUseBlock extends Cacheable {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolResultBlock extends Cacheable {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: true;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature: string;
}

export interface RedactedThinkingBlock {
  readonly type: "redacted_thinking";
  readonly data: string;
}

/** A block of an answer that only the API understands, sent back unchanged. */
export interface OpaqueBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Content of a user message. */
export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;
/** Content of an assistant message, apart from blocks that only the API understands. */
export type KnownAssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;
export type AssistantBlock = KnownAssistantBlock | OpaqueBlock;

export type MessageParam =
  | { readonly role: "user"; readonly content: readonly UserBlock[] }
  | { readonly role: "assistant"; readonly content: readonly AssistantBlock[] };

export interface ToolParam extends Cacheable {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

export type ToolChoice =
  | { readonly type: "auto" | "any"; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: "tool"; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: "none" };

export type ThinkingParam =
  | { readonly type: "adaptive"; readonly display: "summarized" }
  | { readonly type: "enabled"; readonly budget_tokens: number };

/** The body of `POST /messages`. Further fields of the caller pass through. */
export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly MessageParam[];
  readonly stream: true;
  readonly [field: string]: unknown;
}

/** A block of an answer in its start event. Its fields depend on its type. */
export interface StartedBlock {
  readonly type?: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly input?: unknown;
  readonly [field: string]: unknown;
}

export interface Citation {
  readonly type?: string;
  readonly url?: string;
  readonly title?: string | null;
  readonly source?: string;
  readonly document_title?: string | null;
}

export interface BlockDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: Citation;
  readonly stop_reason?: string | null;
  readonly [field: string]: unknown;
}

/** Counts of a message. Later ones replace earlier ones. */
export interface MessagesUsage {
  readonly input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation?: Readonly<Record<string, number>> | null;
  readonly output_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}

/** An event of the stream, with all fields that are read, whatever its type. */
export interface MessagesEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: {
    readonly id?: string;
    readonly model?: string;
    readonly usage?: MessagesUsage | null;
  };
  readonly content_block?: StartedBlock;
  readonly delta?: BlockDelta;
  readonly usage?: MessagesUsage | null;
  readonly error?: unknown;
}
