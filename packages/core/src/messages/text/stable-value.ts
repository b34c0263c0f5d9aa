/**
 * Returns the value as a database that keeps JSON without key order returns it, with the keys sorted: a value made
 * here and the same value read again become equal, and serialize to the same text. Follows JSON: `toJSON` is called,
 * `undefined` and functions vanish, numbers that JSON lacks become null. Never throws for plain data; values that
 * JSON refuses are replaced (a bigint becomes its digits, a cycle null).
 */
export function stableValue(value: unknown): unknown {
  return settle(value, []) ?? null;
}

function settle(value: unknown, ancestors: object[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const json: unknown = value.toJSON();
    return json === value ? null : settle(json, [...ancestors, value]);
  }
  if (ancestors.includes(value)) return null;
  ancestors.push(value);
  const settled = Array.isArray(value)
    ? value.map((member) => settle(member, ancestors) ?? null)
    : settleObject(value, ancestors);
  ancestors.pop();
  return settled;
}

function settleObject(value: object, ancestors: object[]): object {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value).sort()) {
    const member = settle((value as Record<string, unknown>)[key], ancestors);
    if (member !== undefined) entries.push([key, member]);
  }
  return Object.fromEntries(entries);
}
