import { omitUndefined } from "@parley/fold";
import { createCallLedger } from "../provider/call-ledger.js";
import type { CanonicalMessage, MessagePart, ToolInvocationPart } from "./canonical-message.js";
import { withToolValue } from "./tool-values.js";

/**
 * Merges stored messages for readers that want a call and its result in one part: each result moves into the part of
 * the call that it answers, `args` and `result` are set, and tool messages that have become empty are left out.
 * Results pair by position, so an id that several steps used is no problem. A call without a result stays a call; a
 * result without a call stays where it is. Idempotent; the input is not changed.
 */
export function mergeInvocations(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const ledger = createCallLedger<{ parts: MessagePart[]; index: number; call: ToolInvocationPart }>();
  const merged: CanonicalMessage[] = [];
  messages.forEach((message, place) => {
    const parts: MessagePart[] = [];
    for (const part of message.content.parts) {
      if (part.type !== "tool-invocation") {
        parts.push(part);
        continue;
      }
      const invocation = withToolValue(part);
      const slot = isLoneResult(part) ? ledger.answer(part.toolCallId) : undefined;
      if (slot !== undefined) {
        slot.parts[slot.index] = answered(slot.call, invocation);
        continue;
      }
      if (part.state === "call" && message.role === "assistant") {
        ledger.add(place, part.toolCallId, { parts, index: parts.length, call: invocation });
      }
      parts.push(invocation);
    }
    if (parts.length === 0 && message.content.parts.length > 0) return;
    merged.push({ ...message, content: { ...message.content, parts } });
  });
  return merged;
}

function isLoneResult(part: ToolInvocationPart): boolean {
  return part.state === "result" && part.args === undefined && part.argsText === undefined;
}

/** Returns the call with its result in it. If both have a field of the same name, the call's value wins. */
function answered(call: ToolInvocationPart, result: ToolInvocationPart): ToolInvocationPart {
  const providerMetadata = { ...result.providerMetadata, ...call.providerMetadata };
  return {
    ...result,
    ...call,
    state: "result",
    result: result.result,
    ...omitUndefined({ resultText: result.resultText }),
    ...(Object.keys(providerMetadata).length === 0 ? {} : { providerMetadata }),
  };
}
