import { once } from "node:events";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { ToolsResponse } from "@parley/wire";
import { afterEach, describe, expect, it } from "vitest";
import { quickDemo, Workplace } from "./parley-process.js";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function workplace(config: object = quickDemo): Workplace {
  const place = new Workplace(config);
  ends.push(() => place.remove());
  return place;
}

/** Returns `parley mcp` as a program that uses tools starts it. */
function started(place: Workplace, env: Record<string, string> = {}) {
  const [command, args] = place.command("mcp");
  return { command, args, cwd: place.folder, env: { ...(place.env as Record<string, string>), ...env } };
}

interface Called {
  readonly isError?: boolean;
  readonly structuredContent?: { readonly [field: string]: unknown };
}

async function connected(generation: string, place: Workplace, env: Record<string, string> = {}) {
  const isOld = generation === "sdk 1";
  const newer = new Client(
    { name: "test", version: "1" },
    generation === "client 2" ? {} : { versionNegotiation: { mode: "auto" } },
  );
  const older = new OldClient({ name: "test", version: "1" });
  const client = isOld ? older : newer;
  ends.push(() => client.close());
  if (isOld) await older.connect(new OldStdioTransport(started(place, env)));
  else await newer.connect(new StdioClientTransport(started(place, env)));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name: string, input: object, onprogress?: (step: unknown) => void) => {
      const options = onprogress === undefined ? {} : { onprogress };
      const params = { name, arguments: { ...input } };
      const result = isOld
        ? await older.callTool(params, undefined, options)
        : await newer.callTool(params, options as object);
      return result as Called;
    },
  };
}

const allTools = [
  "search_conversations",
  "list_conversations",
  "read_conversation",
  "send_message",
  "stop_turn",
];

describe.each(["sdk 1", "client 2", "client 2, newest revision"])(
  "parley mcp, to %s",
  { timeout: 120_000 },
  (generation) => {
    it("opens the store where no server runs, and leaves it when its client goes", async () => {
      const place = workplace();
      const client = await connected(generation, place);
      expect(await client.names()).toEqual(allTools);
      const sent = await client.call("send_message", { message: "hello there", conversationId: "c" });
      expect(sent.structuredContent).toMatchObject({ status: "done", conversationId: "c" });
      await ends.pop()?.();
      // The store is free again: this opens it.
      expect(await place.ok(["show", "c"])).toContain("hello there");
    });
  },
);

describe("parley mcp", { timeout: 120_000 }, () => {
  it("asks the server that runs, with the scopes of its key, and passes progress and refusals on", async () => {
    const place = workplace();
    const server = await place.serve();
    const all = await connected("client 2", place);
    const progress: unknown[] = [];
    await all.call("send_message", { message: "hello", conversationId: "c" }, (step) => progress.push(step));
    expect(progress.length).toBeGreaterThan(0);
    const refused = await all.call("read_conversation", { id: "unknown" });
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "conversation_not_found" } },
    });
    const { secret } = await place.json<{ secret: string }>("keys", "create", "--scopes", "read");
    const env = { PARLEY_URL: server.url, PARLEY_API_KEY: secret };
    expect(await (await connected("sdk 1", place, env)).names()).toEqual(allTools.slice(0, 3));
    const wrong = await place.parley(["mcp"], { env: { ...env, PARLEY_API_KEY: "pk_wrong" } });
    expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
    expect(wrong.stderr).toMatch(/key/i);
    await server.end();
  });

  it("writes nothing but messages to its output, and ends with its input", async () => {
    const place = workplace();
    const child = place.start(["mcp"]);
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const clientInfo = { name: "t", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    child.stdin?.write("this is no message\n");
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    while (!output.includes("\n")) await once(child.stdout ?? child, "data");
    const closed = once(child, "close");
    child.stdin?.end();
    expect(await closed).toEqual([0, null]);
    const messages = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { jsonrpc: string });
    expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
  });
});

describe("a Parley among its own MCP servers", { timeout: 120_000 }, () => {
  const servers = async (url: string) => {
    const answer = (await (await fetch(`${url}/tools`)).json()) as ToolsResponse;
    return Object.fromEntries(
      (answer.servers ?? []).map(({ name, state, problem }) => [name, { state, problem }]),
    );
  };
  const settled = async (url: string) => {
    await expect
      .poll(async () => Object.values(await servers(url)).map(({ state }) => state), { timeout: 60_000 })
      .not.toContain("connecting");
    return servers(url);
  };

  it("is refused over both transports, and another Parley is not", async () => {
    const other = workplace();
    const first = await other.serve();
    const place = workplace();
    const [command, args] = place.command("mcp");
    const [, otherArgs] = other.command("--config", `${other.folder}/parley.config.json`, "mcp");
    const port = 20_000 + (process.pid % 20_000);
    place.write("parley.config.json", {
      ...quickDemo,
      mcpServers: {
        self: { url: `http://127.0.0.1:${port}/mcp` },
        child: { command, args, cwd: place.folder, env: place.env },
        other: { url: `${first.url}/mcp` },
        otherchild: { command, args: otherArgs, cwd: other.folder, env: other.env },
      },
    });
    const server = await place.serve(["--port", String(port)]);
    // The server over HTTP answers after the first attempt to connect, so that is repeated.
    const own = { state: "failed", problem: expect.stringContaining("Parley itself") };
    await expect
      .poll(() => servers(server.url), { timeout: 60_000 })
      .toMatchObject({ self: own, child: own });
    expect(await settled(server.url)).toMatchObject({
      other: { state: "ready" },
      otherchild: { state: "ready" },
    });
    await server.end();
    await first.end();
  });

  it("answers where its own configuration names it", async () => {
    const place = workplace();
    const [command, args] = place.command("mcp");
    place.write("parley.config.json", {
      ...quickDemo,
      mcpServers: { child: { command, args, cwd: place.folder, env: place.env } },
    });
    const client = await connected("client 2", place);
    const sent = await client.call("send_message", { message: "hello", conversationId: "c" });
    expect(sent.structuredContent).toMatchObject({ status: "done" });
  });
});
