import { omitUndefined } from "@parley/fold";
import type { CallerTool as WireTool } from "@parley/wire";
import { invalidField } from "../../errors.js";
import { checkPlain } from "../../plain-data.js";
import type { CallerTool } from "../../ports/log-store.js";
import type { JsonSchema, Tool } from "../../turn/tools/tool.js";

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Maximum number of tools that one message may bring. */
const mostTools = 128;

/** Copies the tools of a caller, or refuses them: tools that no model could be offered, and names that are taken. */
export function checkedTools(
  given: readonly WireTool[],
  own: readonly { readonly name: string }[],
): CallerTool[] {
  const tools = given.map(
    ({ name, description, schema }): CallerTool => ({
      name,
      ...omitUndefined({ description, schema: schema as Record<string, unknown> | undefined }),
    }),
  );
  if (tools.length > mostTools) throw invalidField("tools", `at most ${mostTools}`);
  checkPlain(tools, "tools");
  const names = new Set(own.map(({ name }) => name));
  for (const [index, { name }] of tools.entries()) {
    const field = `tools.${index}.name`;
    if (!namePattern.test(name)) throw invalidField(field, "1 to 64 of the characters A-Z a-z 0-9 _ -");
    if (names.has(name)) throw invalidField(field, `"${name}" is taken: choose another name`);
    names.add(name);
  }
  return structuredClone(tools);
}

/** Makes the tools of a turn's caller: a call of one waits for the output. Names that are taken are left out. */
export function callerTools(
  tools: readonly CallerTool[],
  own: readonly { readonly name: string }[],
): Tool<never>[] {
  const taken = new Set(own.map(({ name }) => name));
  return tools
    .filter(({ name }) => !taken.has(name))
    .map(({ name, description, schema }) => ({
      name,
      ...omitUndefined({ description, schema: schema as JsonSchema | undefined }),
      answeredBy: "caller" as const,
      origin: "caller" as const,
      execute() {
        throw new TypeError("The caller runs its tools itself");
      },
    }));
}
