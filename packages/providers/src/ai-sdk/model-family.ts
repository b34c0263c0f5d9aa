import { omitUndefined } from "@parley/core/messages";
import type { ProviderCallParams } from "@parley/core/ports";
import type { JSONValue } from "ai";
import { thinkingFields } from "../anthropic/request/thinking.js";
import { effortFor, reasons } from "../openai/reasoning-effort.js";

/** The rules about reasoning, files and options that a model follows, as far as they are known here. */
export type ModelFamily = "openai" | "openai-chat" | "anthropic" | "other";

/**
 * Returns the key under which the AI SDK keeps a provider's options and metadata: the text before the first
 * dot.
 */
export function optionsKey(provider: string): string {
  const dot = provider.indexOf(".");
  return dot < 0 ? provider : provider.slice(0, dot);
}

/** Returns the family of a model, by the provider's name. An unknown name has no special rules. */
export function modelFamily(provider: string): ModelFamily {
  const [maker, api] = provider.split(".");
  if (maker === "openai" || maker === "azure" || maker === "azure-openai") {
    return api === "chat" || api === "completion" ? "openai-chat" : "openai";
  }
  return maker === "anthropic" ? "anthropic" : "other";
}

/**
 * Converts a call's effort and cache key to the options of a family. Unknown families ignore both: the caller
 * must set that provider's options itself.
 */
export function derivedOptions(
  family: ModelFamily,
  modelId: string,
  params: Pick<ProviderCallParams, "reasoningEffort" | "cacheKey">,
): Record<string, JSONValue> {
  const { cacheKey, reasoningEffort } = params;
  switch (family) {
    case "openai":
    case "openai-chat": {
      const effort = reasoningEffort === undefined || !reasons(modelId) ? undefined : reasoningEffort;
      return {
        // The log can always rebuild a request, so the provider need not store anything between two calls.
        ...(family === "openai" ? { store: false } : {}),
        ...omitUndefined({ promptCacheKey: cacheKey }),
        ...(effort === undefined ? {} : { reasoningEffort: effortFor(modelId, effort) }),
        ...(effort === undefined || family !== "openai" ? {} : { reasoningSummary: "auto" }),
      };
    }
    case "anthropic": {
      // The SDK adds a budget to the limit of the answer, so the budget need not fit into it.
      const fields = thinkingFields(modelId, reasoningEffort, Number.MAX_SAFE_INTEGER);
      return {
        ...(cacheKey === undefined ? {} : { cacheControl: { type: "ephemeral" } }),
        ...(fields.thinking === undefined ? {} : { thinking: thinkingOption(fields.thinking) }),
        ...(fields.output_config === undefined ? {} : { effort: fields.output_config.effort }),
      };
    }
    default:
      return {};
  }
}

type Thinking = NonNullable<ReturnType<typeof thinkingFields>["thinking"]>;

function thinkingOption(thinking: Thinking): Record<string, JSONValue> {
  if (thinking.type === "enabled") return { type: "enabled", budgetTokens: thinking.budget_tokens };
  return { ...thinking };
}
