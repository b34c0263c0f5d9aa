/** Maximum depth of a value before it counts as too complex to check. */
export const maxJsonDepth = 128;

/**
 * Returns the same text for equal JSON values, whatever the order of their keys. Undefined for a value that,
 * beginning at `depth`, nests deeper than `maxJsonDepth`.
 */
export function canonicalJson(value: unknown, depth = 0): string | undefined {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (depth > maxJsonDepth) return undefined;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) {
      const text = canonicalJson(item, depth + 1);
      if (text === undefined) return undefined;
      parts.push(text);
    }
    return `[${parts.join(",")}]`;
  }
  for (const name of Object.keys(value).sort()) {
    const text = canonicalJson((value as { readonly [name: string]: unknown })[name], depth + 1);
    if (text === undefined) return undefined;
    parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

/** Returns true if two JSON values are equal. Values too deep to check are equal only to themselves. */
export function equalJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  const text = canonicalJson(left);
  return text !== undefined && text === canonicalJson(right);
}
