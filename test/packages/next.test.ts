import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FreshProject, tools } from "./fresh-project.js";
import { sampleOf } from "./samples.js";

/** A runtime for the route of a face, which leaves it to the application. */
const runtimeModule = `import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { openEmbedded } from "@parley/store/embedded";

export async function openRuntime() {
  const { store, wake } = await openEmbedded({ folder: ".parley-chat" });
  const provider = new DemoProviderAdapter({ pace: "instant" });
  const model = { name: "demo/demo", provider, providerName: "demo", model: "demo", contextWindow: demoContextWindow };
  return createRuntime({ store, wake, models: createModelCatalog([model]) });
}
`;

describe("a route of Next", () => {
  let project: FreshProject;
  beforeAll(async () => {
    // Without a type of modules, as create-next-app leaves it.
    project = new FreshProject({ type: undefined });
    const own = ["core", "providers", "server", "store"].map((name) => `@parley/${name}`);
    const others = [
      "next@16.4.6",
      "hono",
      tools.olderTypescript.replace("typescript-5@npm:", ""),
      tools.nodeTypes,
    ];
    await project.install(...own, ...others, ...tools.react);
    project.write("app/api/parley/[[...path]]/route.ts", sampleOf("docs/guides/install.md", "route.ts"));
    project.write("app/api/chat/[[...path]]/route.ts", sampleOf("docs/guides/ai-sdk-ui.md", "route.ts"));
    project.write("runtime.ts", runtimeModule);
    project.write("next.config.mjs", sampleOf("docs/guides/install.md", "next.config.mjs"));
    project.write("app/page.tsx", "export default function Page() { return <p>page</p>; }\n");
    project.write(
      "app/layout.tsx",
      `import type { ReactNode } from "react";
export default function Layout({ children }: { children: ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
    );
  });
  afterAll(() => project.remove());

  it("is built and answers with a whole turn on the embedded store, natively and by a face", async () => {
    const env = { NEXT_TELEMETRY_DISABLED: "1" };
    const built = await project.bin("next", ["build"], env);
    expect(built.code, built.output).toBe(0);
    const server = await project.serve(
      "node_modules/.bin/next",
      ["start", "-H", "127.0.0.1", "-p", "0"],
      env,
    );
    const response = await fetch(`${server.url}/api/parley/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Hello" }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"turn-sealed"');
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] };
    const chat = await fetch(`${server.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "chat-1", messages: [message], trigger: "submit-message" }),
    });
    expect(chat.status).toBe(200);
    expect(await chat.text()).toMatch(/"type":"finish".*\n\ndata: \[DONE\]\n\n$/);
    const history = (await (await fetch(`${server.url}/api/chat/chat-1/messages`)).json()) as unknown[];
    expect(history).toMatchObject([message, { role: "assistant" }]);
    await server.end();
  });
});
