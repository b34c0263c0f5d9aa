import type { BilledUsage } from "../billed-amount.js";

/**
 * Requests and answers of the Responses API, as far as Parley uses them. Answers are read without trusting
 * their shape.
 */

/** One part of an input message. */
export type InputContent =
  | { readonly type: "input_text"; readonly text: string }
  | {
      readonly type: "input_image";
      readonly image_url: string;
      readonly detail: "auto" | "low" | "high";
    }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string }
  | { readonly type: "input_file"; readonly file_url: string };

/** One part of an assistant's message. */
export type OutputContent =
  | { readonly type: "output_text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string };

export interface InstructionItem {
  readonly role: "system" | "developer";
  /** A string; a list only if the caller passed parts in the API's own form. */
  readonly content: string | readonly InputContent[];
}

export interface UserItem {
  readonly role: "user";
  readonly content: readonly InputContent[];
}

export interface AssistantItem {
  readonly role: "assistant";
  readonly id?: string;
  readonly phase?: "commentary" | "final_answer";
  readonly content: readonly OutputContent[];
}

export interface ReasoningItem {
  readonly type: "reasoning";
  readonly id: string;
  readonly encrypted_content: string;
  readonly summary: readonly { readonly type: "summary_text"; readonly text: string }[];
}

export interface FunctionCallItem {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly namespace?: string;
}

export interface FunctionCallOutputItem {
  readonly type: "function_call_output";
  readonly call_id: string;
  readonly output: string;
}

/** An item that only the API understands, sent back unchanged. */
export interface OpaqueItem {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type InputItem =
  | InstructionItem
  | UserItem
  | AssistantItem
  | ReasoningItem
  | FunctionCallItem
  | FunctionCallOutputItem
  | OpaqueItem;

export interface FunctionToolBody {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict: boolean;
}

/** The body of `POST /responses`. Further fields of the caller pass through. */
export interface ResponsesBody {
  readonly model: string;
  readonly input: string | readonly InputItem[];
  readonly stream?: boolean;
  readonly [key: string]: unknown;
}

/** An item of an answer. Its fields depend on its type. */
export interface OutputItem {
  readonly type?: string;
  readonly id?: string;
  readonly status?: string;
  readonly phase?: unknown;
  readonly content?: readonly OutputPart[] | null;
  readonly summary?: readonly { readonly text?: string }[] | null;
  readonly encrypted_content?: string | null;
  readonly call_id?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly arguments?: string;
  readonly result?: string | null;
  readonly output_format?: string;
}

export interface OutputPart {
  readonly type?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly annotations?: readonly Annotation[] | null;
}

export interface Annotation {
  readonly type?: string;
  readonly url?: string;
  readonly title?: string;
}

export interface ResponsesUsage extends BilledUsage {
  readonly input_tokens?: number;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  } | null;
  readonly output_tokens?: number;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number } | null;
  readonly total_tokens?: number;
}

/** The whole answer, as in the events that open and close a stream. */
export interface ResponseBody {
  readonly id?: string;
  readonly model?: string;
  readonly created_at?: number;
  readonly status?: string;
  readonly error?: unknown;
  readonly incomplete_details?: { readonly reason?: string } | null;
  readonly output?: readonly OutputItem[] | null;
  readonly usage?: ResponsesUsage | null;
}

/** An event of the stream, with all fields that are read, whatever its type. */
export interface ResponsesEvent {
  readonly type?: string;
  readonly sequence_number?: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly content_index?: number;
  readonly summary_index?: number;
  readonly delta?: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly arguments?: string;
  readonly annotation?: Annotation;
  readonly item?: OutputItem;
  readonly part?: OutputPart;
  readonly response?: ResponseBody;
}
