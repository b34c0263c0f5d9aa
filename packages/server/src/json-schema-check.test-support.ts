interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
  readonly pattern?: string;
}

/**
 * Returns the differences between a value and a schema of an OpenAPI document, as a list of complaints. Stricter than
 * JSON Schema in one point: members that the schema does not name are wrong, so that a contract cannot omit what is
 * sent.
 */
export function complaints(document: object, schema: Schema, value: unknown, path = "$"): string[] {
  if (schema.$ref !== undefined) {
    const found = schema.$ref
      .replace(/^#\//, "")
      .split("/")
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
    return complaints(document, found as Schema, value, path);
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) {
    const all = choices.map((choice) => complaints(document, choice, value, path));
    if (all.some((each) => each.length === 0)) return [];
    return all.sort((a, b) => a.length - b.length)[0] ?? [`${path}: no choice`];
  }
  if (schema.allOf !== undefined) {
    return schema.allOf.flatMap((part) => complaints(document, part, value, path));
  }
  if (schema.const !== undefined && schema.const !== value) return [`${path}: not ${String(schema.const)}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path}: not among the words`];
  if (schema.type !== undefined) {
    const types = typeof schema.type === "string" ? [schema.type] : schema.type;
    if (!types.some((type) => isOfType(type, value))) return [`${path}: not ${types.join(" or ")}`];
  }
  if (schema.minimum !== undefined && typeof value === "number" && value < schema.minimum) {
    return [`${path}: below ${schema.minimum}`];
  }
  if (schema.pattern !== undefined && typeof value === "string" && !new RegExp(schema.pattern).test(value)) {
    return [`${path}: not like ${schema.pattern}`];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((each, index) => complaints(document, items, each, `${path}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return [];
  return [...missing(schema, value, path), ...members(document, schema, value, path)];
}

function missing(schema: Schema, value: object, path: string): string[] {
  return (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${path}.${name}: missing`);
}

function members(document: object, schema: Schema, value: object, path: string): string[] {
  if (schema.properties === undefined && schema.additionalProperties === undefined) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const member = schema.properties?.[name];
    if (member !== undefined) return complaints(document, member, each, `${path}.${name}`);
    if (typeof schema.additionalProperties === "object") {
      return complaints(document, schema.additionalProperties, each, `${path}.${name}`);
    }
    return schema.additionalProperties === true ? [] : [`${path}.${name}: not in the contract`];
  });
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
