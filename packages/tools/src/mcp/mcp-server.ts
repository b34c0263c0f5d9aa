import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import type { Tool, ToolContext, ToolSource } from "@parley/core/turn";
import { readResult } from "./call-result.js";
import { describeTool } from "./described-tool.js";
import { McpConnection, NotSent, OwnServer } from "./mcp-connection.js";
import type { McpLimits } from "./mcp-limits.js";
import type { OwnerTokens } from "./oauth/authorized-fetch.js";
import { NeedsLogin } from "./oauth/login-error.js";
import type { McpServerConfig } from "./server-config.js";
import { matchesAny } from "./tool-names.js";

export type ServerInfo = ReturnType<ToolSource["servers"]>[number];

/** The scope that a server is connected for. */
export interface ServerScope {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly limits: McpLimits;
  /** Identifies the store that the tools are used for. */
  readonly identity?: (() => Promise<string>) | undefined;
  /** Sends the requests to servers over HTTP. */
  readonly fetch?: typeof fetch | undefined;
  /** The owner that it is for, and that owner's tokens, if owners log in at the server. */
  readonly owner?: string | undefined;
  readonly tokens?: OwnerTokens | undefined;
}

/** A server that is kept connected. */
export class McpServer {
  readonly #scope: ServerScope;
  #tools: readonly Tool<never>[] = [];
  #connection: McpConnection | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #problem: string | undefined;
  #isClosed = false;
  #needsLogin = false;

  constructor(scope: ServerScope) {
    this.#scope = scope;
    void this.#connect();
  }

  /** Returns the same array as long as nothing changes. */
  get tools(): readonly Tool<never>[] {
    return this.#tools;
  }

  info(): ServerInfo {
    const state = this.#state();
    return {
      name: this.#scope.name,
      transport: "url" in this.#scope.config ? "http" : "stdio",
      state,
      tools: this.#tools.length,
      ...(state === "failed" && this.#problem !== undefined ? { problem: this.#problem } : {}),
    };
  }

  #state(): "ready" | "connecting" | "failed" | "unconnected" {
    if (this.#connection !== undefined) return "ready";
    if (this.#needsLogin) return "unconnected";
    return this.#problem === undefined ? "connecting" : "failed";
  }

  /** Resolves when the first attempt to connect is over, however it ended. */
  async tried(): Promise<void> {
    await this.#connecting;
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
    const { config, limits, identity, fetch, tokens } = this.#scope;
    const connection: McpConnection = new McpConnection(config, limits, {
      listChanged: () => void this.#refresh(connection),
      closed: (said) => {
        if (this.#connection === connection) this.#lost(said === "" ? "The server has ended" : said);
      },
      identity,
      fetch,
      tokens,
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
      // The configuration names it, so it stays refused until the configuration changes; a login creates a
      // new server.
      if (error instanceof OwnServer || error instanceof NeedsLogin) this.#isClosed = true;
      this.#needsLogin = error instanceof NeedsLogin;
      this.#lost(error instanceof Error ? error.message : String(error));
    }
  }

  async #refresh(connection: McpConnection): Promise<void> {
    try {
      const listed = await connection.list();
      if (this.#connection === connection) this.#offer(listed);
    } catch {
      // The list stays as it was; a broken connection reports itself.
    }
  }

  #offer(listed: readonly ListedTool[]): void {
    const { allow = ["*"], deny = [] } = this.#scope.config.tools ?? {};
    const server = this.#scope;
    const call = (name: string, input: unknown, context: ToolContext) => this.#call(name, input, context);
    this.#tools = listed
      .filter(({ name }) => matchesAny(allow, name) && !matchesAny(deny, name))
      .map((tool) => describeTool(server, tool, this.#scope.limits, call))
      .filter((tool) => tool !== undefined);
  }

  /** Closes a connection whose login has ended: it is useless until its owner logs in again. */
  async #leave(connection: McpConnection): Promise<void> {
    this.#isClosed = true;
    this.#needsLogin = true;
    this.#lost("The login has ended");
    await connection.close();
  }

  /** Drops the connection, and schedules the next one. */
  #lost(problem: string): void {
    this.#connection = undefined;
    if (this.#tools.length > 0) this.#tools = [];
    this.#problem = problem.slice(0, 500);
    if (this.#isClosed) return;
    const { retryMs, longestRetryMs } = this.#scope.limits;
    const pause = Math.min(longestRetryMs, retryMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#retry = setTimeout(() => void this.#connect(), pause).unref();
  }

  async #call(name: string, input: unknown, context: ToolContext): Promise<unknown> {
    const { owner } = this.#scope;
    // Lists of tools belong to one owner; if one reached another owner's turn, its login still would not.
    if (owner !== undefined && context.owner !== owner) throw new Error("This tool belongs to another owner");
    for (let isAgain = false; ; isAgain = true) {
      const connection = this.#connection;
      if (connection === undefined)
        throw new Error(`The server ${this.#scope.name} is not connected: ${this.#problem}`);
      try {
        return readResult(await connection.call(name, input, context), this.#scope.limits.resultCharacters);
      } catch (error) {
        if (error instanceof NeedsLogin) await this.#leave(connection);
        if (!(error instanceof NotSent) || isAgain) throw error;
        this.#lost(error.message);
        await this.#connect();
      }
    }
  }
}
