import { ParleyError } from "@parley/core/errors";
import {
  argumentsTextOf,
  estimateTranscriptTokens,
  type MessageContentPart,
  type MessageOrigin,
  type MessageRole,
  omitUndefined,
  textOf,
} from "@parley/core/messages";

/** A call in an assistant's message. */
export interface TranscriptToolCall {
  /** Pairs the call with its result. */
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** The stored form of a message. Empty fields are omitted. */
export interface TranscriptMessageJson {
  role: MessageRole;
  content: string;
  tool_calls?: { id: string; name: string; arguments: string }[];
  tool_call_id?: string;
  tool_name?: string;
  is_error?: true;
  parts?: MessageContentPart[];
  origin?: MessageOrigin;
}

interface TranscriptMessageFields {
  readonly role: MessageRole;
  readonly content: string;
  readonly toolCalls?: readonly TranscriptToolCall[];
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly isError?: boolean | undefined;
  readonly parts?: readonly MessageContentPart[] | undefined;
  readonly origin?: MessageOrigin | undefined;
}

/** One message of a transcript. Immutable. */
export class TranscriptMessage {
  readonly role: MessageRole;
  /** The text; empty for a message that only calls tools. */
  readonly content: string;
  /** Empty except in an assistant's message. */
  readonly toolCalls: readonly TranscriptToolCall[];
  /** The call that a tool's message answers. */
  readonly toolCallId: string | undefined;
  /** The tool that returned the result. */
  readonly toolName: string | undefined;
  readonly isError: boolean;
  /** An assistant's content in its original order, if one text cannot express it: see `assistantParts`. */
  readonly parts: readonly MessageContentPart[] | undefined;
  /** The author of `parts`: reasoning is sent back to it alone. */
  readonly origin: MessageOrigin | undefined;

  private constructor(fields: TranscriptMessageFields) {
    this.role = fields.role;
    this.content = fields.content;
    this.toolCalls = fields.toolCalls ?? [];
    this.toolCallId = fields.toolCallId;
    this.toolName = fields.toolName;
    this.isError = fields.isError ?? false;
    this.parts = fields.parts;
    this.origin = fields.origin;
  }

  static system(content: string): TranscriptMessage {
    return new TranscriptMessage({ role: "system", content });
  }

  static user(content: string): TranscriptMessage {
    return new TranscriptMessage({ role: "user", content });
  }

  static assistant(content: string): TranscriptMessage {
    return new TranscriptMessage({ role: "assistant", content });
  }

  /** Creates an assistant's message that calls tools, with the text before the calls. */
  static assistantToolCalls(toolCalls: readonly TranscriptToolCall[], content = ""): TranscriptMessage {
    return new TranscriptMessage({ role: "assistant", content, toolCalls: [...toolCalls] });
  }

  /**
   * Creates an assistant's message whose text, reasoning and calls keep their order. `content` and
   * `toolCalls` are read from the parts; reasoning is sent back only to `origin`.
   */
  static assistantParts(parts: readonly MessageContentPart[], origin?: MessageOrigin): TranscriptMessage {
    const toolCalls = parts.flatMap((part) =>
      part.type === "tool-call"
        ? [{ id: part.toolCallId ?? "", name: part.name, arguments: argumentsTextOf(part) }]
        : [],
    );
    const content = textOf({ content: parts });
    return new TranscriptMessage({ role: "assistant", content, toolCalls, parts: [...parts], origin });
  }

  /** Creates a tool's message with its result. */
  static toolResult(
    toolCallId: string,
    toolName: string,
    content: string,
    options: { readonly isError?: boolean } = {},
  ): TranscriptMessage {
    return new TranscriptMessage({ role: "tool", content, toolCallId, toolName, isError: options.isError });
  }

  /** Estimates tokens by length: 10 tokens for 33 bytes, and 7 for the message itself. */
  estimateTokens(): number {
    const { content, toolCalls, toolCallId } = this;
    let reasoning = "";
    for (const part of this.parts ?? []) if (part.type === "reasoning") reasoning += part.text;
    return estimateTranscriptTokens({
      content: content + reasoning,
      toolCalls,
      ...omitUndefined({ toolCallId }),
    });
  }

  toJSON(): TranscriptMessageJson {
    const { role, content, toolCalls, toolCallId, toolName, isError, parts, origin } = this;
    return {
      role,
      content,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCallJson) }),
      ...omitUndefined({ tool_call_id: toolCallId, tool_name: toolName }),
      ...(isError ? { is_error: true } : {}),
      ...(parts === undefined ? {} : { parts: [...parts] }),
      ...omitUndefined({ origin }),
    };
  }

  /** Creates a message from its stored form. Throws `invalid_request` for anything else. */
  static fromJSON(value: unknown): TranscriptMessage {
    const fields = fieldsOf(value, "a message");
    const { role, content, tool_calls: calls, parts, origin } = fields;
    if (!isRole(role)) throw invalid("a message has no known role");
    if (typeof content !== "string") throw invalid("a message has no content");
    if (Array.isArray(parts)) {
      return TranscriptMessage.assistantParts(parts as MessageContentPart[], originOf(origin));
    }
    return new TranscriptMessage({
      role,
      content,
      toolCalls: toolCallsOf(calls),
      toolCallId: optionalText(fields, "tool_call_id"),
      toolName: optionalText(fields, "tool_name"),
      isError: fields.is_error === true,
    });
  }
}

function toolCallJson({ id, name, arguments: text }: TranscriptToolCall) {
  return { id, name, arguments: text };
}

function toolCallsOf(calls: unknown): TranscriptToolCall[] {
  if (calls === undefined) return [];
  if (!Array.isArray(calls)) throw invalid("tool_calls is not a list");
  return calls.map((call: unknown) => {
    const { id, name, arguments: text } = fieldsOf(call, "a tool call");
    if (typeof id !== "string" || typeof name !== "string" || typeof text !== "string") {
      throw invalid("a tool call has no id, name or arguments");
    }
    return { id, name, arguments: text };
  });
}

function originOf(origin: unknown): MessageOrigin | undefined {
  if (origin === undefined) return undefined;
  const { provider, model } = fieldsOf(origin, "an origin");
  if (typeof provider !== "string" || typeof model !== "string") throw invalid("an origin is incomplete");
  return { provider, model };
}

function optionalText(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw invalid(`${name} is not text`);
  return value;
}

/** Returns the fields of a stored object. Throws `invalid_request` if it is not an object. */
export function fieldsOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${what} is not an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

function isRole(role: unknown): role is MessageRole {
  return role === "system" || role === "user" || role === "assistant" || role === "tool";
}

/** Creates the error for an invalid stored form. */
export function invalid(message: string): ParleyError {
  return new ParleyError("invalid_request", `transcript: ${message}`);
}
