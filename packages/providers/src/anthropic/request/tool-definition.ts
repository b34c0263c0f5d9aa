import type { ProviderToolDefinition } from "@parley/core/ports";
import type { ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import type { ToolChoice, ToolParam } from "../api-types.js";
import { sendableValue } from "./sendable-value.js";

type Schema = Readonly<Record<string, unknown>>;

// The API refuses these at the top of a schema. The tool itself still checks its arguments against the whole
// schema.
const refusedAtTop = ["anyOf", "oneOf", "allOf"];

/** Converts the tools for the API, each name once. */
export function toolParams(
  tools: readonly ProviderToolDefinition[] | undefined,
  names: ToolNames,
): ToolParam[] {
  const params = new Map<string, ToolParam>();
  for (const { name, description, schema } of tools ?? []) {
    const sent = names.toSent(name);
    if (params.has(sent)) continue;
    params.set(sent, {
      name: sent,
      ...(description === undefined || description === "" ? {} : { description: wellFormed(description) }),
      input_schema: inputSchema(schema),
    });
  }
  return [...params.values()];
}

/** Creates a placeholder for a tool that a history has used and that is no longer offered. */
export function formerTool(name: string): ToolParam {
  return { name, description: "Not available any more.", input_schema: { type: "object" } };
}

function inputSchema(schema: unknown): Schema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return { type: "object" };
  const given = sendableValue(schema) as Schema;
  if (given.type === "object" && !refusedAtTop.some((keyword) => keyword in given)) return given;
  const kept = Object.entries(given).filter(([keyword]) => !refusedAtTop.includes(keyword));
  return { ...Object.fromEntries(kept), type: "object" };
}

// These models refuse a choice that forces a tool.
const unforced = /claude-(?:sonnet-5-5|opus-5-5|fable-5-1)/;

/**
 * Converts a choice in any of the usual shapes to the API's: `auto`, `none`, `required` or `any`, or one tool
 * by name. Undefined leaves it to the model: also if the tool is not among those offered, or the model cannot
 * be forced.
 */
export function toolChoiceParam(
  choice: unknown,
  names: ToolNames,
  offered: ReadonlySet<string>,
  model: string,
): ToolChoice | undefined {
  const fields: Readonly<Record<string, unknown>> =
    typeof choice === "object" && choice !== null ? { ...choice } : { type: choice };
  const { type, disable_parallel_tool_use: alone } = fields;
  const single = typeof alone === "boolean" ? { disable_parallel_tool_use: alone } : {};
  if (type === "none") return { type };
  if (type === "auto") return { type, ...single };
  if (unforced.test(model)) return alone === undefined ? undefined : { type: "auto", ...single };
  if (type === "any" || type === "required") return { type: "any", ...single };
  if (type !== "tool" && type !== "function") return undefined;
  const nested = fields.function as { name?: unknown } | undefined;
  const name = fields.name ?? fields.toolName ?? nested?.name;
  if (typeof name !== "string" || !offered.has(names.toSent(name))) return undefined;
  return { type: "tool", name: names.toSent(name), ...single };
}
