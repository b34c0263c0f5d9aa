import type { ModelMessage } from "ai";
import type { ModelFamily } from "../model-family.js";
import { isFields, type ProviderFields } from "../provider-options.js";

/**
 * The options of a call without a budget for thinking where it would be refused: Anthropic's models that take one
 * must have thought at the beginning of a turn to think behind its results. An answer of another model, or one that
 * was cut, begins without thinking that can be sent.
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

/** Whether results have come for calls of an answer that does not begin with reasoning. */
function isInsideUnthoughtTurn(messages: readonly ModelMessage[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  if (last < 0 || !messages.slice(last).some(({ role }) => role === "tool")) return false;
  // The package joins answers that stand side by side.
  let first = last;
  while (messages[first - 1]?.role === "assistant") first -= 1;
  const content = messages[first]?.content ?? "";
  return typeof content === "string" || content[0]?.type !== "reasoning";
}
