import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Config } from "../config/config.js";
import type { ModelEntry } from "../config/config-schema.js";
import { loadConfig } from "../config/load-config.js";
import { examineProviders } from "../doctor/examine-providers.js";
import { withDemoTools } from "./demo-tools.js";
import { boundModels, checkModels, composeModels } from "./models.js";
import { composeTools, hasOnlyDemo } from "./tools.js";

const nowhere = { XDG_CONFIG_HOME: "/nonexistent" };
const configOf = (env: Record<string, string>) =>
  loadConfig({ env: { ...nowhere, ...env }, workingFolder: "/nonexistent" });

/** A server that lists models for callers with the key. */
async function modelServer(key: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== `Bearer ${key}`) return response.writeHead(401).end();
    return response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ data: [{ id: "one" }, { id: "two" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

/** Returns an address at which no server listens any more. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}

function capture(work: () => void): unknown {
  try {
    return void work();
  } catch (error) {
    return error;
  }
}

describe("the models of a configuration", () => {
  it("are the demo alone without a credential, with its tools", async () => {
    const config = await configOf({});
    const bindings = boundModels(await composeModels(config));
    expect(bindings.map(({ name }) => name)).toEqual(["demo/demo"]);
    expect((await composeTools(config)).map(({ name }) => name)).toEqual(["current_time", "calculator"]);
    let isDemoOnly = true;
    const tools = await withDemoTools(undefined, config, () => isDemoOnly);
    const offered = tools?.tools("local");
    expect(offered?.map(({ name }) => name)).toEqual(["demo_slow_task", "demo_errand", "ask_user"]);
    expect(tools?.tools("local")).toBe(offered);
    isDemoOnly = false;
    expect(tools?.tools("local")).toEqual([]);
  });

  it("go by credential and model, with the windows that are known", async () => {
    const config = await configOf({
      OPENAI_API_KEY: "sk-1",
      ANTHROPIC_API_KEY: "sk-2",
      PARLEY_MODELS: "openai/gpt-4.1,anthropic/claude-sonnet-4-5",
    });
    const bindings = boundModels(await composeModels(config));
    expect(bindings).toMatchObject([
      { name: "openai/gpt-4.1", providerName: "openai", model: "gpt-4.1", contextWindow: 1_047_576 },
      { name: "anthropic/claude-sonnet-4-5", providerName: "anthropic", contextWindow: 200_000 },
    ]);
    expect(await withDemoTools(undefined, config, () => true)).toBeUndefined();
    expect((await composeTools(config)).map(({ name }) => name)).toEqual(["current_time", "calculator"]);
    expect(hasOnlyDemo(config)).toBe(false);
  });

  it("have the prices of the configuration, or those of their provider's own list at its own address", async () => {
    const bindings = async (credential: object) => {
      const credentials = new Map([["one", { apiKey: "sk-1", ...credential } as never]]);
      const composed = await composeModels({ ...(await configOf({})), credentials });
      return boundModels(composed).map(({ prices }) => prices);
    };
    const prices = { input: 1, output: 2, currency: "EUR" };
    const models = [{ name: "gpt-5", prices }, "gpt-5", "gpt-5-unknown"];
    const [own, listed, unknown] = await bindings({ kind: "openai", models });
    expect([own, listed?.input, unknown]).toEqual([prices, 1.25, undefined]);
    const elsewhere = await bindings({ kind: "openai", models, baseUrl: "https://proxy.example/v1" });
    expect(elsewhere).toEqual([prices, undefined, undefined]);
    const [, there] = await bindings({ kind: "openai", models, baseUrl: "https://api.openai.com/v1" });
    expect(there).toEqual(listed);
    expect(
      await bindings({ kind: "compatible", models: ["gpt-5"], baseUrl: "http://127.0.0.1:1/v1" }),
    ).toEqual([undefined]);
    const claude = { kind: "anthropic", models: ["claude-opus-4-5"] };
    expect((await bindings(claude))[0]?.cacheWrite).toBe(6.25);
    expect((await bindings({ ...claude, promptCache: "1h" }))[0]?.cacheWrite).toBe(10);
  });

  it("leave space for other messages in a window that is configured to be small", async () => {
    const [demo] = boundModels(await composeModels(await configOf({})));
    expect(demo).toMatchObject({ contextWindow: 16_000, maxOutputTokens: 4_000 });
    const bindings = async (...models: ModelEntry[]) => {
      const credentials = new Map([["local", { kind: "openai" as const, apiKey: "sk-1", models }]]);
      return boundModels(await composeModels({ ...(await configOf({})), credentials }));
    };
    const [small, wide, own] = await bindings(
      { name: "llama", contextWindow: 8_192 },
      { name: "gpt-4.1" },
      { name: "llama", contextWindow: 8_192, maxOutputTokens: 6_000 },
    );
    expect(small).toMatchObject({ contextWindow: 8_192, maxOutputTokens: 2_048 });
    expect(wide).toMatchObject({ contextWindow: 1_047_576, maxOutputTokens: 32_768 });
    expect(own).toMatchObject({ contextWindow: 8_192, maxOutputTokens: 6_000 });
  });

  it("take the efforts that they are declared to take, and those alone are asked for", async () => {
    const { createModelCatalog } = await import("@parley/core/runtime");
    const bodies: { reasoning_effort?: string }[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (piece) => {
        text += String(piece);
      });
      request.on("end", () => {
        bodies.push(JSON.parse(text) as object);
        const chunk = { choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }] };
        response
          .setHeader("content-type", "text/event-stream")
          .end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const models: ModelEntry[] = [
      "plain",
      { name: "all", efforts: true },
      { name: "none", efforts: false },
      { name: "some", efforts: ["high", "medium"] },
    ];
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const credentials = new Map([
      ["local", { kind: "compatible" as const, baseUrl, models }],
      ["openai", { kind: "openai" as const, apiKey: "sk-1", models: [{ name: "gpt-4o", efforts: ["low"] }] }],
    ]);
    const composed = await composeModels({ ...(await configOf({})), credentials } as Config);
    const catalog = createModelCatalog(boundModels(composed));
    const { modelInfo } = catalog.list();
    expect(Object.entries(modelInfo).map(([name, { efforts }]) => [name, efforts])).toEqual([
      ["local/plain", []],
      ["local/all", ["low", "medium", "high", "xhigh", "max"]],
      ["local/none", []],
      ["local/some", ["medium", "high"]],
      ["openai/gpt-4o", ["low"]],
    ]);
    for (const [name, reasoningEffort] of [
      ["local/plain", "high"],
      ["local/some", "max"],
      ["local/some", "low"],
      ["local/all", "xhigh"],
    ] as const) {
      const { provider, providerName, model } = catalog.resolve(name);
      await provider.complete({
        messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
        metadata: { provider: providerName, model },
        reasoningEffort,
      });
    }
    expect(bodies.map((body) => body.reasoning_effort)).toEqual([undefined, "high", "medium", "xhigh"]);
  });

  it("are asked from a compatible server that the configuration names none of", async () => {
    const { url, asked } = await modelServer("sk-right");
    const composed = await composeModels(
      await configOf({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-right" }),
    );
    const bindings = boundModels(composed);
    expect(bindings.map(({ name }) => name)).toEqual(["compatible/one", "compatible/two"]);
    expect(asked).toEqual(["GET /v1/models"]);
  });

  it("that cannot be had are said, without the key", async () => {
    const { url } = await modelServer("sk-right");
    const config = await configOf({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-wrong" });
    const composed = await composeModels(config);
    const names = boundModels(composed).map(({ name }) => name);
    const failure = capture(() => checkModels(config, composed, { names, stored: [] }));
    // What was added while a server ran serves all the same.
    expect(capture(() => checkModels(config, composed, { names, stored: ["other"] }))).toBeUndefined();
    expect(String(failure)).toContain("the key was refused (401)");
    expect(String(failure)).not.toContain("sk-wrong");
  });

  it("must contain the default one", async () => {
    const config = await configOf({ PARLEY_MODEL: "demo/dmo" });
    const composed = await composeModels(config);
    const names = ["demo/demo"];
    expect(capture(() => checkModels(config, composed, { names, stored: ["other"] }))).toMatchObject({
      message: 'defaultModel: there is no model "demo/dmo".',
      advice: 'Did you mean "demo/demo"?',
    });
    expect(capture(() => checkModels(config, composed, { names, stored: ["demo"] }))).toBeUndefined();
  });
});

describe("the doctor's look at providers", () => {
  it("tells an answer, a refused key and a wrong address apart, and costs no tokens", async () => {
    const { url, asked } = await modelServer("sk-right");
    const look = async (env: Record<string, string>) => (await examineProviders(await configOf(env)))[0];
    expect(
      await look({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-right", PARLEY_MODELS: "compatible/one" }),
    ).toMatchObject({ level: "ok" });
    expect(
      await look({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-right", PARLEY_MODELS: "compatible/three" }),
    ).toMatchObject({
      level: "warning",
      message: expect.stringContaining("does not list three") as unknown,
    });
    expect(await look({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "sk-wrong" })).toMatchObject({
      level: "error",
      advice: expect.stringContaining("key") as unknown,
    });
    expect(await look({ OPENAI_BASE_URL: await closedAddress() })).toMatchObject({
      level: "error",
      message: expect.stringContaining("ECONNREFUSED") as unknown,
    });
    expect(new Set(asked)).toEqual(new Set(["GET /v1/models"]));
  });
});
