import { isWellFormed, wellFormed } from "../../call/well-formed.js";

/**
 * Returns a JSON value with lone surrogates replaced in all its strings; the value itself if there are none.
 */
export function sendableValue(value: unknown): unknown {
  return isWellFormed(value) ? value : replaced(value);
}

function replaced(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  // Not by assignment, which would treat a field `__proto__` as the prototype.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), replaced(inner)]));
}
