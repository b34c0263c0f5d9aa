import { omitUndefined } from "@parley/core/messages";
import type { ProviderOutput } from "@parley/core/ports";
import { isStrictSchema } from "../call/schema-walk.js";

/** The data to answer with, as both APIs describe it. */
export interface JsonSchemaFormat {
  readonly name: string;
  readonly description?: string;
  readonly schema: Record<string, unknown>;
  /** Whether the API makes the answer match. It refuses that for schemas that leave something open. */
  readonly strict: boolean;
}

/** Returns the description of the data that a call is to be answered with. */
export function jsonSchemaFormat({ name, description, schema }: ProviderOutput): JsonSchemaFormat {
  return { name, ...omitUndefined({ description }), schema, strict: isStrictSchema(schema) };
}
