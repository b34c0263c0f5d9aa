import type { JsonValue } from "@parley/wire";
import { equalJson } from "../tools/canonical-json.js";

/** Returns true if a text matches a pattern in which `*` matches any characters. */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let from = first.length;
  // The earliest place for each piece leaves the most text for the next.
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}

/**
 * Returns true if arguments match every path of a pattern: `a.b` names the member `b` of the member `a`. A text is a
 * pattern with `*`; any other value has to be equal. A path that the arguments do not have does not match.
 */
export function matchesArguments(
  where: Readonly<Record<string, JsonValue>> | undefined,
  given: unknown,
): boolean {
  if (where === undefined) return true;
  return Object.entries(where).every(([path, expected]) => {
    const value = valueAt(given, path);
    if (value === undefined) return false;
    if (typeof expected === "string" && typeof value === "string") return matchesGlob(expected, value);
    return equalJson(expected, value);
  });
}

function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as { readonly [name: string]: unknown })[name];
  }
  return at;
}
