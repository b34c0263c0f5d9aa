import type { ProviderOutput } from "@parley/core/ports";
import { innerSchemas, isObjectSchema, isSchema } from "../../call/schema-walk.js";

type Schema = Readonly<Record<string, unknown>>;

/** The format of the data to answer with, in the API's form. */
export interface OutputFormat {
  readonly type: "json_schema";
  readonly schema: Schema;
}

// Models before 4.5, by name, ignoring a router's path and a cloud's prefix.
const withoutFormats =
  /claude-(?:instant|v?[12](?![\d])|3[-.]|(?:opus|sonnet|haiku)-4(?:-[0-4])?(?:[-@:]\d{6,}.*|-latest|-v\d.*)?$)/;

/** Keywords that the API refuses, and that a description can express instead. */
const describable = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
]);

/** Keywords that the API refuses, and without which the schema would have a different meaning. */
const refused = [
  "not",
  "if",
  "patternProperties",
  "dependentSchemas",
  "dependentRequired",
  "prefixItems",
  "contains",
];

/** Returns true if the API can enforce the schema for a model's answer. */
export function takesFormat({ schema }: ProviderOutput, model: string): boolean {
  return !withoutFormats.test(model) && isSendable(schema) && !refersToItself(schema);
}

/** Returns the format for the API: closed objects, with unenforced keywords moved to descriptions. */
export function outputFormat({ schema }: ProviderOutput): OutputFormat {
  return { type: "json_schema", schema: lowered(schema) };
}

function isSendable(schema: Schema): boolean {
  if (refused.some((keyword) => keyword in schema)) return false;
  // A map with keys chosen by the model: the API accepts only declared keys.
  if (isObjectSchema(schema) && !isSchema(schema.properties)) return false;
  if (isSchema(schema.additionalProperties)) return false;
  return innerSchemas(schema).every(isSendable);
}

function lowered(schema: Schema): Schema {
  const kept: Record<string, unknown> = {};
  const said: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (describable.has(keyword)) said.push(`${keyword}: ${JSON.stringify(value)}`);
    else if (keyword === "oneOf") kept.anyOf = loweredInside(value);
    else if (keyword === "properties" || keyword === "$defs" || keyword === "definitions") {
      kept[keyword] = isSchema(value) ? mapValues(value, loweredInside) : value;
    } else if (keyword === "enum" || keyword === "const" || keyword === "default" || keyword === "examples") {
      kept[keyword] = value;
    } else kept[keyword] = loweredInside(value);
  }
  if (isObjectSchema(schema)) kept.additionalProperties = false;
  if (said.length > 0) {
    const { description } = schema;
    kept.description = `${typeof description === "string" ? `${description} ` : ""}(${said.join(", ")})`;
  }
  return kept;
}

function loweredInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loweredInside);
  return isSchema(value) ? lowered(value) : value;
}

function mapValues(values: Schema, map: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function refersToItself(root: Schema): boolean {
  const visit = (schema: Schema, path: readonly Schema[]): boolean => {
    if (path.includes(schema)) return true;
    const next = typeof schema.$ref === "string" ? referred(root, schema.$ref) : undefined;
    // Definitions are visited where they are used.
    const { $defs: _, definitions: _definitions, ...own } = schema;
    const inner = innerSchemas(own);
    if (next !== undefined) inner.push(next);
    return inner.some((each) => visit(each, [...path, schema]));
  };
  return visit(root, []);
}

function referred(root: Schema, pointer: string): Schema | undefined {
  if (!pointer.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const segment of pointer.slice(1).split("/").slice(1)) {
    const name = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isSchema(found) ? found[name] : undefined;
  }
  return isSchema(found) ? found : undefined;
}
