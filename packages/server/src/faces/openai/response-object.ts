import type { Usage } from "@parley/wire";
import { conversationItemId, type ResponsePlace, responseId } from "./ids.js";
import type { OutputItem } from "./items.js";
import type { StretchEnd } from "./project-turn.js";
import type { CreateResponseBody } from "./schemas.js";

/** Fields of its request that a response repeats. Kept with the turn, since there is no other place. */
export interface ResponseEcho {
  readonly background: boolean;
  readonly isInConversation: boolean;
  readonly instructions: string | null;
  readonly maxOutputTokens: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parallelToolCalls: boolean;
  readonly previousResponseId: string | null;
  readonly effort: string | null;
  readonly store: boolean;
  readonly temperature: number | null;
  readonly format: object | null;
  readonly toolChoice: unknown;
  readonly tools: readonly object[];
  readonly topP: number | null;
  readonly truncation: string;
  readonly user: string | null;
}

/** Returns the fields of its request that a response repeats. */
export function echoOf(body: CreateResponseBody): ResponseEcho {
  return {
    background: body.background ?? false,
    isInConversation: body.conversation !== undefined && body.conversation !== null,
    instructions: body.instructions ?? null,
    maxOutputTokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    parallelToolCalls: body.parallel_tool_calls ?? true,
    previousResponseId: body.previous_response_id ?? null,
    effort: body.reasoning?.effort ?? null,
    store: body.store ?? true,
    temperature: body.temperature ?? null,
    format: body.text?.format ?? null,
    toolChoice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    topP: body.top_p ?? null,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
  };
}

const noEcho = echoOf({});

/** The fields of a response that do not change while it streams. */
export interface ResponseHead {
  readonly place: ResponsePlace;
  readonly conversationId: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly model: string;
  /** Absent: the turn was not opened through this face. */
  readonly echo?: ResponseEcho | undefined;
}

/** Current state of a response. */
export interface ResponseState {
  readonly output: readonly OutputItem[];
  readonly usage: Usage | undefined;
  /** Absent: it is in progress. */
  readonly end?: StretchEnd | undefined;
}

/** Makes the response object. Unknown fields are null, never absent. */
export function responseObject(head: ResponseHead, { output, usage, end }: ResponseState): object {
  const { place, createdAt, model, echo = noEcho } = head;
  const { status, error, incomplete } = statusOf(end);
  const isOver = end !== undefined;
  return {
    id: responseId(place),
    object: "response",
    created_at: seconds(createdAt),
    status,
    error,
    incomplete_details: incomplete,
    instructions: echo.instructions,
    metadata: echo.metadata,
    model,
    output,
    parallel_tool_calls: echo.parallelToolCalls,
    temperature: echo.temperature,
    tool_choice: echo.toolChoice,
    tools: echo.tools,
    top_p: echo.topP,
    background: echo.background,
    completed_at:
      status === "completed" && end?.durationMs !== undefined ? seconds(createdAt + end.durationMs) : null,
    conversation: echo.isInConversation ? { id: conversationItemId(head.conversationId) } : null,
    max_output_tokens: echo.maxOutputTokens,
    previous_response_id:
      place.stretch > 0 ? responseId({ ...place, stretch: place.stretch - 1 }) : echo.previousResponseId,
    reasoning: { effort: echo.effort, summary: null },
    store: echo.store,
    text: { format: echo.format ?? { type: "text" } },
    truncation: echo.truncation,
    usage: isOver && usage !== undefined ? usageObject(usage) : null,
    user: echo.user,
  };
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

function usageObject(usage: Usage): object {
  const { inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

interface Status {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete: { readonly reason: string } | null;
}

const errorCodes: Readonly<Record<string, string>> = {
  rate_limited: "rate_limit_exceeded",
  quota_exceeded: "rate_limit_exceeded",
  context_overflow: "invalid_prompt",
  content_filtered: "invalid_prompt",
};

/** Returns the status that corresponds to a turn's end. */
export function statusOf(end: StretchEnd | undefined): Status {
  if (end === undefined) return { status: "in_progress", error: null, incomplete: null };
  const { reason, error, output } = end;
  const fail = (code: string, message: string): Status => ({
    status: "failed",
    error: { code, message },
    incomplete: null,
  });
  const cut = (why: string): Status => ({ status: "incomplete", error: null, incomplete: { reason: why } });
  switch (reason) {
    case "aborted":
      return { status: "cancelled", error: null, incomplete: null };
    case "length":
    case "max-steps":
      return cut("max_output_tokens");
    case "content-filter":
      return cut("content_filter");
    case "error":
      return fail(errorCodes[error?.code ?? ""] ?? "server_error", error?.message ?? "The turn failed");
    case "interrupted":
      return fail("server_error", "The turn was interrupted");
    default:
      if (output?.valid === false) {
        const errors = output.errors?.join("; ") ?? "";
        return fail("output_invalid", `The answer does not match the schema: ${errors}`);
      }
      return { status: "completed", error: null, incomplete: null };
  }
}

/** Returns the type of the event that ends a response. There is none for a canceled one: its status shows it. */
export function endType(end: StretchEnd): string {
  const { status } = statusOf(end);
  if (status === "completed") return "response.completed";
  return status === "failed" ? "response.failed" : "response.incomplete";
}
