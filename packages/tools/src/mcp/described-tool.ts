import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import type { Approval, JsonSchema, Tool, ToolContext } from "@parley/core/turn";
import type { McpLimits } from "./mcp-limits.js";
import type { McpServerConfig } from "./server-config.js";
import { toolName } from "./tool-names.js";

/** Runs a tool of a server. */
export type CallTool = (tool: string, input: unknown, context: ToolContext) => Promise<unknown>;

/** Characters that are invisible, or that change how the following text is shown. */
const hiddenCharacters = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu;

/**
 * Describes a server's tool for the model and for people. Everything that the server states about it is data:
 * bounded, without hidden characters, and prefixed with the server's name. Undefined if its schema is too
 * large.
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
 * Returns when calls need approval, and whether an interrupted one may be retried. The configuration decides;
 * without a setting the annotations do, which are claims of the server: only a trusted server's calls run
 * without approval or are retried.
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
