import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FreshProject, tools } from "./fresh-project.js";

const server = `
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { serve } from "@parley/server";
import { openPglite } from "@parley/store/pglite";

const { store, wake } = await openPglite({ folder: ".parley" });
const provider = new DemoProviderAdapter({ pace: "instant" });
const models = createModelCatalog([
  { name: "demo/demo", provider, providerName: "demo", model: "demo", contextWindow: demoContextWindow },
]);
const runtime = await createRuntime({ store, wake, models });
const server = await serve(runtime, { port: 0 });
const response = await fetch(new URL("/chat", server.url), {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: "Hello" }),
});
console.log(response.status, (await response.text()).includes('"turn-sealed"'));
await server.close();
await runtime.close();
await store.close();
`;

/** As in docs/guides/install.md. */
const options = ["--bundle", "--platform=node", "--format=esm", "--log-level=warning"];
const banner =
  "--banner:js=import { createRequire as load } from 'node:module'; const require = load(import.meta.url);";
const external = ["--external:@parley/store", "--external:@electric-sql/pglite"];

describe("a server in one file of esbuild", () => {
  let project: FreshProject;
  beforeAll(async () => {
    project = new FreshProject();
    project.write("server.mjs", server);
    const own = ["core", "providers", "server", "store"].map((name) => `@parley/${name}`);
    await project.install(...own, tools.esbuild);
  });
  afterAll(() => project.remove());

  const bundle = (file: string, ...more: readonly string[]) =>
    project.bin("esbuild", ["server.mjs", ...options, banner, `--outfile=${file}`, ...more]);

  it("works with the store left outside", async () => {
    expect(await bundle("built/server.mjs", ...external)).toEqual({ code: 0, output: "" });
    expect(await project.ok(process.execPath, ["built/server.mjs"])).toBe("200 true\n");
  });

  it("says what to leave outside when everything is in it", async () => {
    expect((await bundle("built/whole.mjs")).code).toBe(0);
    const { code, output } = await project.run(process.execPath, ["built/whole.mjs"]);
    expect(code).toBe(1);
    expect(output).toContain("mark @parley/store and @electric-sql/pglite as external");
  });
});
