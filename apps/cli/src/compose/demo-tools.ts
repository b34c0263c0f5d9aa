import type { Tool, ToolSource } from "@parley/core/turn";
import type { Config } from "../config/config.js";

/**
 * The tools of servers, and those of the demo model while it alone serves: they come and go with the first credential.
 * Without a setting the demo model may also ask the user, so that this can be tried; other models may not.
 */
export async function withDemoTools(
  servers: ToolSource | undefined,
  config: Pick<Config, "approvals" | "credentials">,
  isDemoOnly: () => boolean,
): Promise<ToolSource | undefined> {
  if (config.credentials.size > 0) return servers;
  const [{ errand, slowTask }, { askUserTool }] = await Promise.all([
    import("@parley/providers/demo"),
    import("@parley/core/turn"),
  ]);
  const asks = config.approvals?.askUser === undefined ? [askUserTool as Tool<never>] : [];
  const own = [slowTask(), errand()].map((tool): Tool<never> => ({ ...tool, origin: "builtin" }));
  const demo = [...own, ...asks];
  let seen: readonly Tool<never>[] | undefined;
  let joined: readonly Tool<never>[] = [];
  return {
    tools() {
      const offered = servers?.tools() ?? none;
      if (!isDemoOnly()) return offered;
      if (offered !== seen) {
        seen = offered;
        joined = [...demo, ...offered];
      }
      return joined;
    },
    servers: () => servers?.servers() ?? [],
    close: async () => servers?.close(),
  };
}

const none: readonly Tool<never>[] = [];
