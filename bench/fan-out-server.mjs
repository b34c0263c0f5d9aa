// One turn told to many sockets, in a process of its own: a whole Parley server, or `ws` with frames built once.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { answerQuestions, cpuSince } from "./load-child.mjs";
import { deltaText } from "./responses-stream.mjs";

const CONVERSATION = "fan-out";
const [mode, deltasText, everyMsText] = process.argv.slice(2);
const deltas = Number(deltasText);
const everyMs = Number(everyMsText);

const { url, tell } = mode === "ws" ? await plainSockets() : await parley();
let before;
answerQuestions(
  {
    /** Starts the turn; who wants to know when it was heard asks the clients. */
    start({ frames }) {
      globalThis.gc?.();
      before = process.cpuUsage();
      void tell(frames);
    },
    stop: () => ({ cpuUs: cpuSince(before) }),
  },
  { url },
);

/** One after the other and never two at once, so that a late timer does not put several deltas into one tick. */
async function paced(send) {
  for (let n = 0; n < deltas; n += 1) {
    await delay(everyMs);
    send(n);
  }
}

async function parley() {
  const [{ createProvider, finish, load, openNode }, { serve }] = await Promise.all([
    import("./runtime-node.mjs"),
    import("@parley/server"),
  ]);
  const lib = await load();
  const provider = createProvider(lib, async ({ write }) => {
    let text = "";
    await paced((n) => {
      const piece = deltaText(n);
      text += piece;
      write(new lib.messages.TextDelta(piece, text, 0));
    });
    finish(write, text);
  });
  const { node } = await openNode(lib, provider);
  const server = await serve(node, {
    port: 0,
    owner: "bench",
    // The clients only count: they neither come slowly nor answer pings.
    limits: { requestBurst: 100_000, connectionsPerKey: 100_000 },
    pace: { pingMs: 3_600_000 },
  });
  const owner = node.forOwner("bench");
  await owner.create({ id: CONVERSATION });
  return {
    url: server.url,
    tell: () => owner.send({ conversationId: CONVERSATION, message: "Tell me about streams." }),
  };
}

/** The limit: the frames that Parley's turn told, as they are, from a Buffer made once for all sockets. */
async function plainSockets() {
  const { WebSocketServer } = await import("ws");
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  const send = (text) => {
    const bytes = Buffer.from(text);
    for (const socket of sockets.clients) socket.send(bytes, { binary: false });
  };
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    async tell(frames) {
      const isDelta = (text) => text.includes('"text-delta"');
      const first = frames.findIndex(isDelta);
      for (const text of frames.slice(0, first)) send(text);
      await paced((n) => send(frames[first + n]));
      for (const text of frames.slice(first + deltas)) send(text);
    },
  };
}
