import type { InputEntry, InputRequestEntry, InputResponseEntry } from "@parley/wire";
import { isFields } from "./canonical/normalize-part.js";
import type { ConversationMessage } from "./message.js";
import type { MessageContentPart } from "./part.js";

/** Returns the entry about input that a part of a `system` message holds, if it holds one. */
export function inputEntryOf(part: MessageContentPart): InputEntry | undefined {
  if (part.type !== "metadata" || !isFields(part.data)) return undefined;
  const { type, requestId } = part.data;
  const isEntry = (type === "input-request" || type === "input-response") && typeof requestId === "string";
  return isEntry ? (part.data as unknown as InputEntry) : undefined;
}

/** Returns the entry about input of a message, if it is one. */
export function inputEntryOfMessage(
  message: Pick<ConversationMessage, "role" | "content">,
): InputEntry | undefined {
  const [part] = message.content;
  if (message.role !== "system" || part === undefined || message.content.length !== 1) return undefined;
  return inputEntryOf(part);
}

/** Returns the id of a request, from the step and the place of the call in it: the same on every node. */
export function inputRequestId(stepId: string, callIndex: number): string {
  return `${stepId}.${callIndex}`;
}

/** Returns the id of a question that a call asks while it runs: a different one each time it runs. */
export function questionRequestId(stepId: string, id: string): string {
  return `${stepId}.${id}`;
}

/** Returns true for a request about a call as a whole, false for a question that the call asks while it runs. */
export function isRequestOfCall(stepId: string, requestId: string): boolean {
  return requestId.startsWith(`${stepId}.`) && /^\d{1,9}$/.test(requestId.slice(stepId.length + 1));
}

/** Makes the message of an entry. Its id follows from the entry, so every writer makes the same message. */
export function inputMessage(
  entry: InputRequestEntry | InputResponseEntry,
  envelope: Pick<ConversationMessage, "conversationId" | "createdAt">,
): ConversationMessage {
  return {
    id: inputMessageId(entry),
    ...envelope,
    role: "system",
    content: [{ type: "metadata", data: entry }],
  };
}

/** Returns the message id of an entry in the log. */
export function inputMessageId({ type, requestId }: Pick<InputEntry, "type" | "requestId">): string {
  return `${requestId}.${type === "input-request" ? "request" : "response"}`;
}
