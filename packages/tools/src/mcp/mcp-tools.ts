import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import type { Tool, ToolContext, ToolSource } from "@parley/core/turn";
import { readResult } from "./call-result.js";
import { describeTool } from "./described-tool.js";
import { McpConnection, NotSent, OwnServer } from "./mcp-connection.js";
import { defaultMcpLimits, type McpLimits } from "./mcp-limits.js";
import type { McpServerConfig } from "./server-config.js";
import { isServerName, matchesAny } from "./tool-names.js";

export interface McpToolsOptions {
  /** By name. The names stand before those of their tools. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly limits?: Partial<McpLimits>;
  /** Identifies the store that the tools are used for: a Parley on the same store, as a server of tools, is refused. */
  readonly identity?: () => Promise<string>;
}

/**
 * Offers the tools of servers that speak the Model Context Protocol. They are connected in the background: a server that is
 * slow, fails or dies holds up nothing, its tools are absent until it is back. A process is shared by all owners of the node.
 */
export function createMcpTools({ servers, limits, identity }: McpToolsOptions): ToolSource {
  const bounds = { ...defaultMcpLimits, ...limits };
  const all = Object.entries(servers).map(([name, config]) => {
    if (!isServerName(name)) {
      throw new TypeError(
        `"${name}" cannot be the name of a server: use letters, digits, - and single _, 32 at most`,
      );
    }
    return new McpServer(name, config, bounds, identity);
  });
  let seen: readonly (readonly Tool<never>[])[] = [];
  let offered: readonly Tool<never>[] = [];
  return {
    tools() {
      const lists = all.map((server) => server.tools);
      if (lists.some((list, index) => list !== seen[index])) {
        seen = lists;
        offered = withoutDoubles(lists.flat());
      }
      return offered;
    },
    servers: () => all.map((server) => server.info()),
    async close() {
      await Promise.all(all.map((server) => server.close()));
    },
  };
}

function withoutDoubles(tools: readonly Tool<never>[]): readonly Tool<never>[] {
  const names = new Set<string>();
  return tools.filter(({ name }) => !names.has(name) && names.add(name));
}

/** A server that is kept connected. */
class McpServer {
  readonly #name: string;
  readonly #config: McpServerConfig;
  readonly #limits: McpLimits;
  readonly #identity: McpToolsOptions["identity"];
  #tools: readonly Tool<never>[] = [];
  #connection: McpConnection | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #problem: string | undefined;
  #isClosed = false;

  constructor(
    name: string,
    config: McpServerConfig,
    limits: McpLimits,
    identity: McpToolsOptions["identity"],
  ) {
    this.#name = name;
    this.#config = config;
    this.#limits = limits;
    this.#identity = identity;
    void this.#connect();
  }

  /** The same list as long as nothing changes. */
  get tools(): readonly Tool<never>[] {
    return this.#tools;
  }

  info(): ReturnType<ToolSource["servers"]>[number] {
    const state =
      this.#connection !== undefined ? "ready" : this.#problem === undefined ? "connecting" : "failed";
    return {
      name: this.#name,
      transport: "url" in this.#config ? "http" : "stdio",
      state,
      tools: this.#tools.length,
      ...(state === "failed" && this.#problem !== undefined ? { problem: this.#problem } : {}),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#connecting;
    await this.#connection?.close();
    this.#lost("closed");
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    clearTimeout(this.#retry);
    const connection: McpConnection = new McpConnection(this.#config, this.#limits, {
      listChanged: () => void this.#refresh(connection),
      closed: (said) => {
        if (this.#connection === connection) this.#lost(said === "" ? "The server has ended" : said);
      },
      identity: this.#identity,
    });
    try {
      const listed = await connection.open();
      if (this.#isClosed) {
        await connection.close();
        return;
      }
      this.#connection = connection;
      this.#failures = 0;
      this.#problem = undefined;
      this.#offer(listed);
    } catch (error) {
      // The file names it, so it stays refused until the file is changed.
      if (error instanceof OwnServer) this.#isClosed = true;
      this.#lost(error instanceof Error ? error.message : String(error));
    }
  }

  async #refresh(connection: McpConnection): Promise<void> {
    try {
      const listed = await connection.list();
      if (this.#connection === connection) this.#offer(listed);
    } catch {
      // The list stays as it was; a connection that is broken says so itself.
    }
  }

  #offer(listed: readonly ListedTool[]): void {
    const { allow = ["*"], deny = [] } = this.#config.tools ?? {};
    const server = { name: this.#name, config: this.#config };
    const call = (name: string, input: unknown, context: ToolContext) => this.#call(name, input, context);
    this.#tools = listed
      .filter(({ name }) => matchesAny(allow, name) && !matchesAny(deny, name))
      .map((tool) => describeTool(server, tool, this.#limits, call))
      .filter((tool) => tool !== undefined);
  }

  /** Forgets the connection, and plans the next one. */
  #lost(problem: string): void {
    this.#connection = undefined;
    if (this.#tools.length > 0) this.#tools = [];
    this.#problem = problem.slice(0, 500);
    if (this.#isClosed) return;
    const { retryMs, longestRetryMs } = this.#limits;
    const pause = Math.min(longestRetryMs, retryMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#retry = setTimeout(() => void this.#connect(), pause).unref();
  }

  async #call(name: string, input: unknown, context: ToolContext): Promise<unknown> {
    for (let isAgain = false; ; isAgain = true) {
      const connection = this.#connection;
      if (connection === undefined)
        throw new Error(`The server ${this.#name} is not connected: ${this.#problem}`);
      try {
        return readResult(await connection.call(name, input, context), this.#limits.resultCharacters);
      } catch (error) {
        if (!(error instanceof NotSent) || isAgain) throw error;
        this.#lost(error.message);
        await this.#connect();
      }
    }
  }
}
