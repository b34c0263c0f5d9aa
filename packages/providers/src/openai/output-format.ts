import { omitUndefined } from "@parley/core/messages";
import type { ProviderOutput } from "@parley/core/ports";
import { isStrictSchema } from "../call/schema-walk.js";

/** The format of the data to answer with, in the form of both APIs. */
export interface JsonSchemaFormat {
  readonly name: string;
  readonly description?: string;
  readonly schema: Record<string, unknown>;
  /** True if the API enforces the schema. It refuses that for schemas that are not strict. */
  readonly strict: boolean;
}

/** Returns the format of the data that a call must be answered with. */
export function jsonSchemaFormat({ name, description, schema }: ProviderOutput): JsonSchemaFormat {
  return { name, ...omitUndefined({ description }), schema, strict: isStrictSchema(schema) };
}
