import type { ClientRequest, RequestOptions } from "node:http";
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { checkedLookup, GuardedRequestError, guardedRefusal } from "../guard/guarded-request.js";
import type { HttpTransport, TransportInit, TransportResponse } from "../ports.js";
import type { HttpHeaders } from "../request/request-options.js";
import { type NodeBody, toNodeBody, writeStream } from "./node-body.js";
import { NodeResponse } from "./node-response.js";

/** Connection options of the Node transport. */
export interface NodeTransportOptions {
  /** Maximum number of connections to one origin; further requests wait for a free one. Default: no limit. */
  maxSocketsPerOrigin?: number;
  /**
   * Sent as `accept-encoding` if a request sets none. Default: none is sent, so servers answer uncompressed,
   * which suits streams of small events. Responses in gzip, deflate or br are decoded in any case.
   */
  acceptEncoding?: string;
  /**
   * Returns true for addresses that may be connected to, for URLs chosen by a third party. A name is resolved
   * once for each connection, which uses exactly the addresses that were checked. Default: all.
   */
  isAllowedAddress?: (address: string) => boolean;
  /** Certificates and other settings of TLS connections. */
  tls?: Pick<AgentOptions, "ca" | "cert" | "key" | "passphrase" | "rejectUnauthorized" | "minVersion">;
}

/** A transport with its own connections. */
export interface NodeTransport extends HttpTransport {
  /** Closes its connections, including those in use. Idle ones do not keep the process alive. */
  close(): void;
}

/** A request and the callbacks for its response. */
interface Exchange {
  readonly httpAgent: HttpAgent;
  readonly httpsAgent: HttpsAgent;
  readonly init: TransportInit;
  readonly headers: HttpHeaders;
  readonly body: NodeBody;
  readonly resolve: (response: TransportResponse) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates a transport on `node:http` and `node:https` with keep-alive: the semantics of `fetch` (decoding,
 * default headers) at about a quarter of its cost. A redirect is a response like any other: the client
 * follows it.
 */
export function createNodeTransport(options: NodeTransportOptions = {}): NodeTransport {
  const maxSockets = options.maxSocketsPerOrigin ?? Number.POSITIVE_INFINITY;
  const { isAllowedAddress } = options;
  const lookup = isAllowedAddress === undefined ? {} : { lookup: checkedLookup(isAllowedAddress) };
  const httpAgent = new HttpAgent({ keepAlive: true, maxSockets, ...lookup });
  const httpsAgent = new HttpsAgent({ ...options.tls, keepAlive: true, maxSockets, ...lookup });

  // Clients mostly send to the same few URLs, and parsing one costs as much as building its headers.
  let lastText = "";
  let lastUrl: URL | undefined;
  const parse = (text: string): URL => {
    if (lastUrl === undefined || text !== lastText) {
      lastUrl = new URL(text);
      lastText = text;
    }
    return lastUrl;
  };

  const transport = (url: string, init: TransportInit): Promise<TransportResponse> => {
    const start = (body: NodeBody): Promise<TransportResponse> =>
      new Promise((resolve, reject) => {
        const headers = completeHeaders(init.headers, init.method, body, options);
        const target = parse(url);
        const refusal = isAllowedAddress && guardedRefusal(url, isAllowedAddress);
        if (refusal !== undefined) reject(new GuardedRequestError("address", refusal));
        else send({ httpAgent, httpsAgent, init, headers, body, resolve, reject }, target);
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

function completeHeaders(
  given: HttpHeaders,
  method: string,
  body: NodeBody,
  options: NodeTransportOptions,
): HttpHeaders {
  const headers: HttpHeaders = { accept: "*/*", "user-agent": "parley", ...given };
  if (options.acceptEncoding !== undefined) headers["accept-encoding"] ??= options.acceptEncoding;
  if (body.type !== undefined) headers["content-type"] ??= body.type;
  // The framing is always set explicitly: by default, Node does not frame the body of a GET or a DELETE.
  if (body.length !== undefined) headers["content-length"] = String(body.length);
  else if (body.content !== undefined) headers["transfer-encoding"] = "chunked";
  else if (method === "POST" || method === "PUT" || method === "PATCH") headers["content-length"] = "0";
  return headers;
}

function send(exchange: Exchange, url: URL): void {
  const refusal = refusalOf(url);
  if (refusal !== undefined) {
    exchange.reject(refusal);
    return;
  }
  const { hostname } = url;
  const secure = url.protocol === "https:";
  const target: RequestOptions = {
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: url.port,
    path: url.pathname + url.search,
    method: exchange.init.method,
    headers: flatten(exchange.headers, url.host),
    agent: secure ? exchange.httpsAgent : exchange.httpAgent,
  };
  const request = secure ? httpsRequest(target) : httpRequest(target);
  // After a response has arrived, errors belong to its body.
  let answered = false;
  request.on("response", (message) => {
    answered = true;
    exchange.resolve(new NodeResponse(request, message, url));
  });
  request.on("error", (error) => {
    if (!answered) exchange.reject(error);
  });
  request.on("close", () => {
    // Closed without a response or an error; rejecting again after an error has no effect.
    if (!answered) exchange.reject(withCode("The connection closed", "ECONNRESET"));
  });

  endOnAbort(request, exchange.init);

  const { content } = exchange.body;
  if (content === undefined) request.end();
  else if (typeof content === "string" || content instanceof Uint8Array) request.end(content);
  else writeStream(request, content);
}

/** Closes the request's socket when its attempt ends early, body included. */
function endOnAbort(request: ClientRequest, abort: Pick<TransportInit, "signal" | "onAbort">): void {
  const end = (reason: unknown): void => {
    request.destroy(reason instanceof Error ? reason : withCode("Aborted", "ABORT_ERR"));
  };
  if (abort.onAbort !== undefined) {
    abort.onAbort(end);
    return;
  }
  const { signal } = abort;
  if (signal.aborted) {
    end(signal.reason);
    return;
  }
  const onAbort = (): void => end(signal.reason);
  signal.addEventListener("abort", onAbort);
  request.on("close", () => signal.removeEventListener("abort", onAbort));
}

/**
 * Returns the headers as a flat list, which Node uses without a second copy by name; `host` must then be
 * added here.
 */
function flatten(headers: HttpHeaders, host: string): string[] {
  const list = headers.host === undefined ? ["host", host] : [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) list.push(name, value);
  }
  return list;
}

function refusalOf(url: URL): Error | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return withCode(`Cannot send over ${url.protocol}`, "ERR_INVALID_PROTOCOL");
  }
  if (url.username === "" && url.password === "") return undefined;
  return withCode("A URL must not contain credentials", "ERR_INVALID_URL");
}

function withCode(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}
