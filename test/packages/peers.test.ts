import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FreshProject, tools } from "./fresh-project.js";
import { root } from "./registry.js";

const use = `
import { createClient } from "@parley/client";
import { ParleyProvider, useConversation } from "@parley/client/react";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { createApp } from "@parley/server";
import { createMemoryLogStore } from "@parley/testing";
import { systemClock } from "@parley/core";
import { Hono } from "hono";

const provider = new DemoProviderAdapter({ pace: "instant" });
const models = createModelCatalog([
  { name: "demo/demo", provider, providerName: "demo", model: "demo", contextWindow: demoContextWindow },
]);
const runtime = await createRuntime({ store: createMemoryLogStore({ clock: systemClock }), models });
const parley = createApp(runtime, { auth: "open" });
const app = new Hono().route("/parley", parley.hono);
const client = createClient({
  url: "http://127.0.0.1/parley",
  WebSocket: null,
  fetch: async (input, init) => app.fetch(new Request(input, init)),
});
let text = "";
for await (const event of client.chat({ message: "Hello" })) if (event.type === "text-delta") text += event.delta;
const described = (await client.request("GET /models")).models;
const { paths } = (await (await app.request("http://127.0.0.1/parley/openapi.json")).json()) as { paths: object };
console.log(text.length > 0, described, Object.keys(paths).length > 20, typeof ParleyProvider, typeof useConversation);
await parley.close();
await runtime.close();
`;

describe("the oldest versions of what a stranger chooses", () => {
  let project: FreshProject;
  beforeAll(async () => {
    project = new FreshProject();
    const own = ["client", "core", "providers", "server", "testing"].map((name) => `@parley/${name}`);
    const oldest = [
      "hono@4.10.0",
      "zod@4.0.0",
      "@opentelemetry/api@1.9.0",
      "react@18.0.0",
      "@types/react@18.3.31",
    ];
    await project.install(...own, ...oldest, tools.typescript, tools.nodeTypes);
    project.write("use.mts", use);
  });
  afterAll(() => project.remove());

  it("compile with the libraries checked, and run", async () => {
    const options = [
      "--strict",
      "--skipLibCheck",
      "false",
      "--target",
      "es2022",
      "--types",
      "node",
      "--module",
      "nodenext",
    ];
    expect(await project.bin("tsc", [...options, "use.mts"])).toEqual({ code: 0, output: "" });
    expect(await project.ok(process.execPath, ["use.mjs"])).toBe(
      "true [ 'demo/demo' ] true function function\n",
    );
  });
});

describe("version 7 of the AI SDK", () => {
  let project: FreshProject;
  beforeAll(async () => {
    project = new FreshProject();
    await project.install(
      "@parley/providers",
      ...["ai@7.0.170", "@ai-sdk/openai@4.0.115", "@ai-sdk/anthropic@4.0.102", "zod@4.6.7"],
      ...[tools.typescript, tools.nodeTypes, tools.jsonSchemaTypes],
    );
  });
  afterAll(() => project.remove());

  it("is taken by the types of the adapter", async () => {
    project.write(
      "use.mts",
      `import { createOpenAI } from "@ai-sdk/openai";
import { AiSdkProviderAdapter } from "@parley/providers/ai-sdk";
export const provider = new AiSdkProviderAdapter({ model: createOpenAI({ apiKey: "k" })("gpt-5.5") });
`,
    );
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "false",
      "--target",
      "es2022",
      "--module",
      "nodenext",
    ];
    expect(await project.bin("tsc", [...options, "--types", "node", "use.mts"])).toEqual({
      code: 0,
      output: "",
    });
  });

  it("passes the tests of the adapter", async () => {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const env = { ...process.env, PARLEY_TEST_AI_SDK: project.folder, NO_COLOR: "1" };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [vitest, "run", "--maxWorkers=2", "packages/providers/src/ai-sdk"],
      { cwd: root, env },
    ).catch((error: { stdout: string }) => ({ stdout: `failed\n${error.stdout}` }));
    expect(stdout).toMatch(/Tests +\d+ passed \(\d+\)/);
  });
});
