type Schema = Readonly<Record<string, unknown>>;

const listsOfSchemas = ["allOf", "anyOf", "oneOf", "prefixItems"];
const namedSchemas = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const singleSchemas = [
  "items",
  "additionalProperties",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
];

/** Returns true for a JSON Schema that is an object, not a boolean. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the direct subschemas of a schema. */
export function innerSchemas(schema: Schema): Schema[] {
  const inner: unknown[] = [];
  for (const keyword of listsOfSchemas) {
    const list = schema[keyword];
    if (Array.isArray(list)) inner.push(...(list as unknown[]));
  }
  for (const keyword of namedSchemas) {
    const named = schema[keyword];
    if (isSchema(named)) inner.push(...Object.values(named));
  }
  for (const keyword of singleSchemas) inner.push(schema[keyword]);
  return inner.filter(isSchema);
}

/** Returns true for a schema of an object: by its type, or because it has properties. */
export function isObjectSchema({ type, properties }: Schema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isSchema(properties);
}

/** Keywords that cannot be enforced while an answer is generated. */
const unenforced = [
  "allOf",
  "not",
  "if",
  "oneOf",
  "patternProperties",
  "dependentSchemas",
  "dependentRequired",
  "prefixItems",
  "contains",
  "propertyNames",
];

/**
 * Returns true if every object of a schema lists and requires all its members: the schemas that OpenAI can
 * enforce.
 */
export function isStrictSchema(schema: Schema): boolean {
  if (unenforced.some((keyword) => keyword in schema)) return false;
  if (isObjectSchema(schema)) {
    const { properties, required } = schema;
    const names = isSchema(properties) ? Object.keys(properties) : [];
    const listed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
    if (schema.additionalProperties !== false || !names.every((name) => listed.has(name))) return false;
  }
  return innerSchemas(schema).every(isStrictSchema);
}
