import { invalidField, ParleyError } from "./errors.js";

/** Deeper than this, databases and parsers run out of stack. */
const deepest = 2_000;

/**
 * Whether a value is plain data: what JSON writes and reads back as it was. A Date, a bigint, NaN, a class's object
 * and a hole in a list are not, for JSON would change them in silence or refuse them; nor is what is nested too deep.
 * A member that is undefined counts as absent.
 */
export function isPlain(value: unknown): boolean {
  return isPlainAt(value, 0);
}

/** Refuses what is not plain data with `invalid_request`: no store could give it back as it was. */
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
    // By place: `every` would pass over holes.
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
