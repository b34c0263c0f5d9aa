// A POST of 1 KB JSON to a local server, answered with JSON, with retries and timeouts enabled if there are
// any.
import { createServer, Agent as NodeAgent, request as nodeRequest } from "node:http";
import { openaiLibraries } from "../peer-libraries.mjs";

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const PATH = "/v1/echo";

/** Returns the request: 1 KB of JSON with its own number, so that its response can be identified. */
function payload(number) {
  return { number, model: "gpt-example", input: "x".repeat(940), store: false };
}

async function startServer() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const answer = JSON.stringify({
        number: JSON.parse(body).number,
        bytes: body.length,
        status: "completed",
      });
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": answer.length,
        "x-request-id": "req_0123456789",
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-remaining-requests": "9999",
        "x-ratelimit-reset-requests": "6ms",
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Sends `units` requests through `post`, this many at a time, and sums the responses. */
function sender(post, { inFlight }) {
  return async (units) => {
    let next = 0;
    const result = { answers: 0, numbers: 0, bytes: 0 };
    const worker = async () => {
      while (next < units) {
        const answer = await post(payload(next++));
        result.answers++;
        result.numbers += answer.number;
        result.bytes += answer.bytes;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    return result;
  };
}

function check({ answers, numbers, bytes }, units) {
  const expectedNumbers = (units * (units - 1)) / 2;
  const expectedBytes = Array.from({ length: units }, (_, i) => JSON.stringify(payload(i)).length);
  const sum = expectedBytes.reduce((a, b) => a + b, 0);
  if (answers === units && numbers === expectedNumbers && bytes === sum) return;
  throw new Error(`wrong answers: ${answers} of ${units}, numbers ${numbers}, bytes ${bytes} of ${sum}`);
}

const json = { "content-type": "application/json" };

const contestants = [
  {
    name: "undici.request",
    kind: "limit",
    package: "undici",
    load: () => import("undici"),
    open({ lib, url, options }) {
      return sender(async (body) => {
        const response = await lib.request(url + PATH, {
          method: "POST",
          headers: json,
          body: JSON.stringify(body),
        });
        return response.body.json();
      }, options);
    },
  },
  {
    name: "ours on the Node transport",
    kind: "ours",
    load: async () => ({ ...(await import("@parley/http")), ...(await import("@parley/http/node")) }),
    open({ lib, url, options }) {
      return ours(lib, lib.createNodeTransport(), url, options);
    },
  },
  {
    name: "ours on the fetch transport",
    kind: "ours",
    load: () => import("@parley/http"),
    open({ lib, url, options }) {
      return ours(lib, undefined, url, options);
    },
  },
  {
    name: "node:http",
    kind: "peer",
    note: "no retries",
    open({ url, options }) {
      const { hostname, port } = new URL(url);
      const agent = new NodeAgent({ keepAlive: true });
      const post = (body) =>
        new Promise((resolve, reject) => {
          const text = JSON.stringify(body);
          const headers = { ...json, "content-length": Buffer.byteLength(text) };
          const request = nodeRequest(
            { agent, hostname, port, path: PATH, method: "POST", headers },
            (response) => {
              let answer = "";
              response.setEncoding("utf8");
              response.on("data", (chunk) => {
                answer += chunk;
              });
              response.on("end", () => resolve(JSON.parse(answer)));
              response.on("error", reject);
            },
          );
          request.on("error", reject);
          request.end(text);
        });
      return sender(post, options);
    },
  },
  {
    name: "fetch alone",
    kind: "peer",
    note: "no retries",
    open({ url, options }) {
      return sender(async (body) => {
        const response = await fetch(url + PATH, {
          method: "POST",
          headers: json,
          body: JSON.stringify(body),
        });
        return response.json();
      }, options);
    },
  },
  {
    name: "ky",
    kind: "peer",
    package: "ky",
    load: () => import("ky"),
    open({ lib, url, options }) {
      const client = lib.default.create({
        prefixUrl: url,
        timeout: TIMEOUT_MS,
        retry: { limit: RETRIES, methods: ["post"] },
      });
      return sender((body) => client.post(PATH.slice(1), { json: body }).json(), options);
    },
  },
  {
    name: "got",
    kind: "peer",
    package: "got",
    load: () => import("got"),
    open({ lib, url, options }) {
      const client = lib.got.extend({
        prefixUrl: url,
        timeout: { request: TIMEOUT_MS },
        retry: { limit: RETRIES, methods: ["POST"] },
        agent: { http: new NodeAgent({ keepAlive: true }) },
      });
      return sender((body) => client.post(PATH.slice(1), { json: body }).json(), options);
    },
  },
  {
    name: "axios",
    kind: "peer",
    note: "no retries",
    package: "axios",
    load: () => import("axios"),
    open({ lib, url, options }) {
      const client = lib.default.create({
        baseURL: url,
        timeout: TIMEOUT_MS,
        httpAgent: new NodeAgent({ keepAlive: true }),
      });
      return sender(async (body) => (await client.post(PATH, body)).data, options);
    },
  },
  ...openaiLibraries.map(({ name: library, load }) => ({
    name: `${library} client.post`,
    kind: "peer",
    package: library,
    load,
    open({ lib, url, options }) {
      const client = new lib.default({
        apiKey: "none",
        baseURL: url,
        timeout: TIMEOUT_MS,
        maxRetries: RETRIES,
      });
      return sender((body) => client.post(PATH, { body }), options);
    },
  })),
];

function ours(lib, transport, url, options) {
  const client = lib.createDefaultHttpClient({
    clientName: "bench",
    baseUrl: url,
    ...(transport && { transport }),
    defaultResilience: { maxAttempts: RETRIES + 1, perAttemptTimeoutMs: TIMEOUT_MS },
  });
  const urlParts = { path: PATH };
  return sender((body) => client.requestJson({ operation: "echo", method: "POST", urlParts, body }), options);
}

export const scenario = {
  name: "http-request",
  title: "a POST of 1 KB JSON with retries armed",
  unit: "request",
  startServer,
  check,
  cases: [
    { name: "one at a time", units: 2_000, quickUnits: 500, options: { inFlight: 1 } },
    { name: "16 in flight", units: 3_000, quickUnits: 800, options: { inFlight: 16 } },
  ],
  contestants,
  targets: [
    { ours: "ours on the fetch transport", against: "fetch alone", atMost: 1.25 },
    { ours: "ours on the Node transport", against: "undici.request", atMost: 1.5 },
  ],
};
