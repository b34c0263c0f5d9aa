import { type ConversationMessage, textOf } from "../message.js";
import { withoutMarks } from "./markdown-marks.js";

const titleCharacters = 80;
/** Characters of a text that are read for its title: some of them are marks or white space. */
const readCharacters = 2_000;

/** Makes a title of a text: on one line, without the marks of markdown, shortened. */
export function titleFrom(text: string): string {
  const beginning = text
    .trimStart()
    .slice(0, readCharacters)
    .replace(/[\uD800-\uDBFF]$/, "");
  return titleOfName(withoutMarks(beginning, -1).text) || titleOfName(beginning);
}

/** Makes a title of a name, which has no marks: on one line, shortened. */
export function titleOfName(name: string): string {
  const line = name.trim().replace(/\s+/gu, " ");
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
