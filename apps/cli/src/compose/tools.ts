import type { Secrets } from "@parley/core/ports";
import type { Tool, ToolSource } from "@parley/core/turn";
import { omitUndefined } from "@parley/fold";
import { CliError } from "../cli-error.js";
import type { Config, Environment } from "../config/config.js";

/** The tools of a configuration. Those that come with Parley are loaded only when they are asked for. */
export async function composeTools(config: Config): Promise<readonly Tool<never>[]> {
  const { time, calculator, files, httpGet, custom = [] } = config.tools;
  const tools: Tool<never>[] = [];
  if (time) tools.push((await import("@parley/tools/time")).timeTool());
  if (calculator) tools.push((await import("@parley/tools/calculator")).calculatorTool());
  if (files) {
    const { root, maxBytes, maxEntries } = files;
    const { fileTools } = await import("@parley/tools/files");
    tools.push(
      ...fileTools({
        root,
        ...omitUndefined({ maxBytes, maxEntries }),
      }),
    );
  }
  if (httpGet) {
    const { allow, maxBytes, timeoutMs, maxRedirects } = httpGet;
    const { httpGetTool } = await import("@parley/tools/http-get");
    tools.push(
      httpGetTool({
        allow,
        ...omitUndefined({ maxBytes, timeoutMs, maxRedirects }),
      }),
    );
  }
  for (const { slowStepMs: stepMs } of demoCredentials(config)) {
    const { errand, slowTask } = await import("@parley/providers/demo");
    tools.push(slowTask(omitUndefined({ stepMs })), errand());
  }
  const all = [...tools.map((tool) => ({ ...tool, origin: "builtin" as const })), ...custom];
  mustBeUnique(all);
  return all;
}

/** The parts of a node that servers of tools use. */
export interface ToolServerNeeds {
  /** Identifies the store. */
  identify(): Promise<string>;
  /** Keeps the logins of owners. */
  readonly secrets: Secrets;
  readonly env?: Environment;
}

/** Names the stores whose nodes have started this process, and each other, as servers of tools: ids with commas. */
const calledByVariable = "PARLEY_CALLED_BY";

/**
 * The tools of other servers. They are connected in the background. A process that a node of the same store has started,
 * itself or through others, starts none: `parley mcp` in the list of its own servers would start itself without end.
 */
export async function composeToolServers(
  { mcpServers }: Config,
  { identify, secrets, env = process.env }: ToolServerNeeds,
): Promise<ToolSource | undefined> {
  if (Object.keys(mcpServers).length === 0) return undefined;
  const callers = (env[calledByVariable] ?? "").split(",").filter((id) => id !== "");
  const own = await identify();
  if (callers.includes(own)) return undefined;
  const calledBy = { [calledByVariable]: [...callers, own].join(",") };
  const servers = Object.entries(mcpServers).map(([name, server]) => [
    name,
    "command" in server ? { ...server, env: { ...server.env, ...calledBy } } : server,
  ]);
  const { createMcpTools } = await import("@parley/tools/mcp");
  return createMcpTools({ servers: Object.fromEntries(servers), identity: async () => own, secrets });
}

/**
 * Returns true where the configuration has the demo model and no other. It may ask the user questions without a setting,
 * so that they can be tried; other models may not.
 */
export function hasOnlyDemo({ credentials }: Pick<Config, "credentials">): boolean {
  return credentials.size > 0 && [...credentials.values()].every(({ kind }) => kind === "demo");
}

/** The demo model has tools of its own: one takes its time, so that steering can be tried, and one asks first. */
function demoCredentials({ credentials }: Config): { slowStepMs?: number | undefined }[] {
  return [...credentials.values()].filter((credential) => credential.kind === "demo").slice(0, 1);
}

function mustBeUnique(tools: readonly Tool<never>[]): void {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) {
      throw new CliError(`tools: there are two tools with the name "${name}".`, {
        advice: "Rename the one in tools.custom.",
      });
    }
    seen.add(name);
  }
}
