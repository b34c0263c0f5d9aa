import { Client, type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterEach } from "vitest";
import type { TestServer } from "../../test-server.test-support.js";

/** Data that the tools return, all together. */
export interface CallData {
  readonly conversationId: string;
  readonly messageId: string;
  readonly turnId: string;
  readonly status: string;
  readonly text: string;
  readonly hits: readonly object[];
  readonly conversations: readonly object[];
  readonly entries: readonly { readonly seq: number; readonly role: string; readonly text: string }[];
  readonly latestSeq: number;
  readonly earlier: boolean;
  readonly later: boolean;
}

/** A result as tests read it. */
export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
  readonly data: CallData;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string }) => void;
}

/** The part of a client that both generations of the SDK have. */
export interface McpTestClient {
  tools(): Promise<
    readonly { readonly name: string; readonly annotations?: { readonly readOnlyHint?: boolean } }[]
  >;
  call(name: string, input: object, options?: CallOptions): Promise<CallResult>;
  readonly capabilities: { readonly experimental?: Record<string, unknown> } | undefined;
}

/** The clients of the official SDKs: by revision of the protocol, as they come. */
export const generations = ["sdk 1", "client 2", "client 2, newest revision"] as const;

export type Generation = (typeof generations)[number];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

/** Connects a client to the face; it is closed by itself after the test. */
export async function connectClient(
  server: Pick<TestServer, "url">,
  generation: Generation,
  { key, fetch }: { readonly key?: string; readonly fetch?: FetchLike } = {},
): Promise<McpTestClient> {
  const url = new URL(`${server.url}/mcp`);
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const options = { requestInit: { headers }, ...(fetch === undefined ? {} : { fetch }) };
  if (generation === "sdk 1") {
    const client = new OldClient({ name: "test", version: "1" });
    open.push(client);
    await client.connect(new OldTransport(url, options) as Parameters<OldClient["connect"]>[0]);
    return {
      tools: async () => (await client.listTools()).tools as never,
      call: async (name, input, more = {}) =>
        toResult(await client.callTool({ name, arguments: { ...input } }, undefined, more as object)),
      capabilities: client.getServerCapabilities() as McpTestClient["capabilities"],
    };
  }
  const client = new Client(
    { name: "test", version: "1" },
    generation === "client 2" ? {} : { versionNegotiation: { mode: "auto" } },
  );
  open.push(client);
  await client.connect(new StreamableHTTPClientTransport(url, options));
  return {
    tools: async () => (await client.listTools()).tools as never,
    call: async (name, input, more = {}) =>
      toResult(await client.callTool({ name, arguments: { ...input } }, more as object)),
    capabilities: client.getServerCapabilities() as McpTestClient["capabilities"],
  };
}

function toResult(result: object): CallResult {
  const {
    content,
    structuredContent,
    isError = false,
  } = result as {
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent: CallData;
    readonly isError?: boolean;
  };
  return { isError, text: content.map(({ text }) => text).join("\n"), data: structuredContent };
}
