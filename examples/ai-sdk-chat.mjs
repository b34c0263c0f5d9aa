// The AI SDK UI face in an application's own Hono server, at its own path and with its own login. A page
// would use `useChat({ transport })`; here the transport is called as the SDK calls it: one message, its
// answer, then the history.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { ParleyChatTransport } from "@parley/client/ai-sdk";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { aiSdkUi, createFaceApp } from "@parley/server/faces";
import { openPglite } from "@parley/store/pglite";
import { Hono } from "hono";

// A separate store in a new folder, removed when the example ends.
const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
const { store, wake } = await openPglite({ folder });
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
});

// The application identifies its users: here by a header, elsewhere by a session.
const authenticate = (request) => {
  const user = request.headers.get("x-user");
  return user === null ? undefined : { owner: user };
};
const face = createFaceApp(runtime, aiSdkUi, { authenticate });
const app = new Hono();
app.route("/assistant/chat", face.hono);
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
await new Promise((resolve) => server.once("listening", resolve));
const api = `http://127.0.0.1:${server.address().port}/assistant/chat`;
console.log(`without a login: ${(await fetch(`${api}/chat-1/messages`)).status}`);

const transport = new ParleyChatTransport({ api, headers: { "x-user": "ann" } });
const stream = await transport.sendMessages({
  chatId: "chat-1",
  trigger: "submit-message",
  messageId: undefined,
  messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "What is 12 * 7?" }] }],
  abortSignal: undefined,
});
let said = "";
for await (const chunk of stream) {
  if (chunk.type === "text-delta") said += chunk.delta;
  if (chunk.type === "finish") console.log(`the answer ended: ${chunk.finishReason}`);
}

const messages = await transport.messages("chat-1");
const texts = messages.at(-1).parts.filter(({ type }) => type === "text");
const isSame = texts.map(({ text }) => text).join("") === said;
console.log(isSame ? "the history has what was streamed" : "THE HISTORY HAS SOMETHING ELSE");

// Without Hono, as in a Next.js route `app/api/chat/[[...path]]/route.ts`: `export const GET = face.fetch`.
const routes = createFaceApp(runtime, aiSdkUi, { basePath: "/api/chat", authenticate });
const request = new Request("http://localhost/api/chat/chat-1/messages", { headers: { "x-user": "ann" } });
console.log(`${(await (await routes.fetch(request)).json()).length} messages by a route of its own`);

await face.close();
await routes.close();
await new Promise((resolve) => server.close(resolve));
await runtime.close();
await store.close();
rmSync(folder, { recursive: true });
