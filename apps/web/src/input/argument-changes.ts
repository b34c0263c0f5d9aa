import type { JsonValue } from "@parley/wire";

/** One difference between two sets of arguments. Absent: there was no value, or there is none any more. */
export interface ArgumentChange {
  /** Names and indexes from the outside in, such as `items[2].name`. Empty: the whole value. */
  readonly path: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Lists the differences of two values, each as deep as it is. */
export function argumentChanges(before: JsonValue, after: JsonValue, path = ""): readonly ArgumentChange[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((value, index) =>
      argumentChanges(value as JsonValue, after[index] as JsonValue, `${path}[${index}]`),
    );
  }
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => {
      const place = path === "" ? name : `${path}.${name}`;
      if (!Object.hasOwn(after, name)) return [{ path: place, before: before[name] as JsonValue }];
      if (!Object.hasOwn(before, name)) return [{ path: place, after: after[name] as JsonValue }];
      return argumentChanges(before[name] as JsonValue, after[name] as JsonValue, place);
    });
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path, before, after }];
}

/** Parses the arguments of a call; undefined if they are not JSON. */
export function parseArguments(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Returns true for a JSON object. */
export function isRecord(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the pattern that matches calls with these values, for a standing approval; undefined if none can: a `*` in a
 * text would match any characters, and a dot in a name would be a path.
 */
export function wherePattern(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> | undefined {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  const isPlain = entries.every(
    ([name, each]) => !name.includes(".") && !(typeof each === "string" && each.includes("*")),
  );
  return entries.length > 0 && isPlain ? value : undefined;
}
