import { ParleyError } from "./errors.js";

/** Depth that this code copies itself. Deeper values are left to the platform, whose copier guards the stack. */
const ownDepth = 64;

/**
 * Returns a deep copy of plain data, as in-memory stores take it in and return it. A value that cannot be copied
 * cannot be stored either, and is refused.
 *
 * Objects, lists and dates are copied here: `structuredClone` writes everything to bytes and reads it back, which
 * costs many times as much for the small records that a turn is made of. Everything else is left to it.
 */
export function copyOf<T>(value: T): T {
  try {
    return copy(value, 0) as T;
  } catch (cause) {
    throw new ParleyError("invalid_request", "Only plain data can be stored", { cause });
  }
}

function copy(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      // Reading a character flattens a text that was joined piece by piece, so that no copy keeps the pieces.
      if (value.length > 64) value.charCodeAt(0);
      return value;
    case "object":
      return value === null ? null : copyObject(value, depth);
    case "function":
    case "symbol":
      return structuredClone(value);
    default:
      return value;
  }
}

function copyObject(value: object, depth: number): unknown {
  if (depth >= ownDepth) return copyDeep(value);
  if (Array.isArray(value)) {
    const list = new Array<unknown>(value.length);
    for (let index = 0; index < value.length; index += 1) list[index] = copy(value[index], depth + 1);
    return list;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return new Date((value as Date).getTime());
  if (prototype !== Object.prototype && prototype !== null) return copyForeign(value);
  const record: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const copied = copy((value as Record<string, unknown>)[key], depth + 1);
    if (key === "__proto__") setOwn(record, key, copied);
    else record[key] = copied;
  }
  return record;
}

/** Refuses what the platform would not copy: it makes a plain object of an instance of any class it does not know. */
function copyForeign(value: object): unknown {
  const copied: unknown = structuredClone(value);
  if (Object.getPrototypeOf(copied) === Object.prototype) throw new TypeError("an instance of a class");
  return copied;
}

/** Ends at the first descent for a value that contains itself: following every path would never end. */
function copyDeep(value: object): unknown {
  JSON.stringify(value);
  return structuredClone(value);
}

/** Sets an own property: assigning to this key would change the prototype. */
function setOwn(record: object, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
}
