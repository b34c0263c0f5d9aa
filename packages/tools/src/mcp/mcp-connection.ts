import { setTimeout as delay } from "node:timers/promises";
import {
  type CallToolResult,
  Client,
  type Tool as ListedTool,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { storeCapability, type ToolContext, type ToolQuestion } from "@parley/core/turn";
import { boundedFetch, withCallEnd } from "./bounded-fetch.js";
import type { McpLimits } from "./mcp-limits.js";
import { authorizedFetch, type OwnerTokens } from "./oauth/authorized-fetch.js";
import { NeedsLogin } from "./oauth/login-error.js";
import type { McpServerConfig } from "./server-config.js";

/** Maximum characters kept of a process's error output, for diagnosis. */
const errorCharacters = 2_000;

/** Milliseconds to wait for the error output of a process after its end: it may arrive later than the end. */
const errorsMs = 1_000;

/** A call whose server was gone before it received it: it may be retried. */
export class NotSent extends Error {}

/** Thrown if the server offers the conversations of the same store that its tools would be used for. */
export class OwnServer extends Error {
  constructor() {
    super(
      "This server is Parley itself, on the same store: its tools would call each other; remove it from mcpServers",
    );
    this.name = "OwnServer";
  }
}

/** The scope that a connection serves, and the callbacks for its changes. */
export interface ConnectionScope {
  readonly listChanged: () => void;
  readonly closed: (why: string) => void;
  /** Identifies the store that the tools are used for. */
  readonly identity?: (() => Promise<string>) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** The tokens of the owner that it is for, if owners log in at the server. */
  readonly tokens?: OwnerTokens | undefined;
}

/** One connection to a server: from its start to its first failure, never reused after that. */
export class McpConnection {
  readonly #client: Client;
  readonly #limits: McpLimits;
  readonly #config: McpServerConfig;
  readonly #on: ConnectionScope;
  /** The calls in progress, by the conversations that they belong to. */
  readonly #calls = new Set<ToolContext>();
  #errors = "";
  #errorsEnd: Promise<unknown> = Promise.resolve();
  #isOpen = false;

  constructor(config: McpServerConfig, limits: McpLimits, on: ConnectionScope) {
    this.#config = config;
    this.#on = on;
    this.#limits = limits;
    this.#client = new Client(
      { name: "parley", version: "1" },
      {
        capabilities: { elicitation: { form: {} } },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: limits.listMs, onChanged: () => on.listChanged() },
        },
      },
    );
    this.#client.onclose = () => {
      if (this.#isOpen) on.closed(this.#errors.trim().split("\n").at(-1) ?? "");
      this.#isOpen = false;
    };
    this.#client.onerror = () => undefined;
    this.#client.setRequestHandler("elicitation/create", ({ params }) => this.#ask(params));
  }

  /** Connects and reads the list of tools. A failure leaves nothing behind. */
  async open(): Promise<readonly ListedTool[]> {
    try {
      await this.#client.connect(this.#transport(), { timeout: this.#limits.connectMs });
      await this.#refuseOwn();
      this.#isOpen = true;
      return await this.list();
    } catch (error) {
      await this.close();
      if (error instanceof OwnServer || error instanceof NeedsLogin) throw error;
      await Promise.race([this.#errorsEnd, delay(errorsMs, undefined, { ref: false })]);
      const said = this.#errors.trim().split("\n").at(-1) ?? "";
      throw new Error(said === "" ? messageOf(error) : `${messageOf(error)}: ${said}`, { cause: error });
    }
  }

  async #refuseOwn(): Promise<void> {
    const store = this.#client.getServerCapabilities()?.experimental?.[storeCapability] as
      | { readonly id?: unknown }
      | undefined;
    if (store?.id !== undefined && store.id === (await this.#on.identity?.())) throw new OwnServer();
  }

  /** Reads the tools, page by page, up to the maximum number. */
  async list(): Promise<readonly ListedTool[]> {
    const tools: ListedTool[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: this.#limits.connectMs,
      });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < this.#limits.tools);
    return tools.slice(0, this.#limits.tools);
  }

  /** Calls a tool. Progress goes to the turn's subscribers; a stop cancels the call on the server. */
  async call(name: string, input: unknown, context: ToolContext): Promise<CallToolResult> {
    const own = new AbortController();
    const signal = AbortSignal.any([context.signal, own.signal]);
    this.#calls.add(context);
    const request = () =>
      this.#client.callTool(
        { name, arguments: input as Record<string, unknown> },
        {
          signal,
          timeout: this.#config.timeoutMs ?? this.#limits.callMs,
          maxTotalTimeout: this.#limits.longestCallMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, total, message }) => {
            const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
            context.output(`${message ?? count}\n`);
          },
        },
      );
    try {
      return (await withCallEnd((error) => own.abort(error), request)) as CallToolResult;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof NeedsLogin) throw error;
      if (isUnknownSession(error)) {
        void this.close();
        throw new NotSent("The server has lost this connection", { cause: error });
      }
      throw new Error(failureText(error), { cause: error });
    } finally {
      this.#calls.delete(context);
    }
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#client.close().catch(() => undefined);
  }

  #transport(): Transport {
    const config = this.#config;
    if ("url" in config) {
      const { tokens, fetch } = this.#on;
      const bounded = boundedFetch(this.#limits.answerBytes, fetch);
      return new StreamableHTTPClientTransport(new URL(config.url), {
        requestInit: { headers: { ...config.headers } },
        fetch: tokens === undefined ? bounded : authorizedFetch(bounded, config.url, tokens),
      });
    }
    const { command, args = [], env, cwd } = config;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      stderr: "pipe",
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    const { stderr } = transport;
    stderr?.on("data", (data: Buffer) => {
      this.#errors = (this.#errors + data.toString("utf8")).slice(-errorCharacters);
    });
    if (stderr !== null) this.#errorsEnd = new Promise((resolve) => stderr.once("end", resolve));
    return transport;
  }

  /**
   * Asks the user a question of the server, for the running call. With calls of several conversations in
   * progress it is unknown whose question it is: then it is canceled, because one user must not answer for
   * another.
   */
  async #ask(params: { readonly message: string; readonly requestedSchema?: unknown }) {
    const [context, ...others] = this.#calls;
    const isClear = others.every(({ conversationId }) => conversationId === context?.conversationId);
    if (context?.ask === undefined || !isClear || params.requestedSchema === undefined) {
      return { action: "cancel" as const };
    }
    const answer = await context.ask({
      message: params.message.slice(0, this.#limits.descriptionCharacters),
      schema: params.requestedSchema as NonNullable<ToolQuestion["schema"]>,
    });
    if (answer.status === "declined") return { action: "decline" as const };
    if (answer.status === "canceled") return { action: "cancel" as const };
    return { action: "accept" as const, content: answer.value as Record<string, string> };
  }
}

/** Returns true if a restarted HTTP server does not know the session: the call did not reach it. */
function isUnknownSession(error: unknown): boolean {
  return error instanceof SdkHttpError && error.data?.status === 404;
}

function failureText(error: unknown): string {
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return "The server did not answer in time";
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected) {
      return "The server ended while the call ran; it may or may not have taken effect";
    }
  }
  return messageOf(error);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 500);
}
