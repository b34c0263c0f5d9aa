type Schema = Readonly<Record<string, unknown>>;

/** Maximum depth of an example value: schemas may refer to themselves. */
const deepest = 8;

/** Creates a value that matches the usual keywords of a JSON Schema. */
export function exampleValue(schema: Schema): unknown {
  return makeValue(schema, schema, 0);
}

function makeValue(given: unknown, root: Schema, depth: number): unknown {
  const schema = resolved(given, root);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0] as unknown;
  if (schema.default !== undefined) return schema.default;
  const [alternative] = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => listOf(schema[keyword]));
  if (alternative !== undefined) return makeValue(alternative, root, depth + 1);
  const type = Array.isArray(schema.type) ? (schema.type[0] as unknown) : schema.type;
  switch (type ?? (isSchema(schema.properties) ? "object" : undefined)) {
    case "object":
      return objectOf(schema, root, depth);
    case "array": {
      const least = numberOf(schema.minItems) ?? 1;
      return depth >= deepest
        ? []
        : Array.from({ length: least }, () => makeValue(schema.items, root, depth + 1));
    }
    case "number":
    case "integer":
      return numberIn(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textOf(schema);
  }
}

function objectOf(schema: Schema, root: Schema, depth: number): Record<string, unknown> {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const required = new Set(listOf(schema.required));
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (depth >= deepest && !required.has(name)) continue;
    if (depth < deepest * 2) made[name] = makeValue(property, root, depth + 1);
  }
  return made;
}

function numberIn(schema: Schema): number {
  const least = numberOf(schema.minimum) ?? (numberOf(schema.exclusiveMinimum) ?? 0) + 1;
  const most = numberOf(schema.maximum) ?? (numberOf(schema.exclusiveMaximum) ?? least + 2) - 1;
  return Math.min(least, most);
}

function textOf({ minLength, maxLength, title }: Schema): string {
  const text = typeof title === "string" ? title : "demo";
  return text.padEnd(numberOf(minLength) ?? 0, ".").slice(0, numberOf(maxLength) ?? text.length + 1_000);
}

function resolved(given: unknown, root: Schema): Schema {
  let schema: unknown = given;
  for (let hops = 0; isSchema(schema) && typeof schema.$ref === "string" && hops < deepest; hops += 1) {
    let found: unknown = root;
    for (const segment of schema.$ref.split("/").slice(1))
      found = isSchema(found) ? found[segment] : undefined;
    schema = found;
  }
  return isSchema(schema) ? schema : {};
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
