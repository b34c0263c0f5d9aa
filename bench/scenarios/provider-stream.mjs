// A Responses stream through the OpenAI adapter, every delta read with `for await`, compared with reading it
// by hand.
import { createServer, Agent as NodeAgent, request as nodeRequest } from "node:http";
import { aiSdks, openaiLibraries } from "../peer-libraries.mjs";
import { deltaText, encodeStream } from "../responses-stream.mjs";

const MODEL = "gpt-example";
const PROMPT = "Tell me about streams.";

async function startServer({ deltas, perSecond }) {
  const events = encodeStream(deltas);
  const whole = Buffer.concat(events);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "x-request-id": "req_0123456789",
    });
    if (perSecond > 0) sendPaced(response, events, perSecond);
    else response.end(whole);
  });
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/v1`;
}

function sendPaced(response, events, perSecond) {
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(events.length, Math.ceil(((performance.now() - startedAt) / 1000) * perSecond));
    while (sent < due) response.write(events[sent++]);
    if (sent === events.length) {
      clearInterval(timer);
      response.end();
    }
  }, 1000 / perSecond);
  response.on("close", () => clearInterval(timer));
}

/**
 * Runs enough streams for `units` deltas, this many at a time; `read` calls back for each delta and at the
 * end.
 */
function reader(read, { deltas, parallel }) {
  return async (units) => {
    const totals = {
      deltas: 0,
      characters: 0,
      ends: 0,
      streams: Math.round(units / deltas),
      perStream: deltas,
    };
    const onDelta = (text) => {
      totals.deltas++;
      totals.characters += text.length;
    };
    const onEnd = () => {
      totals.ends++;
    };
    let left = totals.streams;
    const worker = async () => {
      while (left-- > 0) await read(onDelta, onEnd);
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    return totals;
  };
}

function check({ deltas, characters, ends, streams, perStream }, units) {
  let perStreamCharacters = 0;
  for (let n = 0; n < perStream; n++) perStreamCharacters += deltaText(n).length;
  if (deltas === units && ends === streams && characters === streams * perStreamCharacters) return;
  throw new Error(
    `wrong reading: ${deltas} of ${units} deltas, ${characters} characters, ${ends} of ${streams} ends`,
  );
}

/**
 * The limit: cut the text at blank lines, take the data line, parse it. Correct for this stream, not for
 * every stream.
 */
function createHandSplitter(onDelta, onEnd) {
  let rest = "";
  return (text) => {
    rest += text;
    let start = 0;
    for (;;) {
      const end = rest.indexOf("\n\n", start);
      if (end === -1) break;
      const event = JSON.parse(rest.slice(rest.indexOf("data: ", start) + 6, end));
      if (event.type === "response.output_text.delta") onDelta(event.delta);
      else if (event.type === "response.completed") onEnd();
      start = end + 2;
    }
    rest = rest.slice(start);
  };
}

const init = () => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "text/event-stream" },
  body: JSON.stringify({ model: MODEL, input: PROMPT, stream: true }),
});

async function fetchText(url, onText) {
  const response = await fetch(`${url}/responses`, init());
  const decoder = new TextDecoder();
  const body = response.body.getReader();
  for (;;) {
    const { done, value } = await body.read();
    if (done) break;
    onText(decoder.decode(value, { stream: true }));
  }
}

function nodeText(agent, url, onText) {
  const { body, method, headers } = init();
  return new Promise((resolve, reject) => {
    const request = nodeRequest(`${url}/responses`, { agent, method, headers }, (response) => {
      response.setEncoding("utf8");
      response.on("data", onText);
      response.on("end", resolve);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

const loadOurs = async () => ({
  ...(await import("@parley/providers/openai")),
  ...(await import("@parley/http")),
  ...(await import("@parley/http/node")),
});

/** Opens the adapter as a turn uses it: the whole port, retries and time limits enabled, every event read. */
function ours(lib, transport, url, options) {
  const httpClient = lib.createDefaultHttpClient({ clientName: "bench", ...(transport && { transport }) });
  const client = lib.createOpenAIHttpClient({ apiKey: "none", baseUrl: url, httpClient });
  const adapter = new lib.OpenAIProviderAdapter({ client, defaultModel: MODEL });
  return reader(async (onDelta, onEnd) => {
    const stream = await adapter.completeStream({
      messages: [{ role: "user", content: [{ type: "text", text: PROMPT }] }],
      metadata: { provider: "openai", model: MODEL },
    });
    for await (const event of stream) {
      if (event.type === "delta") onDelta(event.textDelta);
      else if (event.type === "done") onEnd();
    }
  }, options);
}

function openai(lib, url, options, start) {
  const client = new lib.default({ apiKey: "none", baseURL: url, maxRetries: 2 });
  return reader(async (onDelta, onEnd) => {
    for await (const event of await start(client, { model: MODEL, input: PROMPT, stream: true })) {
      if (event.type === "response.output_text.delta") onDelta(event.delta);
      else if (event.type === "response.completed") onEnd();
    }
  }, options);
}

function aiSdk({ name, package: library, verb, load }) {
  return {
    name,
    kind: "peer",
    package: library,
    note: "on fetch, @ai-sdk/openai, fullStream",
    against: onFetch,
    load,
    open: ({ lib, url, options }) => {
      const model = lib.createOpenAI({ apiKey: "none", baseURL: url }).responses(MODEL);
      return reader(async (onDelta, onEnd) => {
        for await (const part of lib[verb]({ model, prompt: PROMPT }).fullStream) {
          if (part.type === "text-delta") onDelta(part.text);
          else if (part.type === "finish") onEnd();
        }
      }, options);
    },
  };
}

const onFetch = "hand-split text on fetch";
const onNode = "hand-split text on node:http";

const contestants = [
  {
    name: onFetch,
    kind: "limit",
    open: ({ url, options }) =>
      reader((onDelta, onEnd) => fetchText(url, createHandSplitter(onDelta, onEnd)), options),
  },
  {
    name: onNode,
    kind: "limit",
    open({ url, options }) {
      const agent = new NodeAgent({ keepAlive: true });
      return reader((onDelta, onEnd) => nodeText(agent, url, createHandSplitter(onDelta, onEnd)), options);
    },
  },
  {
    name: "ours on fetch",
    kind: "ours",
    note: "completeStream",
    against: onFetch,
    load: loadOurs,
    open: ({ lib, url, options }) => ours(lib, undefined, url, options),
  },
  {
    name: "ours on Node",
    kind: "ours",
    note: "completeStream",
    against: onNode,
    load: loadOurs,
    open: ({ lib, url, options }) => ours(lib, lib.createNodeTransport(), url, options),
  },
  ...openaiLibraries.flatMap(({ name: library, load }) => [
    {
      name: `${library} responses.create`,
      kind: "peer",
      package: library,
      note: "on fetch",
      against: onFetch,
      load,
      open: ({ lib, url, options }) =>
        openai(lib, url, options, (client, request) => client.responses.create(request)),
    },
    {
      name: `${library} responses.stream`,
      kind: "peer",
      package: library,
      note: "on fetch, keeps a snapshot",
      against: onFetch,
      load,
      open: ({ lib, url, options }) =>
        openai(lib, url, options, (client, request) => client.responses.stream(request)),
    },
  ]),
  ...aiSdks.map(aiSdk),
];

export const scenario = {
  name: "provider-stream",
  title: "a Responses stream through a provider, every delta surfaced",
  unit: "delta",
  startServer,
  check,
  cases: [
    {
      name: "5,000 deltas at full speed",
      units: 50_000,
      quickUnits: 20_000,
      options: { deltas: 5_000, parallel: 1 },
    },
    {
      name: "20 streams paced at 250 deltas/s",
      units: 10_000,
      quickUnits: 5_000,
      rounds: 5,
      warmUpRounds: 2,
      options: { deltas: 500, perSecond: 250, parallel: 20 },
    },
  ],
  contestants,
  targets: [
    { ours: "ours on fetch", against: onFetch, atMost: 1.5 },
    { ours: "ours on Node", against: onNode, atMost: 1.5 },
  ],
};
