import { omitUndefined } from "@parley/core/messages";
import type { SendInput } from "@parley/core/runtime";
import type { CallerTool, JsonObject, ModelsResponse, ReasoningEffort } from "@parley/wire";
import { refusal } from "./failure.js";

type Fields = Readonly<Record<string, unknown>>;

const efforts: Readonly<Record<string, ReasoningEffort>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

/** Reads an effort. */
export function effortOf(effort: string | null | undefined): ReasoningEffort | undefined {
  return effort === null || effort === undefined ? undefined : efforts[effort];
}

/** Finds a model by its full name, or by its name at its provider, if only one has it. */
export function modelOf(name: string | null | undefined, { models }: ModelsResponse): string | undefined {
  if (name === null || name === undefined) return undefined;
  if (models.includes(name)) return name;
  const [only, ...others] = models.filter((each) => each.slice(each.indexOf("/") + 1) === name);
  if (only !== undefined && others.length === 0) return only;
  const known = models.join(", ");
  throw refusal(404, `The model '${name}' does not exist here; there is ${known}`, {
    code: "model_not_found",
    param: "model",
  });
}

/** Reads the caller's functions. Tools of other kinds belong to a provider, and no turn here can use them. */
export function callerToolsOf(
  tools: readonly Fields[] | null | undefined,
  functionOf: (tool: Fields) => Fields = (tool) => tool,
): CallerTool[] | undefined {
  if (tools === null || tools === undefined || tools.length === 0) return undefined;
  return tools.map((tool, index) => {
    if (tool.type !== "function") {
      const param = `tools.${index}.type`;
      throw refusal(400, `${param}: only functions are taken, not "${String(tool.type)}"`, { param });
    }
    const { name, description, parameters } = functionOf(tool);
    return {
      name: String(name ?? ""),
      ...(typeof description === "string" ? { description } : {}),
      ...(typeof parameters === "object" && parameters !== null ? { schema: parameters as JsonObject } : {}),
    };
  });
}

/** Reads the allowed tools: the caller's, and the names of Parley's own. Undefined: all of them. */
export function chosenTools(
  choice: unknown,
  tools: readonly CallerTool[] | undefined,
): { readonly tools: readonly CallerTool[] | undefined; readonly toolNames?: readonly string[] } {
  if (choice === "none") return { tools: undefined, toolNames: [] };
  if (typeof choice !== "object" || choice === null) return { tools };
  const { type, tools: allowed } = choice as Fields;
  if (type !== "allowed_tools" || !Array.isArray(allowed)) return { tools };
  const names = new Set(allowed.map((each: unknown) => String((each as Fields | null)?.name ?? "")));
  const chosen = (tools ?? []).filter(({ name }) => names.has(name));
  return { tools: chosen.length === 0 ? undefined : chosen, toolNames: [...names] };
}

/** Reads the form of the answer: text, or data by a JSON Schema. */
export function outputOf(
  format: Fields | null | undefined,
  retries: number | undefined,
): SendInput["output"] {
  if (format === null || format === undefined || format.type === "text") return undefined;
  if (format.type === "json_object") {
    return { name: "json", schema: { type: "object" }, ...omitUndefined({ retries }) };
  }
  if (format.type !== "json_schema") {
    const param = "text.format.type";
    throw refusal(400, `${param}: "${String(format.type)}" is not a form that this server knows`, { param });
  }
  const { name, description, schema } = format;
  if (typeof schema !== "object" || schema === null) {
    throw refusal(400, "Missing required parameter: 'text.format.schema'.", { param: "text.format.schema" });
  }
  return {
    schema: schema as JsonObject,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...omitUndefined({ retries }),
  };
}
