import { z } from "zod";
import { configSchema } from "./config-schema.js";

/**
 * The names that may stand at a place of the configuration, read off the schema itself; at a place whose value is one
 * of a few words, those words.
 */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let places: z.ZodType[] = [configSchema];
  for (const name of path) places = places.flatMap((schema) => step(unwrap(schema), name));
  return [...new Set(places.flatMap((schema) => unwrap(schema)).flatMap(namesOf))];
}

/** Without the wrappers, and with every branch of a union. */
function unwrap(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => unwrap(option as z.ZodType));
  return [schema];
}

function step(schemas: readonly z.ZodType[], name: PropertyKey): z.ZodType[] {
  return schemas.flatMap((schema) => {
    if (schema instanceof z.ZodObject) {
      const member: unknown = Reflect.get(schema.shape, name);
      return member instanceof z.ZodType ? [member] : [];
    }
    if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
    if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
    return [];
  });
}

function namesOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodLiteral) return [...schema.values].map(String);
  return [];
}
