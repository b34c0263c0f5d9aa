// Servers between a model's API and a client: Parley, the minimal code that does a part of its work, and
// peers.
import { Agent, createServer, request } from "node:http";
import { aiSdks } from "../peer-libraries.mjs";

const MODEL = "gpt-example";
const PROMPT = "Tell me about streams.";

const listen = async (server) => {
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
};

/** Calls the model's API; passes on the response. */
function ask(agent, upstream, onResponse) {
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const asked = request(`${upstream}/responses`, { agent, method: "POST", headers }, onResponse);
  asked.end(JSON.stringify({ model: MODEL, input: PROMPT, stream: true }));
  return asked;
}

/** The limit: passes bytes through as they arrive. */
export function bytePipe({ upstream }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });
  return listen(
    createServer((incoming, response) => {
      incoming.resume();
      ask(agent, upstream, (answer) => {
        response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
        answer.pipe(response);
      });
    }),
  );
}

/**
 * Parses and forwards: each event is read, and the part that the client needs is written to a socket. Nothing
 * is stored.
 */
export async function parseAndForward({ upstream }) {
  const { WebSocketServer } = await import("ws");
  const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { conversationId } = JSON.parse(String(data));
      let n = 0;
      const send = (event) => {
        n += 1;
        socket.send(
          JSON.stringify({ type: "chat.delta", event: { ...event, conversationId }, cursor: `1~${n}` }),
        );
      };
      ask(agent, upstream, (answer) => {
        let rest = "";
        answer.setEncoding("utf8").on("data", (text) => {
          rest += text;
          let start = 0;
          for (;;) {
            const end = rest.indexOf("\n\n", start);
            if (end === -1) break;
            const event = JSON.parse(rest.slice(rest.indexOf("data: ", start) + 6, end));
            start = end + 2;
            if (event.type === "response.output_text.delta")
              send({ type: "text-delta", messageId: event.item_id, partIndex: 0, delta: event.delta });
            else if (event.type === "response.completed") send({ type: "turn-sealed" });
          }
          rest = rest.slice(start);
        });
      });
    });
  });
  return listen(server);
}

/**
 * Starts the server with everything: log, journal, cursors, resume, limits, and the page in a folder if one
 * is given. With `owners`, this many users each have their own key, and `secrets` lists the keys.
 */
export async function parley({ upstream, store: place, runningTurns = 1_000, owners = 0, page }) {
  const [{ createRuntime, createModelCatalog }, { createKey, serve }, openai, http, node, opened] =
    await Promise.all([
      import("@parley/core/runtime"),
      import("@parley/server"),
      import("@parley/providers/openai"),
      import("@parley/http"),
      import("@parley/http/node"),
      openStore(place),
    ]);
  const httpClient = http.createDefaultHttpClient({
    clientName: "bench",
    transport: node.createNodeTransport({ maxSockets: 2_000 }),
  });
  const client = openai.createOpenAIHttpClient({ apiKey: "none", baseUrl: upstream, httpClient });
  const provider = new openai.OpenAIProviderAdapter({ client, defaultModel: MODEL });
  const runtime = await createRuntime({
    ...opened,
    models: createModelCatalog([
      { name: `openai/${MODEL}`, provider, providerName: "openai", model: MODEL, contextWindow: 400_000 },
    ]),
    limits: { runningTurns, runningTurnsPerOwner: runningTurns },
  });
  const secrets = [];
  for (let index = 0; index < owners; index += 1) {
    const { secret, record } = createKey({ owner: `owner-${index}` });
    await runtime.keys.add(record);
    secrets.push(secret);
  }
  const server = await serve(runtime, {
    port: 0,
    ...(page === undefined ? {} : { page: { folder: page } }),
    limits: { requestsPerSecond: 1_000_000, requestBurst: 1_000_000 },
  });
  return { url: server.url, secrets };
}

async function openStore({ url, folder, shards }) {
  if (folder !== undefined) {
    const { openPglite } = await import("@parley/store/pglite");
    return openPglite({ folder });
  }
  const { openPostgres, openShards } = await import("@parley/store/postgres");
  const { store, wake } = shards === undefined ? openPostgres({ url }) : openShards({ shards });
  await store.migrate();
  return { store, wake };
}

/** Starts the AI SDK over Hono, as in its documentation: no store, no resume. `sdk` names one of `aiSdks`. */
export async function aiSdk({ upstream, sdk }) {
  const { load, verb } = aiSdks.find(({ name }) => name === sdk);
  const [lib, { Hono }, { serve }] = await Promise.all([load(), import("hono"), import("@hono/node-server")]);
  const model = lib.createOpenAI({ apiKey: "none", baseURL: upstream }).responses(MODEL);
  const app = new Hono();
  app.post("/", () => lib[verb]({ model, prompt: PROMPT }).toUIMessageStreamResponse());
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
  });
}
