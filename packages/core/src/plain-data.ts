import { invalidField, ParleyError } from "./errors.js";

/** Maximum depth: with deeper values, databases and parsers run out of stack. */
const deepest = 2_000;

/**
 * Returns true if a value is plain data, which JSON writes and reads back unchanged. A Date, a bigint, NaN, a class
 * instance and a hole in a list are not, because JSON would change them silently or refuse them; neither is a value
 * that is nested too deep. A member that is undefined counts as absent.
 */
export function isPlain(value: unknown): boolean {
  return isPlainAt(value, 0);
}

/** Refuses values that are not plain data with `invalid_request`: no store could return them unchanged. */
export function checkPlain(value: unknown, name?: string): void {
  if (isPlain(value)) return;
  const said = "only plain data can be stored: no dates, bigints, class instances, NaN or cycles";
  throw name === undefined ? new ParleyError("invalid_request", said) : invalidField(name, said);
}

function isPlainAt(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      return value === null || (depth <= deepest && isPlainObject(value, depth));
    default:
      return false;
  }
}

function isPlainObject(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    // By index: `every` would skip holes.
    for (let place = 0; place < value.length; place += 1) {
      if (!isPlainAt(value[place], depth + 1)) return false;
    }
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  const members = value as Record<string, unknown>;
  if (typeof members.toJSON === "function") return false;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (member !== undefined && !isPlainAt(member, depth + 1)) return false;
  }
  return true;
}
