import { omitUndefined, outputInvalidText } from "@parley/fold";
import type { ProviderContentPart, ProviderMessage } from "../../ports.js";
import { ownMessages } from "../canonical/normalize-message.js";
import { type ConversationMessage, messageOrigin } from "../message.js";
import { outputEntryOfMessage } from "../output-entry.js";
import type { MessageContentPart } from "../part.js";
import { stableValue } from "../text/stable-value.js";

/**
 * Converts a history to the form that providers take: the same parts in the same order, with the origin of each
 * message.
 *
 * Error parts and the duration of reasoning are never sent, `metadata` parts only if they carry a provider's own
 * data; a message that has nothing left is left out. The text of calls and results is passed on as it is. Everything
 * else is put in one spelling (keys sorted, values as JSON knows them), so a message gives the same bytes whether it
 * was just made or read from a database that reorders keys: a prefix that was sent once is sent again unchanged.
 *
 * The text that reports an answer not matching its schema to the model is sent as the user's.
 *
 * Calls and results are not paired here; `repairHistory` comes first.
 */
export function toProviderMessages(messages: readonly ConversationMessage[]): ProviderMessage[] {
  const lowered: ProviderMessage[] = [];
  for (const message of ownMessages(messages)) {
    const invalid = outputEntryOfMessage(message);
    if (invalid !== undefined) {
      lowered.push({ role: "user", content: [{ type: "text", text: outputInvalidText(invalid) }] });
      continue;
    }
    const content = message.content.filter(isSent).map(toProviderPart);
    if (content.length === 0) continue;
    const origin = messageOrigin(message);
    const metadata = hintsOf(message);
    lowered.push({
      role: message.role,
      content,
      ...omitUndefined({ origin, metadata }),
    });
  }
  return lowered;
}

function isSent(part: MessageContentPart): boolean {
  if (part.type === "error") return false;
  return part.type !== "metadata" || Object.keys(part.providerMetadata ?? {}).length > 0;
}

function toProviderPart(part: MessageContentPart): ProviderContentPart {
  // Most parts are a text and nothing else, which already has one spelling.
  if (part.type === "text" && Object.keys(part).length === 2) return { type: "text", text: part.text };
  const { type, ...fields } = part.type === "tool-result" ? { isError: false, ...part } : part;
  const entries: [string, unknown][] = [["type", type]];
  for (const [key, value] of Object.entries(fields).sort(byKey)) {
    if (value === undefined || (type === "reasoning" && key === "durationMs")) continue;
    // Derived from the text, so they are the same every time, in the order of the text.
    const derived =
      (type === "tool-call" && key === "arguments") || (type === "tool-result" && key === "result");
    entries.push([key, derived || typeof value === "string" ? value : stableValue(value)]);
  }
  return Object.fromEntries(entries);
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the message's metadata without the origin, which has its own field, and with the provider's. */
function hintsOf(message: ConversationMessage): Record<string, unknown> | undefined {
  const { origin: _, ...hints } = message.metadata ?? {};
  if (message.providerMetadata !== undefined) hints.providerMetadata = message.providerMetadata;
  return Object.keys(hints).length === 0 ? undefined : (stableValue(hints) as Record<string, unknown>);
}
