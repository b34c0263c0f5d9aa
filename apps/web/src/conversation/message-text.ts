import type { MessageState } from "@parley/client";

/** The text of a message, without reasoning and tools. */
export function messageText(message: MessageState): string {
  return message.parts
    .flatMap(({ chunk }) => (chunk.type === "text" || chunk.type === "system" ? [chunk.text] : []))
    .join("\n\n");
}

/** The text of several messages, as one would copy it. */
export function joinedText(messages: readonly MessageState[]): string {
  return messages
    .map(messageText)
    .filter((text) => text !== "")
    .join("\n\n");
}
