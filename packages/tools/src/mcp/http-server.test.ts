import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Tool, ToolContext, ToolSource } from "@parley/core/turn";
import { afterEach, describe, expect, it } from "vitest";
import type { McpLimits } from "./mcp-limits.js";
import { createMcpTools } from "./mcp-tools.js";

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server of the official SDK, with sessions, which records its requests. */
class HttpToolServer {
  readonly requests: { readonly method: string; readonly authorization: string | undefined }[] = [];
  readonly #sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly #http: Server;
  calls = 0;
  redirectTo: string | undefined;
  /** The id of the store that it claims to serve as a Parley server. */
  store: string | undefined;

  constructor() {
    this.#http = createServer((request, response) => void this.#handle(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    ends.push(() => {
      this.#http.closeAllConnections();
      this.#http.close();
    });
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  /** Drops all sessions, as after a restart. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push({ method: request.method ?? "", authorization: request.headers.authorization });
    if (this.redirectTo !== undefined) {
      response.writeHead(307, { location: this.redirectTo }).end();
      return;
    }
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const known = this.#sessions.get(id);
      if (known === undefined) response.writeHead(404).end("no such session");
      else await known.handleRequest(request, response);
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void this.#sessions.set(session, transport),
    });
    const experimental = this.store === undefined ? {} : { "parley/store": { id: this.store } };
    const server = new McpServer({ name: "http", version: "1" }, { capabilities: { experimental } });
    const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
    server.registerTool("count", { description: "Counts its calls" }, async () => {
      this.calls += 1;
      return text(String(this.calls));
    });
    server.registerTool("huge", { description: "Sends 40 MB" }, async () => text("x".repeat(40_000_000)));
    await server.connect(transport as Parameters<McpServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  }
}

function connect(url: string, headers = {}, limits: Partial<McpLimits> = {}): ToolSource {
  const source = createMcpTools({ servers: { web: { url, headers } }, limits: { retryMs: 10, ...limits } });
  ends.push(() => source.close());
  return source;
}

async function call(source: ToolSource, name: string): Promise<unknown> {
  await expect.poll(() => source.servers()[0]?.state).toBe("ready");
  const tool = source.tools("me").find((each) => each.name === `web__${name}`) as Tool<never>;
  const context: ToolContext = {
    conversationId: "c",
    turnId: "t",
    stepId: "t.0",
    toolCallId: "call",
    signal: new AbortController().signal,
    output: () => {},
  };
  return ((await tool.execute({} as never, context)) as { content: unknown }).content;
}

describe("tools of a server over HTTP", () => {
  it("answer, with the headers of the file on every request", async () => {
    const server = new HttpToolServer();
    const source = connect(await server.start(), { authorization: "Bearer its-own" });
    expect(await call(source, "count")).toBe("1");
    expect(source.servers()[0]).toMatchObject({ transport: "http", state: "ready", tools: 2 });
    expect(server.requests.every(({ authorization }) => authorization === "Bearer its-own")).toBe(true);
  });

  it("continue, called once, after the server was restarted and lost the session", async () => {
    const server = new HttpToolServer();
    const source = connect(await server.start());
    expect(await call(source, "count")).toBe("1");
    server.forgetSessions();
    expect(await call(source, "count")).toBe("2");
    expect(server.calls).toBe(2);
  });

  it("that send too much are cut off within bounded memory, and the server stays connected", async () => {
    const server = new HttpToolServer();
    const source = connect(await server.start());
    await expect(call(source, "huge")).rejects.toThrow("more than 8388608 bytes");
    expect(await call(source, "count")).toBe("1");
  });

  it("are absent if the server redirects: its headers are for one address", async () => {
    const other = new HttpToolServer();
    const server = new HttpToolServer();
    server.redirectTo = await other.start();
    const source = connect(await server.start(), { authorization: "Bearer its-own" }, { retryMs: 60_000 });
    await expect.poll(() => source.servers()[0]?.state).toBe("failed");
    expect(source.servers()[0]?.problem).toContain("redirects");
    expect(other.requests).toEqual([]);
  });

  it("are refused permanently if the server is a Parley on the same store, and accepted from one on another", async () => {
    const server = new HttpToolServer();
    server.store = "store-1";
    const url = await server.start();
    const parley = (store: string) => {
      const source = createMcpTools({
        servers: { web: { url } },
        limits: { retryMs: 1, longestRetryMs: 1 },
        identity: async () => store,
      });
      ends.push(() => source.close());
      return source;
    };
    const own = parley("store-1");
    await expect.poll(() => own.servers()[0]?.state).toBe("failed");
    expect(own.servers()[0]?.problem).toContain("Parley itself");
    expect(own.tools("me")).toEqual([]);
    expect(await call(parley("store-2"), "count")).toBe("1");
    expect(await call(connect(url), "count")).toBe("2");
    // It is not tried again: at this retry interval it would have been, and would now succeed.
    server.store = undefined;
    expect(await call(connect(url), "count")).toBe("3");
    expect(own.servers()[0]?.state).toBe("failed");
  });

  it("are absent while no server listens, and appear when one does", async () => {
    const source = connect("http://127.0.0.1:9/mcp", {}, { retryMs: 60_000 });
    await expect.poll(() => source.servers()[0]?.state).toBe("failed");
    expect(source.tools("me")).toEqual([]);
  });
});
