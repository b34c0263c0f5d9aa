// A server as a process of its own, on PostgreSQL, with a model that continues when its parent sends a message. It
// ends by itself when its parent is gone.
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { serve } from "@parley/server";
import { openPostgres } from "@parley/store/postgres";
import { createScriptedProvider, gate, pause, text, toolCall, usage } from "@parley/testing";

const { name, url, lease } = JSON.parse(process.env.PARLEY_SERVER ?? "{}");

const at = gate();
const provider = createScriptedProvider(({ messages }) => {
  const said = messages.flatMap(({ role, content }) =>
    role === "user" ? content.map((part) => (part.type === "text" ? part.text : "")) : [],
  );
  if (messages.at(-1)?.role === "tool") return [text(`${name} received: ${said.at(-1)}`), usage(30, 9)];
  if (said.at(-1)?.startsWith("look")) return [text("Looking. "), pause(at), toolCall("look"), usage(10, 3)];
  if (said.at(-1)?.startsWith("wait"))
    return [text(`${name} waits. `), pause(at), text("Done."), usage(10, 3)];
  return [text(`${name} received: ${said.at(-1)}`), usage(10, 3)];
});

const { store, wake } = openPostgres({ url });
await store.migrate();
const runtime = await createRuntime({
  store,
  wake,
  node: name,
  lease,
  models: createModelCatalog([
    { name: "scripted/one", provider, providerName: "scripted", model: "one", contextWindow: 100_000 },
  ]),
  tools: [{ name: "look", execute: () => "It looks fine." }],
});
const server = await serve(runtime, { port: 0, auth: "keys" });

process.on("message", async (message) => {
  if (message === "go on") at.open();
  if (message !== "close") return;
  at.open();
  await server.close({ deadlineMs: 1_000 });
  await runtime.close();
  await store.close();
  await wake?.close?.();
  process.disconnect();
});
process.on("disconnect", () => process.exit());
process.send({ type: "ready", url: server.url });
