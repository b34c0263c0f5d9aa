import {
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  text,
  toolCall,
} from "@parley/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { Tool } from "../turn/tools/tool.js";
import type { ToolSource } from "../turn/tools/tool-source.js";
import { createModelCatalog } from "./models.js";
import { createRuntime, type Runtime } from "./runtime.js";

const running: Runtime[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime.close();
});

const tool = (name: string, execute: () => unknown = () => "done"): Tool<never> => ({ name, execute });

/** A source whose list is set from outside. */
class GivenTools implements ToolSource {
  list: readonly Tool<never>[] = [];
  isClosed = false;
  tools = () => this.list;
  servers = () => [{ name: "given", transport: "stdio", state: "ready", tools: this.list.length }] as const;
  close = async () => {
    this.isClosed = true;
  };
}

async function start(toolSource: ToolSource, tools: readonly Tool<never>[], script: unknown[][]) {
  const provider = createScriptedProvider(script as Parameters<typeof createScriptedProvider>[0]);
  const runtime = await createRuntime({
    store: createMemoryLogStore({ clock: createManualClock() }),
    models: createModelCatalog([
      { provider, providerName: "scripted", name: "scripted/one", model: "one", contextWindow: 100_000 },
    ]),
    tools,
    toolSource,
  });
  running.push(runtime);
  const offered = () => provider.calls.map(({ params }) => params.tools?.map(({ name }) => name));
  return { runtime, me: runtime.forOwner("me"), offered };
}

describe("tools of a source", () => {
  it("are offered beside the node's own, whose names win, and are listed with their servers", async () => {
    const source = new GivenTools();
    source.list = [tool("own"), tool("given__a")];
    const { runtime, me, offered } = await start(source, [tool("own")], [[text("Hi.")]]);
    const { conversationId, turnId = "" } = await me.send({ message: "Hi" });
    await expect.poll(async () => (await me.turn(conversationId, turnId)).status).toBe("sealed");
    expect(offered()).toEqual([["own", "given__a"]]);
    const { tools, servers } = runtime.tools();
    expect(tools.map(({ name }) => name)).toEqual(["own", "given__a"]);
    expect(servers).toMatchObject([{ name: "given", tools: 2 }]);
    expect((await runtime.examine({ fix: false })).findings).toContainEqual(
      expect.objectContaining({ area: "tools", level: "ok", message: "MCP server given: 2 tools" }),
    );
    await runtime.close();
    expect(source.isClosed).toBe(true);
  });

  it("that change under a step take effect with the next one, and the manifest says that they broke the prefix", async () => {
    const source = new GivenTools();
    const change = tool("given__a", () => {
      source.list = [tool("given__b")];
      return "changed";
    });
    source.list = [change];
    const { me, offered } = await start(source, [], [[toolCall("given__a", {})], [text("Done.")]]);
    const { conversationId, turnId = "" } = await me.send({ message: "Go" });
    await expect.poll(async () => (await me.turn(conversationId, turnId)).status).toBe("sealed");
    expect(offered()).toEqual([["given__a"], ["given__b"]]);
    const { providerCalls } = await me.turn(conversationId, turnId);
    expect(providerCalls[1]?.manifest?.prefixBreak).toMatchObject({ at: "tools" });
  });

  it("are an owner's own where a server is, and are waited for when its turn begins", async () => {
    class OwnTools extends GivenTools {
      readonly connected = new Set<string>();
      readonly lists = new Map([
        ["ann", [tool("tracker__a")]],
        ["bob", [tool("tracker__b")]],
      ]);
      override tools = (owner = "") =>
        (this.connected.has(owner) ? this.lists.get(owner) : undefined) ?? this.list;
      async ready(owner: string) {
        await Promise.resolve();
        if (owner === "eve") throw new Error("the store is away");
        this.connected.add(owner);
      }
    }
    const source = new OwnTools();
    source.list = [tool("shared__x")];
    const { runtime, offered } = await start(source, [], [[text("Hi.")], [text("Hi.")], [text("Hi.")]]);
    for (const owner of ["ann", "bob", "eve"]) {
      const me = runtime.forOwner(owner);
      const { conversationId, turnId = "" } = await me.send({ message: "Hi" });
      await expect.poll(async () => (await me.turn(conversationId, turnId)).status).toBe("sealed");
    }
    expect(offered()).toEqual([["tracker__a"], ["tracker__b"], ["shared__x"]]);
    const names = async (owner: string) =>
      (await runtime.forOwner(owner).tools()).tools.map(({ name }) => name);
    expect([await names("ann"), await names("bob"), await names("eve")]).toEqual(offered());
    expect(runtime.tools().tools.map(({ name }) => name)).toEqual(["shared__x"]);
  });
});
