// Parley mounted in an application's own Hono app: its routes under /parley beside the application's, on one
// port. One question is sent over HTTP, the answer is streamed, and a second client reads it from the log.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { createApp, createSocketServer, createTelemetryHooks } from "@parley/server";
import { openEmbedded } from "@parley/store/embedded";
import { Hono } from "hono";

// A separate store in a new folder, removed when the example ends.
const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
const { store, wake } = await openEmbedded({ folder });

const telemetry = createTelemetryHooks();
const runtime = await createRuntime({
  store,
  wake,
  models: createModelCatalog([
    {
      name: "demo/demo",
      provider: new DemoProviderAdapter({ pace: "instant" }),
      providerName: "demo",
      model: "demo",
      contextWindow: demoContextWindow,
    },
  ]),
  hooks: { onEvent: telemetry.onEvent },
});
const parley = createApp(runtime, { telemetry });

// The application: one route of its own, and Parley's.
const app = new Hono();
app.get("/", (c) => c.text("The application"));
app.route("/parley", parley.hono);

const server = serve({
  fetch: app.fetch,
  hostname: "127.0.0.1",
  port: 0,
  websocket: { server: createSocketServer() },
});
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
console.log(await (await fetch(url)).text());

const answer = await fetch(`${url}/parley/chat`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: "What is 12 * 7?", messageId: "m1" }),
});
let said = "";
for (const line of (await answer.text()).trim().split("\n")) {
  const event = JSON.parse(line);
  if (event.type === "text-delta") said += event.delta;
  if (event.type === "turn-sealed") console.log(`the turn ended: ${event.reason}`);
}

const id = answer.headers.get("x-conversation-id");
const { chunks } = await (await fetch(`${url}/parley/conversations/${id}`)).json();
console.log(
  chunks.at(-1).chunk.text === said ? "the log has what was streamed" : "THE LOG HAS SOMETHING ELSE",
);

await parley.close();
await new Promise((resolve) => server.close(resolve));
await runtime.close();
await store.close();
rmSync(folder, { recursive: true });
