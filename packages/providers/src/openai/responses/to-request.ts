import type { MessageOrigin } from "@parley/core/messages";
import { omitUndefined, textOfValue } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import type { LoweredHistories } from "../../call/lowered-history.js";
import { normalizeOnly, type PreparedMessage, prepareMessages } from "../../call/prepare-messages.js";
import { withSettled } from "../../call/settled-body.js";
import { createToolNames, type ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import { takesDeveloper } from "../reasoning-effort.js";
import { functionTool, withoutDoubles } from "../tool-definition.js";
import type { InputItem, ResponsesBody } from "./api-types.js";
import type { CreateResponseRequest, OpenAIToolDefinition } from "./create-response.js";
import { fromInputMessages, sourceOf } from "./input-parts.js";
import { type InputState, inputLowering, type LowerInput, toInputItems } from "./to-input.js";

/** Input of lowering other than the request. */
export interface LowerRequest {
  /**
   * The answering provider and model; see `CreateResponseOptions.origin`. Undefined sends nothing that only
   * they can read.
   */
  readonly reader: MessageOrigin | undefined;
  /** Request a stream. Default true. */
  readonly stream?: boolean;
  /** True if OpenAI's own API answers, not a compatible server. Default true. */
  readonly isOpenAI?: boolean;
  /** The messages that were lowered for earlier requests. */
  readonly histories?: LoweredHistories<InputItem, InputState>;
}

export interface LoweredRequest {
  readonly body: ResponsesBody;
  readonly names: ToolNames;
}

/** The smallest `max_output_tokens` that the API accepts. */
const leastOutputTokens = 16;

/**
 * Converts a request to the body of the Responses API. Pure and total: whatever the history is, the API does
 * not refuse the body for its shape. Fields of `extraParams` are the caller's and win.
 */
export function toRequest(request: CreateResponseRequest, how: LowerRequest): LoweredRequest {
  const { model } = request;
  const names = createToolNames(functionNames(request.tools));
  const tools = lowerTools(request.tools, names);
  const maxOutputTokens = tokensOf(request.maxOutputTokens);
  const metadata = lowerMetadata(request.metadata);
  const extra = lowerExtra(request.extraParams);
  const previousResponseId = textIn(extra.previous_response_id) ?? request.previousResponseId;
  const isContinued = previousResponseId !== undefined || hasConversation(extra);
  const hasTools = tools.length > 0 || extra.tools !== undefined;
  const { settled, input } = lowerInput(request, how, { names, previousResponseId, isContinued });
  return {
    names,
    body: withSettled(
      { field: "input", settled, extra },
      {
        model,
        input,
        ...omitUndefined({ modalities: request.modalities }),
        ...(tools.length === 0 ? {} : { tools }),
        ...(hasTools && request.toolChoice !== undefined
          ? { tool_choice: lowerToolChoice(request.toolChoice, names) }
          : {}),
        ...omitUndefined({
          max_output_tokens: maxOutputTokens,
          store: request.store,
          previous_response_id: previousResponseId,
          metadata,
        }),
        ...(how.stream === false ? {} : { stream: true }),
        ...extra,
      },
    ),
  };
}

interface LowerHistory {
  readonly names: ToolNames;
  readonly previousResponseId: string | undefined;
  /** True if the API already has a part of the conversation: results may answer calls that it knows. */
  readonly isContinued: boolean;
}

function lowerInput(
  { input, model }: CreateResponseRequest,
  { reader, isOpenAI = true, histories }: LowerRequest,
  { names, previousResponseId, isContinued }: LowerHistory,
): { readonly settled: string; readonly input: string | readonly InputItem[] } {
  if (typeof input === "string") return { settled: "", input: wellFormed(input) };
  const how: Omit<LowerInput, "blocks"> = {
    names,
    instructionRole: takesDeveloper(model, isOpenAI) ? "developer" : "system",
    // The API already has items with these ids, and refuses them twice.
    reader: isContinued ? undefined : reader,
  };
  const source = isContinued || histories === undefined ? undefined : sourceOf(input);
  const known = source && histories?.lower(source, inputLowering({ ...how, blocks: [] }));
  if (known !== undefined && known.items.length > 0) return { settled: known.settled, input: known.items };
  const { messages, blocks } = fromInputMessages(input);
  const prepared = isContinued ? unsentMessages(messages, previousResponseId) : prepareMessages(messages);
  const items = toInputItems(prepared, { ...how, blocks });
  return { settled: "", input: items.length > 0 ? items : [nothingSaid] };
}

/** Returns true if the API stores the conversation in its own object. */
function hasConversation(extra: Record<string, unknown>): boolean {
  return extra.conversation !== undefined && extra.conversation !== null;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Fallback input: the API requires some, and a history without any sendable content must still get an answer.
 */
const nothingSaid: InputItem = { role: "user", content: [{ type: "input_text", text: "Continue." }] };

/**
 * Returns the messages that a chain has not seen yet: those after the response that it continues from, and
 * all instructions, which a chain does not carry over. If that response is not among the messages, all are
 * new.
 */
function unsentMessages(
  messages: readonly ProviderMessage[],
  previousResponseId: string | undefined,
): PreparedMessage[] {
  if (!messages.some(({ role }) => role === "assistant")) return normalizeOnly(messages);
  const prepared = prepareMessages(messages);
  const last =
    previousResponseId === undefined
      ? -1
      : prepared.findLastIndex(({ content }) =>
          content.some((part) => part.providerMetadata?.openai?.responseId === previousResponseId),
        );
  return prepared.filter(({ role }, index) => index > last || role === "system");
}

function lowerTools(tools: readonly OpenAIToolDefinition[] | undefined, names: ToolNames): object[] {
  const lowered = (tools ?? []).map((tool) =>
    isFunction(tool) ? functionTool(tool, names) : (tool as { name?: unknown }),
  );
  return withoutDoubles(lowered);
}

function isFunction(tool: OpenAIToolDefinition): tool is { type: "function"; name: string } {
  return tool.type === "function" && typeof tool.name === "string";
}

function functionNames(tools: readonly OpenAIToolDefinition[] | undefined): string[] {
  return (tools ?? []).flatMap((tool) => (isFunction(tool) ? [tool.name] : []));
}

/** Converts "this function" in the shapes of other APIs to this one's; everything else passes. */
function lowerToolChoice(choice: unknown, names: ToolNames): unknown {
  if (typeof choice !== "object" || choice === null) return choice;
  const { type, name, toolName, function: nested } = choice as Record<string, unknown>;
  if (type !== "function" && type !== "tool") return choice;
  const chosen = name ?? toolName ?? (nested as { name?: unknown } | undefined)?.name;
  return typeof chosen === "string" ? { type: "function", name: names.toSent(chosen) } : choice;
}

function tokensOf(limit: CreateResponseRequest["maxOutputTokens"]): number | undefined {
  const given =
    typeof limit === "object" && limit !== null
      ? Object.values(limit).find((value) => typeof value === "number")
      : limit;
  if (typeof given !== "number" || !Number.isFinite(given)) return undefined;
  return Math.max(leastOutputTokens, Math.floor(given));
}

const mostPairs = 16;
const longestKey = 64;
const longestValue = 512;

function lowerMetadata(metadata: Record<string, unknown> | undefined): Record<string, string> | undefined {
  if (metadata === undefined) return undefined;
  const pairs = Object.entries(metadata)
    .filter(([, value]) => value !== undefined && value !== null)
    .slice(0, mostPairs)
    .map(([key, value]) => [
      wellFormed(key.slice(0, longestKey)),
      wellFormed(textOfValue(value).slice(0, longestValue)),
    ]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/**
 * Returns the caller's fields, with those that only the chat API has moved to this API's equivalents.
 * Idempotent.
 */
export function lowerExtra(extra: Record<string, unknown> | undefined): Record<string, unknown> {
  if (extra === undefined) return {};
  const { response_format: format, reasoning_effort: effort, max_tokens: most, ...rest } = extra;
  if (format !== undefined) rest.text = { format: textFormat(format), ...(rest.text as object | undefined) };
  if (effort !== undefined) rest.reasoning = { effort, ...(rest.reasoning as object | undefined) };
  if (most !== undefined) rest.max_output_tokens ??= tokensOf(most as number);
  return rest;
}

function textFormat(format: unknown): unknown {
  const { type, json_schema: schema } = (format ?? {}) as { type?: unknown; json_schema?: object };
  return type === "json_schema" && schema !== undefined ? { type, ...schema } : format;
}
