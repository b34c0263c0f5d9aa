import type { Tool, ToolSource } from "@parley/core/turn";
import { omitUndefined } from "@parley/fold";
import { CliError } from "../cli-error.js";
import type { Config } from "../config/config.js";

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

/** The tools of other servers. They are connected in the background. */
export async function composeToolServers({ mcpServers }: Config): Promise<ToolSource | undefined> {
  if (Object.keys(mcpServers).length === 0) return undefined;
  const { createMcpTools } = await import("@parley/tools/mcp");
  return createMcpTools({ servers: mcpServers });
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
