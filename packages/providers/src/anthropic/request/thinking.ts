import type { ProviderCallParams } from "@parley/core/ports";
import type { ThinkingParam } from "../api-types.js";

type Effort = NonNullable<ProviderCallParams["reasoningEffort"]>;

/** The fields of a request that control thinking. */
export interface ThinkingFields {
  readonly thinking?: ThinkingParam;
  readonly output_config?: { readonly effort: Effort };
}

// By name, ignoring a router's path and a cloud's prefix.
const withoutThinking = /claude-(?:instant|v?[12](?![\d])|3-(?:opus|sonnet|haiku)|3-5|3\.5)/;
const budgetsOnly =
  /claude-(?:3-7|3\.7|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:[-@:]\d{6,}.*|-latest|-v\d.*)?$)/;
// The generation that supports `max` but not yet the level below it.
const withoutXhigh = /claude-(?:opus|sonnet)-4-6/;

const budgets: Readonly<Record<Effort, number>> = {
  low: 4_096,
  medium: 10_240,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};

const leastBudget = 1_024;
/** Tokens reserved for the answer itself, if both fit. */
const answerTokens = 4_096;

/**
 * Returns the fields for an effort. Current models take the level; older ones take a number of tokens, which
 * is a part of `max_tokens` and is omitted if it does not fit; still older ones do not think.
 */
export function thinkingFields(
  model: string,
  effort: ProviderCallParams["reasoningEffort"],
  maxTokens: number,
): ThinkingFields {
  if (effort === undefined || withoutThinking.test(model)) return {};
  if (!budgetsOnly.test(model)) {
    const level = effort === "xhigh" && withoutXhigh.test(model) ? "high" : effort;
    return { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: level } };
  }
  const maxThinkingTokens = maxTokens - Math.min(answerTokens, Math.ceil(maxTokens / 2));
  const budget = Math.min(budgets[effort], maxThinkingTokens);
  return budget < leastBudget ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}
