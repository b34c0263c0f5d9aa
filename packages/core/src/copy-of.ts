import { ParleyError } from "./errors.js";

/** As deep as records go. What lies deeper is left to the platform, whose copier minds the stack. */
const ownDepth = 64;

/**
 * A deep copy of plain data, as stores in memory take it and hand it out. What cannot be copied cannot be stored
 * either, and is refused.
 *
 * Objects, lists and dates are copied here: `structuredClone` writes everything to bytes and reads it back, which
 * costs many times as much for the small records that a turn is made of. All else is left to it.
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
      // Reading a character makes a text whole that was joined piece by piece, so that no copy keeps the pieces.
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

/** The platform's copier makes a plain object of an instance of any class that it does not know: that is no copy. */
function copyForeign(value: object): unknown {
  const copied: unknown = structuredClone(value);
  if (Object.getPrototypeOf(copied) === Object.prototype) throw new TypeError("an instance of a class");
  return copied;
}

/** A value that contains itself ends here, at the first way down: followed in all ways it would have no end. */
function copyDeep(value: object): unknown {
  JSON.stringify(value);
  return structuredClone(value);
}

/** Assigning to this key would change the prototype. */
function setOwn(record: object, key: string, value: unknown): void {
  Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
}
