import type { ToolCallContentPart } from "../../messages/part.js";
import { argumentsTextOf } from "../../messages/part.js";
import { validateJsonSchema } from "./json-schema.js";
import type { StandardResult, StandardSchema, Tool } from "./tool.js";
import { isStandardSchema } from "./tool.js";

/** Input of a tool, or the error for the model. */
export type ValidatedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/**
 * Reads the arguments of a call, given as the call or as their text, and checks them against the tool's schema. Never
 * rejects: malformed JSON, arguments that do not fit and a validator that fails all return a message that reports the
 * error to the model. An empty text means `{}`. A Standard Schema may transform the value.
 */
export async function validateArguments(
  tool: Pick<Tool<never>, "name" | "schema">,
  call: string | Pick<ToolCallContentPart, "arguments" | "argumentsText">,
): Promise<ValidatedArguments> {
  const text =
    typeof call === "string" ? call : argumentsTextOf({ type: "tool-call", name: tool.name, ...call });
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused(tool, [`The arguments are not valid JSON: ${reason}`]);
  }
  const { schema } = tool;
  if (schema === undefined) return { ok: true, value };
  if (isStandardSchema(schema)) return validateStandard(tool, schema, value);
  const issues = validateJsonSchema(schema, value);
  if (issues.length === 0) return { ok: true, value };
  return refused(
    tool,
    issues.map((issue) => lineOf(issue.path, issue.message)),
  );
}

async function validateStandard(
  tool: Pick<Tool<never>, "name">,
  schema: StandardSchema,
  value: unknown,
): Promise<ValidatedArguments> {
  let result: StandardResult<unknown>;
  try {
    result = await schema["~standard"].validate(value);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused(tool, [`The arguments could not be checked: ${reason}`]);
  }
  if (result.issues === undefined) return { ok: true, value: result.value };
  const lines = result.issues.slice(0, maxLines).map((issue) => lineOf(pointerOf(issue.path), issue.message));
  return refused(tool, lines);
}

const maxLines = 16;

type IssuePath = readonly (PropertyKey | { readonly key: PropertyKey })[];

function pointerOf(path: IssuePath | undefined): string {
  let pointer = "";
  for (const segment of path ?? []) {
    const key = String(typeof segment === "object" ? segment.key : segment);
    pointer += `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return pointer;
}

function lineOf(path: string, message: string): string {
  return `${path === "" ? "(the whole value)" : path}: ${message}`;
}

function refused(tool: Pick<Tool<never>, "name">, lines: readonly string[]): ValidatedArguments {
  const problems = lines.map((line) => `- ${line}`).join("\n");
  return {
    ok: false,
    message: `The call of "${tool.name}" was not run because its arguments are not valid:\n${problems}`,
  };
}
