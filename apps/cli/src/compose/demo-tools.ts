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
  /** By the list of the servers, which is the same as long as nothing changes. */
  const joined = new WeakMap<readonly Tool<never>[], readonly Tool<never>[]>();
  return {
    ...servers,
    tools(owner) {
      const offered = servers?.tools(owner) ?? none;
      if (!isDemoOnly()) return offered;
      const known = joined.get(offered) ?? [...demo, ...offered];
      joined.set(offered, known);
      return known;
    },
    servers: (owner) => servers?.servers(owner) ?? [],
    close: async () => servers?.close(),
  };
}

const none: readonly Tool<never>[] = [];
