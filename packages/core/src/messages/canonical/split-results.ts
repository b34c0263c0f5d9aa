import { omitUndefined } from "@parley/fold";
import type { ConversationMessage } from "../message.js";
import type { MessageContentPart } from "../part.js";
import { hashText } from "../text/hash.js";

// Ids are at most this long; longer ones would not fit their column and their routes.
const longestId = 128;

/** Returns the id of a message that is made from another one. The same origin and suffix always give the same id. */
export function derivedMessageId(id: string, suffix: string): string {
  const derived = `${id}:${suffix}`;
  return derived.length <= longestId ? derived : `${hashText(id)}:${suffix}`;
}

/**
 * Cuts an assistant message that also holds results into assistant messages and the tool messages between them, in
 * the order of the parts. The first assistant message keeps id and envelope; the others get ids that are derived from
 * it, and assistant messages keep the metadata, which names their writer. A message without results is returned as it
 * is.
 */
export function splitResults(message: ConversationMessage): ConversationMessage[] {
  if (message.role !== "assistant" || !message.content.some((part) => part.type === "tool-result")) {
    return [message];
  }
  const pieces: { role: "assistant" | "tool"; content: MessageContentPart[] }[] = [];
  for (const part of message.content) {
    const role = part.type === "tool-result" ? "tool" : "assistant";
    const last = pieces.at(-1);
    if (last?.role === role) last.content.push(part);
    else pieces.push({ role, content: [part] });
  }
  const heir = Math.max(
    0,
    pieces.findIndex((piece) => piece.role === "assistant"),
  );
  return pieces.map(({ role, content }, index) => {
    if (index === heir && role === "assistant") return { ...message, content };
    const id = index === heir ? message.id : derivedMessageId(message.id, String(index));
    return { ...pieceEnvelope(message, role), id, content };
  });
}

/** Returns the fields that a message cut out of another one shares with it. */
export function pieceEnvelope(
  message: ConversationMessage,
  role: "assistant" | "tool",
): Omit<ConversationMessage, "id" | "content"> {
  return {
    conversationId: message.conversationId,
    role,
    createdAt: message.createdAt,
    ...(role === "assistant" && message.metadata !== undefined ? { metadata: message.metadata } : {}),
    ...omitUndefined({ resourceId: message.resourceId }),
  };
}
