import type { ToolNames } from "../call/tool-names.js";
import type { FunctionToolBody } from "./responses/api-types.js";

type Schema = Readonly<Record<string, unknown>>;

// The API refuses these at the top of a schema. The tool itself still checks its arguments against the whole
// schema.
const refusedAtTop = ["anyOf", "oneOf", "allOf", "enum", "not"];

/** Converts a tool's schema for the API: an object schema with `properties`. Valid ones pass unchanged. */
export function functionParameters(schema: unknown): Schema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return emptySchema;
  const given = schema as Schema;
  const properties = given.properties;
  const hasProperties = typeof properties === "object" && properties !== null && !Array.isArray(properties);
  const isFine =
    given.type === "object" && hasProperties && !refusedAtTop.some((keyword) => keyword in given);
  if (isFine) return given;
  const kept = Object.entries(given).filter(([key]) => !refusedAtTop.includes(key));
  return { ...Object.fromEntries(kept), type: "object", properties: hasProperties ? properties : {} };
}

const emptySchema: Schema = { type: "object", properties: {} };

/**
 * Creates a function of the Responses API. `strict` is set, because the API's default would rewrite schemas.
 */
export function functionTool(
  tool: {
    readonly name: string;
    readonly description?: unknown;
    readonly parameters?: unknown;
    readonly strict?: unknown;
  },
  names: ToolNames,
): FunctionToolBody {
  return {
    type: "function",
    name: names.toSent(tool.name),
    ...(typeof tool.description === "string" ? { description: tool.description } : {}),
    parameters: tool.strict === true ? (tool.parameters as Schema) : functionParameters(tool.parameters),
    strict: tool.strict === true,
  };
}

/** Returns the tools without those whose name occurred before: the API refuses two of one name. */
export function withoutDoubles<Tool extends { readonly name?: unknown }>(tools: readonly Tool[]): Tool[] {
  const seen = new Set<unknown>();
  return tools.filter(({ name }) => {
    if (name === undefined) return true;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}
