import type { OutputInvalidEntry } from "@parley/wire";
import { isFields } from "./canonical/normalize-part.js";
import type { ConversationMessage } from "./message.js";
import type { MessageContentPart } from "./part.js";

/** Returns the entry about an answer that did not match, if a part of a `system` message holds one. */
export function outputEntryOf(part: MessageContentPart): OutputInvalidEntry | undefined {
  if (part.type !== "metadata" || !isFields(part.data)) return undefined;
  const { type, name, attempt, errors } = part.data;
  const isEntry =
    type === "output-invalid" &&
    typeof name === "string" &&
    typeof attempt === "number" &&
    Array.isArray(errors) &&
    errors.every((error) => typeof error === "string");
  return isEntry ? (part.data as unknown as OutputInvalidEntry) : undefined;
}

/** Returns the entry about an answer that did not match, if a message is one. */
export function outputEntryOfMessage(
  message: Pick<ConversationMessage, "role" | "content">,
): OutputInvalidEntry | undefined {
  const [part] = message.content;
  if (message.role !== "system" || part === undefined || message.content.length !== 1) return undefined;
  return outputEntryOf(part);
}

/** Makes the message of an entry. Its id follows from the step, so every writer makes the same message. */
export function outputMessage(
  entry: OutputInvalidEntry,
  envelope: Pick<ConversationMessage, "conversationId" | "createdAt"> & { readonly stepId: string },
): ConversationMessage {
  const { stepId, ...rest } = envelope;
  return { id: `${stepId}.output`, ...rest, role: "system", content: [{ type: "metadata", data: entry }] };
}
