import type { MessageState } from "@parley/client";
import type { FileReference } from "@parley/wire";

/** Returns the text of a message, without reasoning, tools and files. */
export function messageText(message: MessageState): string {
  return message.parts
    .flatMap(({ chunk }) => {
      if (chunk.type === "system") return [chunk.text];
      return chunk.type === "text" && chunk.file === undefined && chunk.text !== "" ? [chunk.text] : [];
    })
    .join("\n\n");
}

/** Returns the files of a message, in order. */
export function messageFiles(message: MessageState): readonly FileReference[] {
  return message.parts.flatMap(({ chunk }) => (chunk.type === "text" ? (chunk.file ?? []) : []));
}

/** Returns the text of several messages, as a user would copy it. */
export function joinedText(messages: readonly MessageState[]): string {
  return messages
    .map(messageText)
    .filter((text) => text !== "")
    .join("\n\n");
}
