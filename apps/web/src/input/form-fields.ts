import type { JsonObject, JsonValue } from "@parley/wire";
import { isRecord } from "./argument-changes.js";

/** Kind of a field. `json`: a value without a field kind of its own is written as JSON. */
export type FieldKind = "text" | "number" | "integer" | "yes-no" | "choice" | "json";

/** One field of a form. */
export interface FormField {
  /** Unique in its form. */
  readonly key: string;
  /** Path of the value in the whole, from the outside in. Empty: it is the whole. */
  readonly path: readonly string[];
  readonly kind: FieldKind;
  /** True: an empty field is an error. False: its value is left out. */
  readonly required: boolean;
  /** An empty text is a value. */
  readonly mayBeEmpty: boolean;
  readonly description?: string;
  /** The values to choose from. */
  readonly choices?: readonly JsonValue[];
  /** Inclusive bounds: of a number, or of the length of a text. */
  readonly least?: number;
  readonly most?: number;
}

/** Typed text by field. A choice is kept as its index among the choices. */
export type FormDraft = Readonly<Record<string, string>>;

/** The value of a form, or the problems of its fields. */
export type FormReading =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> };

/** Nested objects have fields of their own down to this depth; deeper ones are written as JSON. */
const deepest = 3;
/** An object with more members is written as JSON. */
const mostFields = 40;

/** Returns the fields for an answer that a JSON Schema describes. */
export function fieldsOfSchema(schema: JsonObject | undefined): readonly FormField[] {
  return fieldsAt(schema ?? { type: "string" }, [], true);
}

function fieldsAt(schema: JsonValue | undefined, path: readonly string[], required: boolean): FormField[] {
  const base = { key: JSON.stringify(path), path, required, mayBeEmpty: false, ...described(schema) };
  if (!isRecord(schema)) return [{ ...base, kind: "json" }];
  const { type, properties } = schema;
  const choices = choicesOf(schema);
  if (choices !== undefined) return [{ ...base, kind: "choice", choices }];
  if (type === "string") return [{ ...base, kind: "text", ...bounds(schema, "minLength", "maxLength") }];
  if (type === "number" || type === "integer") {
    return [{ ...base, kind: type, ...bounds(schema, "minimum", "maximum") }];
  }
  if (type === "boolean") return [{ ...base, kind: "yes-no" }];
  if (type === "object" && isRecord(properties) && path.length < deepest) {
    const names = Object.keys(properties);
    const needed = Array.isArray(schema.required) ? schema.required : [];
    // The required members of an optional object are required only if it is present, which a form cannot express.
    if (names.length > 0 && names.length <= mostFields && (required || needed.length === 0)) {
      return names.flatMap((name) => fieldsAt(properties[name], [...path, name], needed.includes(name)));
    }
  }
  return [{ ...base, kind: "json" }];
}

function described(schema: JsonValue | undefined): { readonly description?: string } {
  const text = isRecord(schema) ? (schema.description ?? schema.title) : undefined;
  return typeof text === "string" ? { description: text } : {};
}

function choicesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  const { enum: listed, const: only } = schema;
  if (Array.isArray(listed) && listed.length > 0 && listed.length <= 50) return listed as JsonValue[];
  return only === undefined ? undefined : [only as JsonValue];
}

function bounds(schema: JsonObject, low: string, high: string): { least?: number; most?: number } {
  const { [low]: least, [high]: most } = schema;
  return {
    ...(typeof least === "number" ? { least } : {}),
    ...(typeof most === "number" ? { most } : {}),
  };
}

/** Returns the fields for editing a value, by its structure. */
export function fieldsOfValue(value: JsonValue, path: readonly string[] = []): readonly FormField[] {
  const base = { key: JSON.stringify(path), path, required: true, mayBeEmpty: true };
  if (typeof value === "string") return [{ ...base, kind: "text" }];
  if (typeof value === "number") return [{ ...base, kind: "number" }];
  if (typeof value === "boolean") return [{ ...base, kind: "yes-no" }];
  if (isRecord(value) && path.length < deepest) {
    const names = Object.keys(value);
    if (names.length > 0 && names.length <= mostFields) {
      return names.flatMap((name) => fieldsOfValue(value[name] as JsonValue, [...path, name]));
    }
  }
  return [{ ...base, kind: "json" }];
}

/** Returns the draft of a form before anything is typed: empty, or with the parts of a value. */
export function draftOf(fields: readonly FormField[], value?: JsonValue): FormDraft {
  return Object.fromEntries(
    fields.map((field) => {
      const part = field.path.reduce<JsonValue | undefined>(
        (at, name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined),
        value,
      );
      return [field.key, part === undefined ? "" : textOfPart(field.kind, part)];
    }),
  );
}

function textOfPart(kind: FieldKind, part: JsonValue): string {
  if (kind === "json") return JSON.stringify(part, null, 2);
  return typeof part === "string" ? part : JSON.stringify(part);
}

/** Reads what was typed. The server checks the whole value again, by its own rules. */
export function readDraft(fields: readonly FormField[], draft: FormDraft): FormReading {
  const problems: Record<string, string> = {};
  let whole: JsonValue | undefined;
  for (const field of fields) {
    const read = readField(field, draft[field.key] ?? "");
    if ("problem" in read) problems[field.key] = read.problem;
    else if (read.value !== undefined) whole = withPart(whole, field.path, read.value);
  }
  if (Object.keys(problems).length > 0) return { ok: false, problems };
  // A form of an object whose optional fields are all empty.
  return { ok: true, value: whole === undefined ? {} : whole };
}

type FieldReading = { readonly value: JsonValue | undefined } | { readonly problem: string };

function readField(field: FormField, typed: string): FieldReading {
  const { kind, choices } = field;
  const isEmpty = kind === "text" ? typed === "" : typed.trim() === "";
  if (isEmpty && !(kind === "text" && field.mayBeEmpty)) {
    return field.required ? { problem: "This is needed." } : { value: undefined };
  }
  if (kind === "text") return within(field, typed.length, "characters") ?? { value: typed };
  if (kind === "yes-no") return { value: typed === "true" };
  if (kind === "choice") return { value: choices?.[Number(typed)] };
  if (kind === "json") {
    try {
      return { value: JSON.parse(typed) as JsonValue };
    } catch {
      return { problem: "This is not JSON. A text needs quotes." };
    }
  }
  const number = Number(typed);
  if (!Number.isFinite(number)) return { problem: "This is not a number." };
  if (kind === "integer" && !Number.isInteger(number)) return { problem: "This has to be a whole number." };
  return within(field, number, "") ?? { value: number };
}

function within({ least, most }: FormField, size: number, unit: string): FieldReading | undefined {
  const of = unit === "" ? "" : ` ${unit}`;
  if (least !== undefined && size < least) return { problem: `This has to be at least ${least}${of}.` };
  if (most !== undefined && size > most) return { problem: `This may be at most ${most}${of}.` };
  return undefined;
}

function withPart(whole: JsonValue | undefined, path: readonly string[], value: JsonValue): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const before = isRecord(whole) ? whole : {};
  const inner = Object.hasOwn(before, name) ? before[name] : undefined;
  // Defined, not assigned: a name such as `__proto__` is a name like any other.
  return Object.fromEntries([...Object.entries(before), [name, withPart(inner, rest, value)]]);
}
