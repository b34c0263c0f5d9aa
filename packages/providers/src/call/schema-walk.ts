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

/** True for a JSON Schema that says something. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the schemas that stand directly in a schema. */
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

/** True for a schema of an object: it says so, or has properties. */
export function isObjectSchema({ type, properties }: Schema): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isSchema(properties);
}

/** Keywords that an answer cannot be held to while it is written. */
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

/** True where every object of a schema lists all its members and requires them: what OpenAI can hold an answer to. */
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
