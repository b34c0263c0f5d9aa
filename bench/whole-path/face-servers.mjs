// A turn for each request, as a stream of deltas: by Parley's socket and its faces, and by the AI SDK itself.

const PIECE = " word";

/**
 * Calls `write` this many times: at a pace, or without a pause but yielding to the event loop now and then.
 */
async function produce(write, { deltas, perSecond }) {
  if (perSecond === undefined) {
    for (let n = 0; n < deltas; n += 1) {
      write(PIECE);
      if (n % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
    }
    return;
  }
  const startedAt = performance.now();
  for (let sent = 0; sent < deltas; ) {
    await new Promise((resolve) => setTimeout(resolve, 1_000 / perSecond));
    const due = Math.min(deltas, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due; sent += 1) write(PIECE);
  }
}

/** Starts Parley on the memory store: the comparison is about how a stream reaches its reader. */
export async function parley(shape) {
  const [{ createRuntime, createModelCatalog }, { serve }, messages, testing, core] = await Promise.all([
    import("@parley/core/runtime"),
    import("@parley/server"),
    import("@parley/core/messages"),
    import("@parley/testing"),
    import("@parley/core"),
  ]);
  const provider = {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async () =>
      messages.createProviderStream(async ({ write }) => {
        let text = "";
        await produce((piece) => {
          text += piece;
          write(new messages.TextDelta(piece, text, 0));
        }, shape);
        const message = { role: "assistant", content: [{ type: "text", text }] };
        const usage = { inputTokens: 1, outputTokens: shape.deltas };
        write({
          type: "done",
          result: { id: "r", createdAt: new Date(), message, usage, finishReason: "stop" },
        });
      }),
  };
  const runtime = await createRuntime({
    store: testing.createMemoryLogStore({ clock: core.systemClock }),
    wake: testing.createMemoryWake(),
    models: createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 1_000_000 },
    ]),
    limits: { runningTurns: 10_000, runningTurnsPerOwner: 10_000 },
  });
  const server = await serve(runtime, {
    port: 0,
    limits: { requestsPerSecond: 1_000_000, requestBurst: 1_000_000 },
  });
  return server.url;
}

/** Starts the AI SDK, version 6. */
export async function aiSdk(shape) {
  const { MockLanguageModelV3 } = await import("ai-6/test");
  return aiSdkServer(await import("ai-6"), MockLanguageModelV3, shape);
}

/** Starts the AI SDK, version 7. */
export async function aiSdk7(shape) {
  const { MockLanguageModelV4 } = await import("ai/test");
  return aiSdkServer(await import("ai"), MockLanguageModelV4, shape);
}

/** Serves `streamText` and its own response, in a plain Hono app. Nothing is stored. */
async function aiSdkServer({ streamText, convertToModelMessages }, MockLanguageModel, shape) {
  const [{ Hono }, { serve }] = await Promise.all([import("hono"), import("@hono/node-server")]);
  const app = new Hono();
  app.post("/api/chat", async (c) => {
    const { messages } = await c.req.json();
    const model = new MockLanguageModel({
      doStream: async () => ({
        stream: new ReadableStream({
          async start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            controller.enqueue({ type: "text-start", id: "0" });
            await produce((delta) => controller.enqueue({ type: "text-delta", id: "0", delta }), shape);
            controller.enqueue({ type: "text-end", id: "0" });
            const inputTokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 };
            const outputTokens = { total: shape.deltas, text: shape.deltas, reasoning: 0 };
            controller.enqueue({
              type: "finish",
              finishReason: { unified: "stop", raw: "stop" },
              usage: { inputTokens, outputTokens },
            });
            controller.close();
          },
        }),
      }),
    });
    return streamText({
      model,
      messages: await convertToModelMessages(messages),
    }).toUIMessageStreamResponse();
  });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}
