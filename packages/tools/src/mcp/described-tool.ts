import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import type { Approval, JsonSchema, Tool, ToolContext } from "@parley/core/turn";
import type { McpLimits } from "./mcp-limits.js";
import type { McpServerConfig } from "./server-config.js";
import { toolName } from "./tool-names.js";

/** Runs a tool of a server. */
export type CallTool = (tool: string, input: unknown, context: ToolContext) => Promise<unknown>;

/** Characters that are not shown, or that change how what follows is shown. */
const hiddenCharacters = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu;

/**
 * A tool of a server as the model and people see it. Everything that the server says about it is data: bounded, without
 * hidden characters, and with the server's name before it. Undefined where its schema is too large.
 */
export function describeTool(
  server: { readonly name: string; readonly config: McpServerConfig },
  listed: ListedTool,
  limits: McpLimits,
  call: CallTool,
): Tool<never> | undefined {
  const { $schema: _, ...schema } = listed.inputSchema as Record<string, unknown>;
  if (JSON.stringify(schema).length > limits.schemaBytes) return undefined;
  const said = (listed.description ?? listed.title ?? "").replace(hiddenCharacters, "");
  const description = `[${server.name}] ${said}`.slice(0, limits.descriptionCharacters);
  const { approval, recovery } = policyOf(listed.annotations ?? {}, server.config);
  return {
    name: toolName(server.name, listed.name),
    description,
    schema: schema as JsonSchema,
    origin: "mcp",
    approval,
    recovery,
    timeoutMs: limits.longestCallMs,
    execute: (input: unknown, context: ToolContext) => call(listed.name, input, context),
  } as Tool<never>;
}

/**
 * When calls ask, and whether an interrupted one may be made again. The file decides; without its word the annotations do,
 * which are claims of the server: only a trusted one lets calls run unasked or repeats them.
 */
function policyOf(
  annotations: NonNullable<ListedTool["annotations"]>,
  { approval, trust = false }: McpServerConfig,
): { approval: Approval; recovery: "fail" | "retry" } {
  const { readOnlyHint = false, destructiveHint = true, idempotentHint = false } = annotations;
  const isHarmless = readOnlyHint || !destructiveHint;
  const claimed: Approval = readOnlyHint && trust ? "never" : isHarmless ? "once" : "always";
  const isRepeatable = readOnlyHint || (isHarmless && idempotentHint);
  return { approval: approval ?? claimed, recovery: trust && isRepeatable ? "retry" : "fail" };
}
