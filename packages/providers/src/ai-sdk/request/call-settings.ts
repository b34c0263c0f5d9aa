import { omitUndefined } from "@parley/core/messages";
import type { ProviderCallParams, ProviderToolDefinition } from "@parley/core/ports";
import { type JSONSchema7, jsonSchema, type ModelMessage, type ToolChoice, type ToolSet, tool } from "ai";
import type { ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import { functionParameters } from "../../openai/tool-definition.js";
import { derivedOptions, type ModelFamily } from "../model-family.js";
import { isFields, mergeFields, type ProviderFields, toProviderFields } from "../provider-options.js";

/** The parameters that a call's settings are derived from. */
export type SettingParams = Pick<
  ProviderCallParams,
  "cacheKey" | "extraParams" | "maxTokens" | "reasoningEffort"
>;

/** The part of a call other than its messages, as `streamText` takes it. */
export interface CallSettings {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly providerOptions: ProviderFields;
}

// The settings that `streamText` itself has for every provider.
const sharedSettings = new Set([
  "frequencyPenalty",
  "headers",
  "maxOutputTokens",
  "presencePenalty",
  "seed",
  "stopSequences",
  "temperature",
  "timeout",
  "topK",
  "topP",
]);

/**
 * Returns the settings of a call. Of `extraParams`, those that `streamText` itself has become its settings,
 * `providerOptions` are options by provider, and every other field is an option of the model's own provider,
 * in the spelling of the AI SDK. Later sources win: first the options derived from effort and cache key, then
 * the adapter's own options, then the call's.
 */
export function callSettings(
  params: SettingParams,
  model: { readonly family: ModelFamily; readonly key: string; readonly modelId: string },
  own: ProviderFields | undefined,
): CallSettings {
  const settings: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const { providerOptions: byProvider, ...extra } = params.extraParams ?? {};
  if (params.maxTokens !== undefined) settings.maxOutputTokens = params.maxTokens;
  for (const [name, value] of Object.entries(extra)) {
    if (sharedSettings.has(name)) settings[name] = value;
    else options[name] = value;
  }
  const derived = toProviderFields({ [model.key]: derivedOptions(model.family, model.modelId, params) });
  const said = [own, toProviderFields({ [model.key]: options }), toProviderFields(byProvider)];
  return { settings, providerOptions: said.reduce(mergeFields, derived) ?? {} };
}

/** Placeholder for a tool that a history has used and that is no longer offered. */
const formerTool: ProviderToolDefinition = { name: "", description: "Not available any more." };

/** Returns the tools of a call as the SDK takes them: declared, and never run by it. */
export function callTools(
  params: ProviderCallParams,
  call: {
    readonly names: ToolNames;
    readonly family: ModelFamily;
    readonly own: ToolSet | undefined;
    readonly messages: readonly ModelMessage[];
  },
): { readonly tools?: ToolSet; readonly toolChoice?: ToolChoice<ToolSet> } {
  const { names, family } = call;
  const tools = Object.create(null) as ToolSet;
  const declare = (definition: ProviderToolDefinition, name: string) => {
    tools[name] = tool({
      inputSchema: jsonSchema(functionParameters(definition.schema) as JSONSchema7),
      ...(definition.description ? { description: wellFormed(definition.description) } : {}),
      // Set explicitly, because the API's default would rewrite schemas; other providers have no such option.
      ...(family === "openai" ? { strict: false } : {}),
    });
  };
  for (const definition of params.tools ?? []) {
    const name = names.toSent(definition.name);
    if (!(name in tools)) declare(definition, name);
  }
  Object.assign(tools, call.own);
  const offered = new Set(Object.keys(tools));
  if (offered.size > 0) {
    const toolChoice = toolChoiceOf(params.toolChoice, names, offered);
    return { tools, ...omitUndefined({ toolChoice }) };
  }
  // Some providers refuse calls in a history if the request declares no tools.
  const former = family === "openai" ? [] : usedTools(call.messages);
  for (const name of former) declare(formerTool, name);
  return former.length === 0 ? {} : { tools, toolChoice: "none" };
}

function usedTools(messages: readonly ModelMessage[]): string[] {
  const used = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== "assistant" || typeof content === "string") continue;
    for (const part of content) {
      if (part.type === "tool-call" && part.providerExecuted !== true) used.add(part.toolName);
    }
  }
  return [...used];
}

/** Converts a choice in any of the usual shapes to the SDK's; undefined if the SDK cannot express it. */
function toolChoiceOf(
  choice: unknown,
  names: ToolNames,
  offered: ReadonlySet<string>,
): ToolChoice<ToolSet> | undefined {
  const fields = isFields(choice) ? choice : { type: choice };
  if (fields.type === "auto" || fields.type === "none" || fields.type === "required") return fields.type;
  if (fields.type === "any") return "required";
  if (fields.type !== "tool" && fields.type !== "function") return undefined;
  const nested = isFields(fields.function) ? fields.function.name : undefined;
  const name = fields.toolName ?? fields.name ?? nested;
  if (typeof name !== "string") return undefined;
  const toolName = offered.has(name) ? name : names.toSent(name);
  return offered.has(toolName) ? { type: "tool", toolName } : undefined;
}
