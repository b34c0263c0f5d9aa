const loneSurrogate = /\p{Surrogate}/u;
const loneSurrogates = /\p{Surrogate}/gu;

/** Returns the text with lone surrogates replaced: APIs refuse a body that has one. */
export function wellFormed(text: string): string {
  return loneSurrogate.test(text) ? text.replace(loneSurrogates, "\ufffd") : text;
}

/** Returns true if all strings of a JSON value, including keys, can be sent. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !loneSurrogate.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([key, inner]) => isWellFormed(key) && isWellFormed(inner));
}
