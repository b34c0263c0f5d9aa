import { fileURLToPath } from "node:url";
import type { Tool, ToolAnswer, ToolContext, ToolSource } from "@parley/core/turn";
import { afterEach, describe, expect, it } from "vitest";
import type { McpLimits } from "./mcp-limits.js";
import { createMcpTools } from "./mcp-tools.js";
import type { McpServerConfig } from "./server-config.js";

const script = fileURLToPath(new URL("./test-server.test-support.mjs", import.meta.url));

const started: ToolSource[] = [];
afterEach(async () => {
  for (const source of started.splice(0)) await source.close();
});

function start(
  more: Partial<McpServerConfig> = {},
  { mode = "", limits = {} }: { mode?: string; limits?: Partial<McpLimits> } = {},
): ToolSource {
  const server = { command: process.execPath, args: [script, mode], ...more } as McpServerConfig;
  const source = createMcpTools({ servers: { test: server }, limits });
  started.push(source);
  return source;
}

async function ready(source: ToolSource): Promise<ReadonlyMap<string, Tool<never>>> {
  await expect.poll(() => source.servers()[0]?.state).toBe("ready");
  return new Map(source.tools("me").map((tool) => [tool.name, tool]));
}

const stateOf = (source: ToolSource) => source.servers()[0];

function context(given: Partial<ToolContext> = {}): ToolContext {
  return {
    conversationId: "c1",
    turnId: "t1",
    stepId: "t1.0",
    toolCallId: "call",
    signal: new AbortController().signal,
    output: () => {},
    ...given,
  };
}

async function call(
  source: ToolSource,
  name: string,
  input: unknown = {},
  given: Partial<ToolContext> = {},
): Promise<{ content: unknown; isError?: boolean }> {
  const tool = (await ready(source)).get(`test__${name}`);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return (await tool.execute(input as never, context(given))) as { content: unknown; isError?: boolean };
}

describe("tools of a server that is a process", () => {
  it("are listed with its name as prefix, and return results", async () => {
    const source = start();
    const tools = await ready(source);
    expect(tools.get("test__echo")).toMatchObject({
      description: "[test] Says it again",
      origin: "mcp",
      schema: { type: "object", properties: { text: { type: "string" } } },
    });
    expect(tools.get("test__echo")?.schema).not.toHaveProperty("$schema");
    expect(await call(source, "echo", { text: "hello" })).toMatchObject({ content: "hello", isError: false });
    expect(stateOf(source)).toEqual({ name: "test", transport: "stdio", state: "ready", tools: tools.size });
  });

  it("have names and descriptions that every provider accepts, without hidden characters", async () => {
    const source = start();
    for (const { name, description = "" } of (await ready(source)).values()) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(description.length).toBeLessThanOrEqual(4_000);
      expect(description).not.toMatch(/[\p{Cf}\p{Cc}]/u);
    }
  });

  it("require approval by their annotations, and less only with trust", async () => {
    const policies = async (more: Partial<McpServerConfig>) => {
      const tools = await ready(start(more));
      const of = (name: string) => [
        tools.get(`test__${name}`)?.approval,
        tools.get(`test__${name}`)?.recovery,
      ];
      return { echo: of("echo"), slow: of("slow"), fail: of("fail") };
    };
    expect(await policies({})).toEqual({
      echo: ["once", "fail"],
      slow: ["once", "fail"],
      fail: ["always", "fail"],
    });
    expect(await policies({ trust: true })).toEqual({
      echo: ["never", "retry"],
      slow: ["once", "retry"],
      fail: ["always", "fail"],
    });
    expect((await policies({ approval: "always" })).echo[0]).toBe("always");
  });

  it("are those that the configuration allows", async () => {
    const tools = await ready(start({ tools: { allow: ["e*", "fail"], deny: ["env*"] } }));
    expect([...tools.keys()].sort()).toEqual(["test__echo", "test__fail"]);
  });

  it("see of this process's environment only what every program needs and what the configuration names", async () => {
    process.env.PARLEY_TEST_SECRET = "secret";
    const { content } = await call(
      start({ env: { COLOUR: "green" } } as Partial<McpServerConfig>),
      "environment",
    );
    delete process.env.PARLEY_TEST_SECRET;
    expect(String(content).split(" ")).toContain("COLOUR");
    expect(content).not.toContain("PARLEY_TEST_SECRET");
  });

  it("return their failures, files and data as text", async () => {
    const source = start();
    expect(await call(source, "fail")).toMatchObject({ content: "It went wrong", isError: true });
    expect(await call(source, "data")).toMatchObject({ content: '{"sum":3}' });
    const picture = await call(source, "picture");
    expect(picture.content).toBe(
      "[image image/png, 20 bytes]\n[link more: http://169.254.169.254/secret]\nfile:///notes.txt\nNotes",
    );
    expect(picture).toMatchObject({
      files: [{ mediaType: "image/png", data: Buffer.from("not really a picture") }],
    });
  });

  it("are cut if they return too much, and report it", async () => {
    const source = start({}, { limits: { resultCharacters: 100 } });
    const { content } = await call(source, "large", { bytes: 1_000 });
    expect(content).toBe(`${"x".repeat(100)}\n[cut: 900 of 1000 characters are left out]`);
  });

  it("report progress, and are canceled on the server when a turn is stopped", async () => {
    const source = start();
    const stop = new AbortController();
    const said: string[] = [];
    const running = call(source, "slow", {}, { signal: stop.signal, output: (data) => said.push(data) });
    await expect.poll(() => said.length).toBeGreaterThan(2);
    expect(said[0]).toMatch(/^part \d+\n$/);
    stop.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
    expect(await call(source, "echo", { text: "still there" })).toMatchObject({ content: "still there" });
  });

  it("that do not answer in time fail, and the server stays", async () => {
    const source = start({ timeoutMs: 200 });
    const silent = call(source, "ask", {}, { ask: () => new Promise<ToolAnswer>(() => {}) });
    await expect(silent).rejects.toThrow("The server did not answer in time");
    expect(await call(source, "echo", { text: "on" })).toMatchObject({ content: "on" });
  });

  it("ask the user of the call that runs", async () => {
    const source = start();
    const asked: unknown[] = [];
    const answering = (answer: ToolAnswer) => (question: unknown) => {
      asked.push(question);
      return Promise.resolve(answer);
    };
    const answered = { status: "answered", value: { colour: "green" } } as const;
    expect((await call(source, "ask", {}, { ask: answering(answered) })).content).toBe("You like green");
    expect(asked[0]).toMatchObject({ message: "Which colour?", schema: { required: ["colour"] } });
    expect((await call(source, "ask", {}, { ask: answering({ status: "declined" }) })).content).toBe(
      "decline",
    );
    expect((await call(source, "ask")).content).toBe("cancel");
  });

  it("ask no user while calls of several conversations run: the question could be for any of them", async () => {
    const source = start();
    const stop = new AbortController();
    const other = call(source, "slow", {}, { conversationId: "c2", signal: stop.signal });
    let asked = 0;
    const ask = () => {
      asked += 1;
      return Promise.resolve<ToolAnswer>({ status: "answered", value: { colour: "red" } });
    };
    expect((await call(source, "ask", {}, { ask })).content).toBe("cancel");
    expect(asked).toBe(0);
    stop.abort();
    await expect(other).rejects.toThrow();
  });

  it("change with the server's list, and keep their list while nothing changes", async () => {
    const source = start({}, { limits: { listMs: 10 } });
    await ready(source);
    const before = source.tools("me");
    expect(source.tools("me")).toBe(before);
    await call(source, "more");
    await expect.poll(() => source.tools("me").map(({ name }) => name)).toContain("test__added");
    expect(source.tools("me").map(({ name }) => name)).not.toContain("test__more");
  });
});

describe("a server that fails", () => {
  it.each([
    ["cannot be started", { command: "/does/not/exist", args: [] }, "", /ENOENT/, 30_000],
    ["ends at once", {}, "exit", /cannot read its configuration/, 30_000],
    ["never answers", {}, "silent", /./, 300],
  ])(
    "because it %s has no tools, reports the reason, and blocks nothing",
    async (_, more, mode, why, connectMs) => {
      const source = start(more, { mode, limits: { connectMs, retryMs: 60_000 } });
      expect(source.tools("me")).toEqual([]);
      await expect.poll(() => stateOf(source)?.state).toBe("failed");
      expect(stateOf(source)?.problem).toMatch(why);
    },
  );

  it("in the middle of a call gives that call one result, and is started again", async () => {
    const source = start({}, { limits: { retryMs: 10 } });
    const other = call(source, "slow");
    other.catch(() => undefined);
    await expect(call(source, "die")).rejects.toThrow("it may or may not have taken effect");
    await expect(other).rejects.toThrow("it may or may not have taken effect");
    await expect.poll(() => source.servers()[0]?.state).toBe("ready");
    expect(await call(source, "echo", { text: "again" })).toMatchObject({ content: "again" });
  });

  it("with a message that is too large is started again, and other junk does no harm", async () => {
    const source = start({}, { mode: "junk", limits: { retryMs: 10 } });
    await expect(call(source, "large", { bytes: 12 * 2 ** 20 })).rejects.toThrow();
    await expect.poll(() => source.servers()[0]?.state).toBe("ready");
    expect(await call(source, "echo", { text: "again" })).toMatchObject({ content: "again" });
  });
});

describe("names of servers", () => {
  it.each(["", "a b", "a__b", "ä", "x".repeat(33)])("%j is refused", (name) => {
    expect(() => createMcpTools({ servers: { [name]: { command: "true" } } })).toThrow(/cannot be the name/);
  });
});
