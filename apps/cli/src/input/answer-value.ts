import type { JsonObject, JsonValue } from "@parley/wire";

/** The answers to choose from, where a question has a list of them. */
export function optionsOf(schema: JsonObject | undefined): readonly JsonValue[] | undefined {
  const options = schema?.enum;
  return Array.isArray(options) ? options : undefined;
}

/** True if an answer may be any text. */
export function takesText(schema: JsonObject | undefined): boolean {
  if (schema === undefined) return true;
  if (optionsOf(schema) !== undefined) return false;
  return schema.type === undefined ? !("const" in schema) : [schema.type].flat().includes("string");
}

/**
 * Reads a typed answer as the question wants it: one of its options, a text, or else JSON. The server checks it against
 * the schema; undefined: it cannot be right.
 */
export function answerValue(schema: JsonObject | undefined, text: string): JsonValue | undefined {
  const options = optionsOf(schema);
  if (options?.includes(text) === true || (options === undefined && takesText(schema))) return text;
  const value = parsed(text);
  if (options === undefined || value === undefined) return value;
  const same = JSON.stringify(value);
  return options.find((option) => JSON.stringify(option) === same);
}

/** Reads JSON; undefined where it is none. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
