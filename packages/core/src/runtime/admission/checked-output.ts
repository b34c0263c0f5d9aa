import { omitUndefined } from "@parley/fold";
import { invalidField } from "../../errors.js";
import { checkPlain } from "../../plain-data.js";
import type { TurnOutputChoice } from "../../ports/log-store.js";
import {
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  type StandardSchema,
} from "../../turn/tools/tool.js";

/** Data that a turn has to return, as a sender requests it. */
export interface OutputInput {
  /** Default `answer`. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /**
   * JSON Schema of an object, or a Standard Schema that has one. The turn keeps only the JSON Schema: the caller that
   * holds a validator runs its checks and transformations.
   */
  readonly schema: StandardSchema | JsonSchema;
  /** Number of times the model is called again after an answer that does not match. Default 2. */
  readonly retries?: number | undefined;
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;
const defaultRetries = 2;
const mostRetries = 8;

/** Copies what a sender requests, or refuses it. */
export function checkedOutput(given: OutputInput): TurnOutputChoice {
  const { name = "answer", description, retries = defaultRetries } = given;
  if (!namePattern.test(name)) throw invalidField("output.name", "1 to 64 of the characters A-Z a-z 0-9 _ -");
  if (!Number.isInteger(retries) || retries < 0 || retries > mostRetries) {
    throw invalidField("output.retries", `a whole number from 0 to ${mostRetries}`);
  }
  const schema = jsonSchemaOf(given.schema);
  if (schema === undefined) {
    const { vendor } = isStandardSchema(given.schema) ? given.schema["~standard"] : { vendor: "" };
    throw invalidField("output.schema", `the validator (${vendor}) has no JSON Schema for it: pass one`);
  }
  checkPlain(schema, "output.schema");
  const { $schema: _, ...rest } = schema;
  if (rest.type !== "object")
    throw invalidField("output.schema", 'the schema of an object, with type "object"');
  return { name, schema: structuredClone(rest), retries, ...omitUndefined({ description }) };
}
