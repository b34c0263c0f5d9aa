import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type NodeBody, toNodeBody, writeStream } from "./node-body.js";
import { NodeResponse } from "./node-response.js";
import type { HttpTransport, TransportInit, TransportResponse } from "./ports.js";
import type { HttpHeaders } from "./request-options.js";

/** How the Node transport connects. */
export interface NodeTransportOptions {
  /** The most connections to one origin; further requests wait for a free one. Default: no limit. */
  maxSocketsPerOrigin?: number;
  /**
   * Sent as `accept-encoding` where a request names none. Default: none is sent, so servers answer
   * uncompressed, which is what streams of small events want. Answers in gzip, deflate or br are decoded in
   * any case.
   */
  acceptEncoding?: string;
  /** Default 20, as in `fetch`. */
  maxRedirects?: number;
  /** Certificates and other settings of TLS connections. */
  tls?: Pick<AgentOptions, "ca" | "cert" | "key" | "passphrase" | "rejectUnauthorized" | "minVersion">;
}

/** A transport with connections of its own. */
export interface NodeTransport extends HttpTransport {
  /** Closes its connections, also those in use. Idle ones do not keep the process alive. */
  close(): void;
}

/** One request on its way through its redirects. */
interface Journey {
  readonly options: NodeTransportOptions;
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly signal: AbortSignal | null | undefined;
  readonly redirect: RequestInit["redirect"];
  readonly resolve: (response: TransportResponse) => void;
  readonly reject: (error: unknown) => void;
  method: string;
  headers: HttpHeaders;
  body: NodeBody;
  redirects: number;
}

/**
 * A transport on `node:http` and `node:https` with keep-alive: the semantics of `fetch` (redirects, decoding,
 * what is sent by default) at about a quarter of its cost. Across origins a redirect drops every header that
 * looks like a credential, not only `authorization` and `cookie`.
 */
export function createNodeTransport(options: NodeTransportOptions = {}): NodeTransport {
  const maxSockets = options.maxSocketsPerOrigin ?? Number.POSITIVE_INFINITY;
  const httpAgent = new HttpAgent({ keepAlive: true, maxSockets });
  const httpsAgent = new HttpsAgent({ ...options.tls, keepAlive: true, maxSockets });

  const transport = (url: string, init: TransportInit): Promise<TransportResponse> => {
    const start = (body: NodeBody): Promise<TransportResponse> =>
      new Promise((resolve, reject) => {
        const { signal, redirect = "follow", method } = init;
        const headers = defaultHeaders(init.headers, body, options);
        const journey = { options, httpAgent, httpsAgent, signal, redirect, resolve, reject };
        send({ ...journey, method, headers, body, redirects: 0 }, new URL(url));
      });
    const body = toNodeBody(init.body);
    return body instanceof Promise ? body.then(start) : start(body);
  };
  const close = (): void => {
    httpAgent.destroy();
    httpsAgent.destroy();
  };
  return Object.assign(transport, { close });
}

function defaultHeaders(given: HttpHeaders, body: NodeBody, options: NodeTransportOptions): HttpHeaders {
  const headers: HttpHeaders = { accept: "*/*", "user-agent": "parley", ...given };
  if (options.acceptEncoding !== undefined) headers["accept-encoding"] ??= options.acceptEncoding;
  if (body.type !== undefined) headers["content-type"] ??= body.type;
  // Named by us for every method: Node frames the body of a GET or DELETE only when told its length.
  if (body.length !== undefined) headers["content-length"] = String(body.length);
  return headers;
}

function send(journey: Journey, url: URL): void {
  const { signal } = journey;
  const refusal = signal?.aborted === true ? signal.reason : refusalOf(url);
  if (refusal !== undefined) {
    journey.reject(refusal);
    return;
  }
  const secure = url.protocol === "https:";
  const target: RequestOptions = {
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    method: journey.method,
    headers: journey.headers,
    agent: secure ? journey.httpsAgent : journey.httpAgent,
  };
  const request = secure ? httpsRequest(target) : httpRequest(target);
  if (signal) {
    const onAbort = (): void => {
      request.destroy(signal.reason instanceof Error ? signal.reason : withCode("Aborted", "ABORT_ERR"));
    };
    signal.addEventListener("abort", onAbort);
    request.on("close", () => signal.removeEventListener("abort", onAbort));
  }
  let answered = false;
  const fail = (error: Error): void => {
    // Once there is an answer, trouble belongs to the answer's body; and a redirect has moved on.
    if (!answered) journey.reject(error);
  };
  request.on("error", fail);
  // A request that closes with neither an answer nor an error would leave its caller waiting.
  request.on("close", () => fail(withCode("The connection closed", "ECONNRESET")));
  request.on("response", (message) => {
    answered = true;
    onResponse(journey, url, request, message);
  });

  const { content } = journey.body;
  if (content instanceof ReadableStream) writeStream(request, content);
  else if (content === undefined) request.end();
  else request.end(content);
}

function refusalOf(url: URL): Error | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return withCode(`Cannot send over ${url.protocol}`, "ERR_INVALID_PROTOCOL");
  }
  if (url.username === "" && url.password === "") return undefined;
  return withCode("A URL may not hold credentials", "ERR_INVALID_URL");
}

function onResponse(journey: Journey, url: URL, request: ClientRequest, message: IncomingMessage): void {
  const status = message.statusCode ?? 0;
  const { location } = message.headers;
  if (location === undefined || !REDIRECTS.has(status) || journey.redirect === "manual") {
    journey.resolve(new NodeResponse(request, message, url, journey.redirects > 0));
    return;
  }
  const next = followUp(journey, url, location, status);
  if (next instanceof Error) {
    request.destroy();
    journey.reject(next);
    return;
  }
  // Drained rather than cut, so that the socket can serve the next step; a redirect's body is short.
  message.resume();
  send(next.journey, next.url);
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CREDENTIAL = /auth|cookie|api-?key|token|secret|credential/;

/** Where a redirect leads and what is sent there, or why it is not followed. */
function followUp(
  journey: Journey,
  from: URL,
  location: string,
  status: number,
): { journey: Journey; url: URL } | Error {
  if (journey.redirect === "error") return withCode("Redirected", "ERR_UNFOLLOWED_REDIRECT");
  if (journey.redirects >= (journey.options.maxRedirects ?? 20)) {
    return withCode("Redirected too often", "ERR_TOO_MANY_REDIRECTS");
  }
  if (!URL.canParse(location, from)) return withCode("Redirected to no URL", "ERR_UNFOLLOWED_REDIRECT");
  const url = new URL(location, from);

  let { method, body, headers } = journey;
  const becomesGet =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  if (becomesGet) {
    method = "GET";
    body = {};
    headers = omit(headers, (name) => name.startsWith("content-"));
  } else if (body.content instanceof ReadableStream) {
    return withCode("Redirected, but a stream cannot be sent again", "ERR_UNFOLLOWED_REDIRECT");
  }
  if (from.origin !== url.origin) headers = omit(headers, (name) => name === "host" || CREDENTIAL.test(name));
  return { journey: { ...journey, method, body, headers, redirects: journey.redirects + 1 }, url };
}

function omit(headers: HttpHeaders, drop: (name: string) => boolean): HttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !drop(name)));
}

function withCode(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}
