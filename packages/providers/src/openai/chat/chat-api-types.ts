import type { BilledUsage } from "../billed-amount.js";

/** Requests and answers of the chat completions API, as far as Parley uses them and servers agree on them. */

export type ChatContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | {
      readonly type: "file";
      readonly file: { readonly filename: string; readonly file_data: string };
    };

export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatAssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly reasoning_content?: string;
  readonly reasoning?: string;
}

export type ChatMessage =
  | { readonly role: "system" | "developer"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ChatContentPart[] }
  | ChatAssistantMessage
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** The body of `POST /chat/completions`. Further fields of the caller pass through. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: true;
  readonly [key: string]: unknown;
}

export interface ChatToolCallDelta {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: {
    readonly name?: string | null;
    readonly arguments?: string | object | null;
  } | null;
}

/** A piece of a message, or (from a server that does not stream) the whole. */
export interface ChatDelta {
  readonly content?: string | readonly { readonly text?: string }[] | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly ChatToolCallDelta[] | null;
}

export interface ChatUsage extends BilledUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
}

export interface ChatChunk {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly created?: number | null;
  readonly choices?:
    | readonly {
        readonly index?: number;
        readonly delta?: ChatDelta | null;
        readonly message?: ChatDelta | null;
        readonly finish_reason?: string | null;
      }[]
    | null;
  readonly usage?: ChatUsage | null;
  readonly x_groq?: { readonly usage?: ChatUsage | null } | null;
  readonly error?: unknown;
}
