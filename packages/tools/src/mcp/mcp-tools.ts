import type { Secrets } from "@parley/core/ports";
import type { ToolSource } from "@parley/core/turn";
import { defaultMcpLimits, type McpLimits } from "./mcp-limits.js";
import { McpServer } from "./mcp-server.js";
import { OAuthLogins } from "./oauth/oauth-logins.js";
import { OwnerServers } from "./owner-servers.js";
import type { HttpServer, McpServerConfig } from "./server-config.js";
import { ToolLists } from "./tool-lists.js";
import { isServerName } from "./tool-names.js";

export interface McpToolsOptions {
  /** By name. The names prefix those of their tools. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly limits?: Partial<McpLimits>;
  /**
   * Identifies the store that the tools are used for: a Parley server on the same store is refused as a
   * server of tools.
   */
  readonly identity?: () => Promise<string>;
  /** Sends the requests to servers over HTTP. Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Keeps the logins of owners, for servers with `auth: "oauth"`. */
  readonly secrets?: Secrets;
}

/**
 * Offers the tools of Model Context Protocol servers. They are connected in the background: a server that is
 * slow, fails or dies blocks nothing, its tools are absent until it is back. A process is shared by all
 * owners of the node; a server that owners log in at has a connection for each of them.
 */
export function createMcpTools(options: McpToolsOptions): ToolSource {
  const { servers, identity, secrets, fetch } = options;
  const limits = { ...defaultMcpLimits, ...options.limits };
  for (const name of Object.keys(servers)) {
    if (isServerName(name)) continue;
    throw new TypeError(
      `"${name}" cannot be the name of a server: use letters, digits, - and single _, 32 at most`,
    );
  }
  const entries = Object.entries(servers);
  const withLogin = Object.fromEntries(
    entries.filter((entry): entry is [string, HttpServer] => wantsLogin(entry[1])),
  );
  const shared = entries
    .filter(([name]) => withLogin[name] === undefined)
    .map(([name, config]) => new McpServer({ name, config, limits, identity, fetch }));
  const lists = new ToolLists(shared);
  if (Object.keys(withLogin).length === 0) {
    return {
      tools: () => lists.shared(),
      servers: () => shared.map((server) => server.info()),
      async close() {
        await Promise.all(shared.map((server) => server.close()));
      },
    };
  }
  if (secrets === undefined)
    throw new TypeError("secrets: servers that owners log in at need a store for logins");
  const owners: OwnerServers = new OwnerServers({
    servers: withLogin,
    limits,
    identity,
    fetch,
    logins: new OAuthLogins({
      servers: withLogin,
      secrets,
      fetch,
      onChange: (owner, server) => owners.renew(owner, server),
    }),
  });
  return {
    tools: (owner) => lists.of(owners.of(owner)),
    servers: (owner) => [...shared.map((server) => server.info()), ...owners.infos(owner)],
    ready: (owner, signal) => owners.ready(owner, signal),
    logins: owners.logins,
    async close() {
      await Promise.all([...shared.map((server) => server.close()), owners.close()]);
    },
  };
}

function wantsLogin(config: McpServerConfig): boolean {
  return "url" in config && config.auth === "oauth";
}
