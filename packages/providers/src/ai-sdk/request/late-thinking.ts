import type { ModelMessage } from "ai";
import type { ModelFamily } from "../model-family.js";
import { isFields, type ProviderFields } from "../provider-options.js";

/**
 * Returns the options of a call without a thinking budget if the budget would be refused: Anthropic's models
 * with budgets must have thought at the start of a turn to think after its tool results. An answer of another
 * model, or one that was cut, does not start with thinking that can be sent.
 */
export function withoutLateThinking(
  options: ProviderFields,
  call: {
    readonly family: ModelFamily;
    readonly key: string;
    readonly messages: readonly ModelMessage[];
  },
): ProviderFields {
  const { thinking, ...rest } = options[call.key] ?? {};
  if (call.family !== "anthropic" || !isFields(thinking) || thinking.type !== "enabled") return options;
  return isInsideUnthoughtTurn(call.messages) ? { ...options, [call.key]: rest } : options;
}

/** Returns true if results have arrived for calls of an answer that does not start with reasoning. */
function isInsideUnthoughtTurn(messages: readonly ModelMessage[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  if (last < 0 || !messages.slice(last).some(({ role }) => role === "tool")) return false;
  // The package merges adjacent answers.
  let first = last;
  while (messages[first - 1]?.role === "assistant") first -= 1;
  const content = messages[first]?.content ?? "";
  return typeof content === "string" || content[0]?.type !== "reasoning";
}
