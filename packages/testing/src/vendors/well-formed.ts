/**
 * Returns true if all strings of a JSON value, keys included, have no half of a surrogate pair: vendors refuse such a
 * body.
 */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !/\p{Surrogate}/u.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([key, inner]) => isWellFormed(key) && isWellFormed(inner));
}
