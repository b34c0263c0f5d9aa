import { checkPlain } from "@parley/core/messages";

/**
 * PostgreSQL stores neither NUL nor half a surrogate pair, in text and in jsonb, and PGlite drops a byte order mark at
 * the beginning of a text that it reads. All are kept by an escape: U+001A and the four hex digits of the code unit.
 * U+001A itself is escaped the same way, so every text comes back as it was, and a text without these characters
 * (nearly every one) is stored as it is.
 */
const mark = "\u001a";
const unstorable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters in question
  /^\ufeff|[\u0000\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const escaped = /\u001a([0-9a-f]{4})/g;

/** Converts any text to the form of a `text` column. */
export function storedText(text: string): string {
  return text.replace(unstorable, (unit) => mark + unit.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Returns the text that `storedText` was given. */
export function originalText(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replace(escaped, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** In JSON these characters are always written as escapes, behind a backslash that is not itself escaped. */
const unstorableInJson = /\\(\\|u(?:0000|001a|d[89a-f][0-9a-f]{2}))/g;
const escapedInJson = /\\(\\|u001a([0-9a-f]{4}))/g;

/**
 * Converts plain data to the text of a `jsonb` column. What JSON would change silently (a Date, a bigint, NaN, a
 * class's object, a hole in a list) is refused with `invalid_request`, as is what is nested too deep.
 */
export function storedJson(value: unknown): string {
  checkPlain(value);
  const text = JSON.stringify(value);
  // The cheap check first: almost no text has an escape of this kind.
  if (!text.includes("\\u")) return text;
  return text.replace(unstorableInJson, (whole, rest: string) =>
    rest === "\\" ? whole : `\\u001a${rest.slice(1)}`,
  );
}

/** Returns the value that `storedJson` was given, from the text of the column. */
export function originalJson(text: string): unknown {
  if (!text.includes("\\u001a")) return JSON.parse(text) as unknown;
  return JSON.parse(
    text.replace(escapedInJson, (whole, rest: string, digits: string) =>
      rest === "\\" ? whole : `\\u${digits}`,
    ),
  ) as unknown;
}
