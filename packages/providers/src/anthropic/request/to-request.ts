import type { MessageOrigin } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import type { ProviderCallParams } from "@parley/core/ports";
import { type LoweredHistories, lowerHistory } from "../../call/lowered-history.js";
import { withSettled } from "../../call/settled-body.js";
import { createToolNames, type ToolNames } from "../../call/tool-names.js";
import { modelLimits } from "../../models/index.js";
import type {
  CacheControl,
  MessageParam,
  MessagesBody,
  TextBlock,
  ToolChoice,
  ToolParam,
} from "../api-types.js";
import { mostBreakpoints, withBreakpoints } from "./cache-breakpoints.js";
import { type MessagesState, messagesLowering, type UnsendableArguments } from "./lower-messages.js";
import { outputFormat } from "./output-format.js";
import { type ThinkingFields, thinkingFields } from "./thinking.js";
import { formerTool, toolChoiceParam, toolParams } from "./tool-definition.js";

/** Input of lowering other than the call. */
export interface LowerRequest {
  /** The answering provider and model: data that only it can read is sent only if it made it. */
  readonly reader: MessageOrigin;
  /** Used if the call sets no limit. Default: the model's maximum. */
  readonly maxTokens?: number | undefined;
  /** Caching of the start of the request; undefined for none. */
  readonly cache?: CacheControl | undefined;
  /** The messages that were lowered for earlier requests. */
  readonly histories?: LoweredHistories<MessageParam, MessagesState>;
}

export interface LoweredRequest {
  readonly body: MessagesBody;
  readonly names: ToolNames;
  /** Calls of the history whose arguments had to be sent as plain text. */
  readonly unsendable: readonly UnsendableArguments[];
}

/** Appended after an answer: current models refuse to continue an answer that no later message asks for. */
const closing: TextBlock = { type: "text", text: "Continue." };

/**
 * Converts a call to the body of the Messages API. Pure and total: whatever the history is, the API does not
 * refuse the body for its shape. Fields of `extraParams` are the caller's and win; tools among them are added
 * to those of the call.
 */
export function toRequest(params: ProviderCallParams, how: LowerRequest): LoweredRequest {
  const { model } = how.reader;
  const { tools: extraTools, ...extra } = params.extraParams ?? {};
  const names = createToolNames((params.tools ?? []).map(({ name }) => name));
  const lowering = messagesLowering({ names, reader: how.reader });
  const { settled, items, state } =
    how.histories?.lower(params.messages, lowering) ?? lowerHistory(params.messages, lowering);
  const messages = closed(items);
  const system = state.system.values;
  const own = toolParams(params.tools, names);
  const offered = withExtraTools(own, extraTools);
  // The API refuses calls in a history if the request declares no tools.
  const former = offered.length > 0 ? [] : state.called.values.map(formerTool);
  const tools = [...offered, ...former];
  const toolChoice: ToolChoice | undefined =
    former.length > 0
      ? { type: "none" }
      : offered.length === 0
        ? undefined
        : toolChoiceParam(params.toolChoice, names, namesOf(offered), model);
  const maxTokens = tokensOf(extra.max_tokens ?? params.maxTokens ?? how.maxTokens, model);
  const thinking = thinkingFields(model, params.reasoningEffort, maxTokens);
  const cached =
    how.cache === undefined || extra.cache_control !== undefined
      ? { tools, system, messages }
      : withBreakpoints({ tools, system, messages }, how.cache, breakpointsIn(offered));
  return {
    names,
    unsendable: [...state.unsendable.values],
    body: withSettled(
      { field: "messages", settled, extra },
      {
        model,
        max_tokens: maxTokens,
        ...(cached.system.length === 0 ? {} : { system: cached.system }),
        messages: cached.messages,
        ...(tools.length === 0 ? {} : { tools: cached.tools }),
        ...omitUndefined({ tool_choice: toolChoice }),
        ...withFormat(allowedThinking(thinking, toolChoice, messages), params.output),
        ...extra,
        stream: true,
      },
    ),
  };
}

/** Returns messages that end with the user: an answer is requested, not continued. */
function closed(messages: readonly MessageParam[]): readonly MessageParam[] {
  return messages.at(-1)?.role === "user" ? messages : [...messages, { role: "user", content: [closing] }];
}

function withExtraTools(own: readonly ToolParam[], extra: unknown): readonly (ToolParam | object)[] {
  if (!Array.isArray(extra)) return own;
  const given = extra.filter((tool): tool is object => typeof tool === "object" && tool !== null);
  const taken = namesOf(given);
  return [...own.filter(({ name }) => !taken.has(name)), ...given];
}

function namesOf(tools: readonly object[]): ReadonlySet<string> {
  return new Set(tools.map((tool) => String((tool as { name?: unknown }).name)));
}

function breakpointsIn(tools: readonly object[]): number {
  return Math.min(mostBreakpoints, tools.filter((tool) => "cache_control" in tool).length);
}

/** The bound of an answer: as given, where that is a number, else what the model can write. */
export function tokensOf(given: unknown, model: string): number {
  const usable =
    typeof given === "number" && Number.isFinite(given) ? given : modelLimits(model).maxOutputTokens;
  return Math.max(1, Math.floor(usable));
}

/**
 * Removes thinking that is not allowed: it excludes a forced tool, and with a budget must have started the
 * turn.
 */
function allowedThinking(
  fields: ThinkingFields,
  choice: ToolChoice | undefined,
  messages: readonly MessageParam[],
): ThinkingFields {
  const { thinking, ...rest } = fields;
  if (thinking === undefined) return fields;
  if (choice?.type === "any" || choice?.type === "tool") return rest;
  return thinking.type === "enabled" && isInsideUnthoughtTurn(messages) ? rest : fields;
}

function withFormat(fields: ThinkingFields, output: ProviderCallParams["output"]): object {
  if (output === undefined) return fields;
  return { ...fields, output_config: { ...fields.output_config, format: outputFormat(output) } };
}

/**
 * Returns true if the last results answer calls of an answer that does not start with thinking that can be
 * sent.
 */
function isInsideUnthoughtTurn(messages: readonly MessageParam[]): boolean {
  if (!messages.at(-1)?.content.some(({ type }) => type === "tool_result")) return false;
  const first = messages.findLast(({ role }) => role === "assistant")?.content[0];
  return first?.type !== "thinking" && first?.type !== "redacted_thinking";
}
