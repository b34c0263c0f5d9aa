// Reading a streamed model response and parsing the JSON of each event, at full speed and at a model's pace.
import { createServer, Agent as NodeAgent, request as nodeRequest } from "node:http";
import { openaiLibraries } from "../peer-libraries.mjs";
import { deltaText, encodeStream } from "../responses-stream.mjs";

const PATH = "/v1/responses";
const REQUEST = { model: "gpt-example", input: "Tell me about streams.", stream: true };
const TIMEOUT_MS = 30_000;

/** Starts a server: `?deltas=5000`, and `&perSecond=250` for a stream that sends one delta at a time. */
async function startServer() {
  const streams = new Map();
  const server = createServer((request, response) => {
    request.resume();
    const query = new URL(request.url, "http://localhost").searchParams;
    const deltas = Number(query.get("deltas"));
    if (!streams.has(deltas)) streams.set(deltas, encodeStream(deltas));
    const events = streams.get(deltas);
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "x-request-id": "req_0123456789",
    });
    const perSecond = Number(query.get("perSecond"));
    if (perSecond > 0) sendPaced(response, events, perSecond);
    else response.end(Buffer.concat(events));
  });
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
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

/** Runs enough streams for `units` deltas, this many at a time, and sums their results. */
function reader(read, url, { deltas, perSecond, parallel }) {
  const query = new URLSearchParams({ deltas, ...(perSecond && { perSecond }) });
  const target = { url, query: Object.fromEntries(query), href: `${url}${PATH}?${query}` };
  return async (units) => {
    const totals = { deltas: 0, characters: 0, completed: 0 };
    const onEvent = (event) => {
      if (event.type === "response.output_text.delta") {
        totals.deltas++;
        totals.characters += event.delta.length;
      } else if (event.type === "response.completed") {
        totals.completed++;
      }
    };
    let left = Math.round(units / deltas);
    totals.streams = left;
    totals.perStream = deltas;
    const worker = async () => {
      while (left-- > 0) await read(target, onEvent);
    };
    await Promise.all(Array.from({ length: parallel }, worker));
    return totals;
  };
}

function check({ deltas, characters, completed, streams, perStream }, units) {
  let perStreamCharacters = 0;
  for (let n = 0; n < perStream; n++) perStreamCharacters += deltaText(n).length;
  if (deltas === units && completed === streams && characters === streams * perStreamCharacters) return;
  throw new Error(
    `wrong reading: ${deltas} of ${units} deltas, ${characters} characters, ${completed} of ${streams} ends`,
  );
}

/**
 * The limit: cut the text at blank lines, take the data line, parse it. Correct for this stream, not for
 * every stream.
 */
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

const init = () => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "text/event-stream" },
  body: JSON.stringify(REQUEST),
});

async function fetchText(href, onText) {
  const response = await fetch(href, init());
  const decoder = new TextDecoder();
  const body = response.body.getReader();
  for (;;) {
    const { done, value } = await body.read();
    if (done) break;
    onText(decoder.decode(value, { stream: true }));
  }
}

function nodeText(agent, href, onText) {
  const { body, method, headers } = init();
  return new Promise((resolve, reject) => {
    const request = nodeRequest(href, { agent, method, headers }, (response) => {
      response.setEncoding("utf8");
      response.on("data", onText);
      response.on("end", resolve);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

const loadOurs = async () => ({ ...(await import("@parley/http")), ...(await import("@parley/http/node")) });

/** Opens our client with retries enabled; `read` takes its response. */
function ours(lib, transport, url, options, read) {
  const client = lib.createDefaultHttpClient({
    clientName: "bench",
    baseUrl: url,
    ...(transport && { transport }),
    defaultResilience: { maxAttempts: 3, perAttemptTimeoutMs: TIMEOUT_MS },
  });
  return reader(
    async ({ query }, onEvent) => {
      const urlParts = { path: PATH, query };
      const response = await client.requestRaw({
        operation: "stream",
        method: "POST",
        urlParts,
        body: REQUEST,
      });
      await read(response, onEvent);
    },
    url,
    options,
  );
}

/** The three ways to read, from the cheapest to the most convenient. */
const ways = {
  pushed: (lib) => (response, onEvent) =>
    lib.consumeSse(response, { onEvent: ({ data }) => onEvent(JSON.parse(data)) }),
  "in batches": (lib) => async (response, onEvent) => {
    for await (const events of lib.readSseBatches(response)) {
      for (const { data } of events) onEvent(JSON.parse(data));
    }
  },
  "one by one": (lib) => async (response, onEvent) => {
    for await (const { data } of lib.readSse(response)) onEvent(JSON.parse(data));
  },
};

const onFetch = "hand-split text on fetch";
const onNode = "hand-split text on node:http";

const contestants = [
  {
    name: onFetch,
    kind: "limit",
    open: ({ url, options }) =>
      reader(({ href }, onEvent) => fetchText(href, createHandSplitter(onEvent)), url, options),
  },
  {
    name: onNode,
    kind: "limit",
    open({ url, options }) {
      const agent = new NodeAgent({ keepAlive: true });
      return reader(({ href }, onEvent) => nodeText(agent, href, createHandSplitter(onEvent)), url, options);
    },
  },
  ...Object.keys(ways).map((way) => ({
    name: `ours on fetch, ${way}`,
    kind: "ours",
    against: onFetch,
    load: loadOurs,
    open: ({ lib, url, options }) => ours(lib, undefined, url, options, ways[way](lib)),
  })),
  ...Object.keys(ways).map((way) => ({
    name: `ours on Node, ${way}`,
    kind: "ours",
    against: onNode,
    load: loadOurs,
    open: ({ lib, url, options }) => ours(lib, lib.createNodeTransport(), url, options, ways[way](lib)),
  })),
  {
    name: "eventsource-parser",
    kind: "peer",
    note: "on fetch, no retries",
    package: "eventsource-parser",
    against: onFetch,
    load: () => import("eventsource-parser"),
    open: ({ lib, url, options }) =>
      reader(
        ({ href }, onEvent) => {
          const parser = lib.createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data)) });
          return fetchText(href, (text) => parser.feed(text));
        },
        url,
        options,
      ),
  },
  ...openaiLibraries.flatMap(({ name: library, load }) => [
    {
      name: `${library} responses.create`,
      kind: "peer",
      package: library,
      against: onFetch,
      load,
      open: ({ lib, url, options }) =>
        openai(lib, url, options, (client, request, rest) => client.responses.create(request, rest)),
    },
    {
      name: `${library} responses.stream`,
      kind: "peer",
      package: library,
      note: "keeps a snapshot",
      against: onFetch,
      load,
      open: ({ lib, url, options }) =>
        openai(lib, url, options, (client, request, rest) => client.responses.stream(request, rest)),
    },
  ]),
];

function openai(lib, url, options, start) {
  const client = new lib.default({
    apiKey: "none",
    baseURL: `${url}/v1`,
    timeout: TIMEOUT_MS,
    maxRetries: 2,
  });
  return reader(
    async ({ query }, onEvent) => {
      for await (const event of await start(client, REQUEST, { query })) onEvent(event);
    },
    url,
    options,
  );
}

export const scenario = {
  name: "sse-read",
  title: "reading a Responses stream, the JSON of each event parsed",
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
      rounds: 7,
      warmUpRounds: 2,
      options: { deltas: 500, perSecond: 250, parallel: 20 },
    },
  ],
  contestants,
  targets: contestants
    .filter(({ kind }) => kind === "ours")
    .map(({ name, against }) => ({ ours: name, against, atMost: 1.3 })),
};
