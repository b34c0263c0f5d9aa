import { stripVTControlCharacters } from "node:util";

/** Characters that no terminal is sent: controls but for line breaks and tabs, and those that reorder a line. */
const unsafe = /[^\P{Control}\n\t]|\p{Bidi_Control}/u;
const allUnsafe = new RegExp(unsafe, "gu");

/** Looks that we use: colours of the text, bold, dim, italic, underlined. None of them hides what it is put on. */
const look = "\u001B\\[(?:[0-49]|2[2-49]|3[1-7]|39|9[0-7]|38;[\\d;]+)?m";
const lookOrUnsafe = new RegExp(`${look}|${unsafe.source}`, "gu");

/**
 * Makes text that others wrote safe to show: without escape sequences and control characters, which could move the
 * cursor, change the title or answer questions in the user's name, and without characters that change the direction
 * of what follows. Line breaks and tabs stay.
 */
export function safeText(text: string): string {
  if (!unsafe.test(text)) return text;
  return stripVTControlCharacters(text.replace(/\r\n?/g, "\n")).replace(allUnsafe, "");
}

/** The same on one line. */
export function safeLine(text: string): string {
  return safeText(text).replace(/\s+/gu, " ").trim();
}

/**
 * Makes lines of our own safe, which may hold colours and what others wrote: only whole sequences of our looks stay. A
 * sequence that is split over two calls loses its escape character in the first.
 */
export function safeStyled(text: string): string {
  if (!unsafe.test(text)) return text;
  return text.replace(lookOrUnsafe, (found) => (found.length > 1 ? found : ""));
}

/** Makes JSON safe: the same value, with every unsafe character as an escape. */
export function safeJson(json: string): string {
  if (!unsafe.test(json)) return json;
  return json.replace(allUnsafe, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
