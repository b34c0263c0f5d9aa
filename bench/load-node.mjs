// What stands between an upstream and its readers, in a process of its own: a whole Parley node that journals to
// PostgreSQL, or as little as forwards the deltas.
import { createServer, Agent as NodeAgent, request as nodeRequest } from "node:http";
import { answerQuestions, cpuSince } from "./load-child.mjs";

const MODEL = "gpt-example";
const [mode, upstream, turnsText, database] = process.argv.slice(2);
const turns = Number(turnsText);

const { url, keys } = mode === "parley" ? await parley() : await forward();
let before;
answerQuestions(
  {
    mark() {
      before = process.cpuUsage();
    },
    cpu: () => ({ cpuUs: cpuSince(before), rss: process.memoryUsage.rss() }),
    collect: () => globalThis.gc?.(),
  },
  { url, keys },
);

async function parley() {
  const [{ createRuntime, createModelCatalog }, store, openai, http, httpNode, server] = await Promise.all([
    import("@parley/core/runtime"),
    import("@parley/store/postgres"),
    import("@parley/providers/openai"),
    import("@parley/http"),
    import("@parley/http/node"),
    import("@parley/server"),
  ]);
  const httpClient = http.createDefaultHttpClient({
    clientName: "bench",
    transport: httpNode.createNodeTransport(),
  });
  const client = openai.createOpenAIHttpClient({ apiKey: "none", baseUrl: upstream, httpClient });
  const provider = new openai.OpenAIProviderAdapter({ client, defaultModel: MODEL });
  const opened = store.openPostgres({ url: database });
  await opened.store.migrate();
  const failures = [];
  const runtime = await createRuntime({
    ...{ store: opened.store, wake: opened.wake },
    models: createModelCatalog([
      { name: "bench/one", provider, providerName: "openai", model: MODEL, contextWindow: 1_000_000 },
    ]),
    limits: { runningTurns: turns, runningTurnsPerOwner: turns },
    hooks: {
      onError(error, { where }) {
        if (failures.push(error) <= 3) console.error(`  ${where}: ${error.message}`);
      },
    },
  });
  // Someone else per turn, as in life: whoever shares an owner is also told of the owner's other conversations.
  const secrets = [];
  for (let index = 0; index < turns; index += 1) {
    const { secret, record } = server.createKey({ owner: `reader-${index}` });
    await runtime.keys.add(record);
    secrets.push(secret);
  }
  const { url } = await server.serve(runtime, { port: 0, auth: "keys" });
  return { url, keys: secrets };
}

/** The limit: split by hand, parse, send on. Nothing is kept, checked or repeated. */
async function forward() {
  const { WebSocketServer } = await import("ws");
  const agent = new NodeAgent({ keepAlive: true });
  const http = createServer();
  new WebSocketServer({ server: http, perMessageDeflate: false }).on("connection", (socket) => {
    socket.on("message", (data) => {
      const { conversationId, message } = JSON.parse(String(data));
      const send = (event) => socket.send(JSON.stringify({ type: "chat.delta", event }));
      const request = nodeRequest(
        `${upstream}/responses`,
        { agent, method: "POST", headers: { "content-type": "application/json" } },
        (response) => {
          response.setEncoding("utf8");
          response.on(
            "data",
            createHandSplitter((event) => {
              if (event.type === "response.output_text.delta")
                send({ type: "text-delta", conversationId, delta: event.delta });
              else if (event.type === "response.completed") send({ type: "turn-sealed", conversationId });
            }),
          );
        },
      );
      request.end(JSON.stringify({ model: MODEL, input: message, stream: true }));
    });
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${http.address().port}`, keys: undefined };
}

/** Right for this stream, not for any. */
function createHandSplitter(onEvent) {
  let rest = "";
  return (text) => {
    rest += text;
    let start = 0;
    for (;;) {
      const end = rest.indexOf("\n\n", start);
      if (end === -1) break;
      onEvent(JSON.parse(rest.slice(rest.indexOf("data: ", start) + 6, end)));
      start = end + 2;
    }
    rest = rest.slice(start);
  };
}
