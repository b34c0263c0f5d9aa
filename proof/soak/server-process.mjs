// A server as a process of its own, for a long run. Its parent asks over the process channel for its state. Started
// with --expose-gc: the reported heap is what is left after a collection. It ends with its parent.
import { writeHeapSnapshot } from "node:v8";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { createKey, createTelemetryHooks, serve } from "@parley/server";
import { openEmbedded } from "@parley/store/embedded";
import { openPostgres } from "@parley/store/postgres";
import { createModel, tools } from "./model.mjs";

const { store: at } = JSON.parse(process.env.PARLEY_SOAK ?? "{}");

async function open() {
  if (at.folder !== undefined) return openEmbedded({ folder: at.folder, engine: at.engine });
  const opened = openPostgres({ url: at.url });
  await opened.store.migrate();
  return opened;
}

const { store, wake } = await open();
const telemetry = createTelemetryHooks();
const backgroundErrors = [];
let sealed = 0;
const runtime = await createRuntime({
  store,
  wake,
  models: createModelCatalog([
    {
      name: "soak/one",
      provider: createModel(),
      providerName: "soak",
      model: "one",
      contextWindow: 100_000,
    },
  ]),
  tools,
  // No other process can use such a store.
  ...(at.engine === "pglite" ? { lease: { pollMs: 0 } } : {}),
  hooks: {
    onEvent: (event, context) => {
      telemetry.onEvent(event, context);
      if (event.type === "turn-sealed") sealed += 1;
    },
    onError: (error, { where }) => backgroundErrors.push(`${where}: ${error.code}`),
  },
});
const { secret, record } = createKey({ owner: "soak", scopes: ["admin"] });
await runtime.keys.add(record);
const server = await serve(runtime, {
  host: "127.0.0.1",
  port: 0,
  auth: "keys",
  telemetry,
  limits: { requestsPerSecond: 100_000, requestBurst: 100_000 },
});

/** Returns the gauges of the figures. */
async function gauges() {
  const { text } = await telemetry.exposition();
  const read = (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? "NaN");
  return {
    sockets: read("parley_ws_connections"),
    streams: read("parley_sse_connections"),
    waiting: read("parley_queue_depth"),
    runningTurns: read("parley_running_turns"),
  };
}

const verbs = {
  async sample() {
    // Twice, with time between them: what a finalizer releases is gone as well.
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
    const handles = {};
    for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
    return { rss, heapUsed, external, arrayBuffers, handles, sealed, ...(await gauges()) };
  },
  async snapshot({ file }) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
    writeHeapSnapshot(file);
  },
  backgroundErrors: () => backgroundErrors,
  async close() {
    await server.close();
    await runtime.close();
    await wake.close?.();
    await store.close();
  },
};

process.on("message", async ({ id, verb, input }) => {
  try {
    process.send({ id, value: await verbs[verb](input) });
    if (verb === "close") process.disconnect();
  } catch (error) {
    process.send({ id, failure: String(error?.stack ?? error) });
  }
});
process.on("disconnect", () => process.exit(0));
process.send({ url: server.url, key: secret });
