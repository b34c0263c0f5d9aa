import { type ConversationMessage, textOf } from "../message.js";

const titleCharacters = 80;

/** Makes a title of a text: on one line, shortened. */
export function titleFrom(text: string): string {
  const line = text.trim().replace(/\s+/gu, " ");
  if (line.length <= titleCharacters) return line;
  const characters = Array.from(line.slice(0, titleCharacters * 4));
  if (characters.length <= titleCharacters) return line;
  return `${characters
    .slice(0, titleCharacters - 1)
    .join("")
    .trimEnd()}…`;
}

/**
 * Returns the title of a conversation that begins with these messages: its first user message. Empty if it has none.
 */
export function titleOf(messages: readonly ConversationMessage[]): string {
  const first = messages.find(({ role }) => role === "user");
  return first === undefined ? "" : titleFrom(textOf(first));
}
