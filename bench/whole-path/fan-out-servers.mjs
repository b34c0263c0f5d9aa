// One stream of events to many sockets: by hand on `ws`, and a turn of the server.
import { createServer } from "node:http";

const PIECE = " word";

/** Calls back this many times a second, once started; calls missed by a late tick are made up for. */
function pace(perSecond, count, onTick, onEnd) {
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    while (sent < due) onTick(sent++);
    if (sent < count) return;
    clearInterval(timer);
    onEnd();
  }, 1_000 / perSecond);
}

/** Returns the event of a delta as the server sends it, so that all send the same bytes. */
const eventOf = (n) => ({
  type: "chat.delta",
  event: {
    type: "text-delta",
    conversationId: "fan-out",
    turnId: "01a1e1a1-970e-7060-bb60-bd2e72268387",
    stepId: "01a1e1a1-970e-7060-bb60-bd2e72268387.0",
    messageId: "01a1e1a1-970f-73ee-a980-be9d8c4fe673",
    partIndex: 0,
    delta: PIECE,
  },
  cursor: `1~01a1e1a1-970e-7060-bb60-bd2e72268387~1~${n}`,
});

/** Returns the number of deltas of each stream: the first one warms the server up. */
function createLengths({ warmUp, deltas }) {
  let streams = 0;
  return () => (streams++ === 0 ? warmUp : deltas);
}

/**
 * Starts a hand-written server: every connection receives the stream; any message starts one. `send` sends an
 * event to all sockets.
 */
async function serveByHand({ perSecond, ...lengths }, send) {
  const nextLength = createLengths(lengths);
  const { WebSocketServer } = await import("ws");
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on("connection", (socket) => {
    socket.on("message", () => {
      pace(
        perSecond,
        nextLength(),
        (n) => send(sockets.clients, eventOf(n)),
        () => send(sockets.clients, { type: "chat.delta", event: { type: "turn-sealed" } }),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** The limit: a frame's bytes are built once and passed to the library for each socket. */
export const frameOnce = (options) =>
  serveByHand(options, (sockets, message) => {
    const bytes = Buffer.from(JSON.stringify(message));
    for (const socket of sockets) socket.send(bytes, { binary: false });
  });

/** The usual implementation: a text for each socket. */
export const textForEach = (options) =>
  serveByHand(options, (sockets, message) => {
    for (const socket of sockets) socket.send(JSON.stringify(message));
  });

/** Starts the server: turns of one conversation, which all sockets follow. */
export async function parley({ perSecond, store: { url }, ...lengths }) {
  const nextLength = createLengths(lengths);
  const [{ createRuntime, createModelCatalog }, { serve }, messages, { openPostgres }] = await Promise.all([
    import("@parley/core/runtime"),
    import("@parley/server"),
    import("@parley/core/messages"),
    import("@parley/store/postgres"),
  ]);
  const provider = {
    complete: () => Promise.reject(new Error("not used")),
    completeStream: async () =>
      messages.createProviderStream(
        ({ write }) =>
          new Promise((resolve) => {
            const deltas = nextLength();
            let text = "";
            pace(
              perSecond,
              deltas,
              () => {
                text += PIECE;
                write(new messages.TextDelta(PIECE, text, 0));
              },
              () => {
                const message = { role: "assistant", content: [{ type: "text", text }] };
                const usage = { inputTokens: 1, outputTokens: deltas };
                write({
                  type: "done",
                  result: { id: "r", createdAt: new Date(), message, usage, finishReason: "stop" },
                });
                resolve();
              },
            );
          }),
      ),
  };
  const opened = openPostgres({ url });
  await opened.store.migrate();
  const runtime = await createRuntime({
    store: opened.store,
    wake: opened.wake,
    models: createModelCatalog([
      { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 1_000_000 },
    ]),
  });
  await runtime.forOwner("local").create({ id: "fan-out" });
  const server = await serve(runtime, {
    port: 0,
    limits: { requestsPerSecond: 1_000_000, requestBurst: 1_000_000 },
  });
  return server.url;
}
