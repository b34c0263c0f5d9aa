import type { Tool } from "@parley/core/turn";
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
  for (const credential of slowCredentials(config)) {
    const { slowTask } = await import("@parley/providers/demo");
    tools.push(slowTask(credential.slowStepMs === undefined ? {} : { stepMs: credential.slowStepMs }));
  }
  tools.push(...custom);
  mustBeUnique(tools);
  return tools;
}

/** The demo model has a tool of its own, which takes its time so that steering and stopping can be tried. */
function slowCredentials({ credentials }: Config): { slowStepMs?: number | undefined }[] {
  if (credentials.size === 0) return [{}];
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
