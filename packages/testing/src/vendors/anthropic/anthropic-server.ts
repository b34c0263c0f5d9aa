import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { frames } from "./anthropic-events.js";
import { type RequestProblem, validateRequest } from "./validate-request.js";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** Empty for a request that the real API would take. */
  readonly problems: readonly RequestProblem[];
  /** Resolves when the connection of this request is gone. */
  readonly disconnected: Promise<void>;
}

/** Writes one answer. Steps run in order; an event or a text is written as it is. */
export type Answer = (response: ServerResponse, request: SeenRequest, n: number) => void | Promise<void>;

/** A server on 127.0.0.1 that implements the protocol of the Messages API. */
export interface AnthropicServer {
  /** With the path of the version, as a base URL. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/**
 * Starts a server. It refuses what the API would refuse (no key, no version, another path, a body that is not valid)
 * and leaves the rest to the answer; `n` counts requests from 1. A paused answer that a body continues is the API's
 * own and is not checked.
 */
export async function startAnthropicServer(answerWith: Answer): Promise<AnthropicServer> {
  const seen: SeenRequest[] = [];
  const closed = new Map<Socket, Promise<void>>();
  // Not shorter than a test may pause between two requests on one connection.
  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, response) => {
    // Answers destroy sockets on purpose; errors of this side are irrelevant.
    incoming.on("error", () => {});
    response.on("error", () => {});
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const body = parse(Buffer.concat(parts).toString());
      const request: SeenRequest = {
        path: incoming.url ?? "",
        headers: incoming.headers,
        body,
        problems: validateRequest(withoutPaused(body)),
        disconnected: closed.get(incoming.socket) ?? Promise.resolve(),
      };
      const n = seen.push(request);
      const refusal = refusalOf(incoming.method ?? "", request);
      if (refusal === undefined) void answerWith(response, request, n);
      else fail(response, ...refusal);
    });
  });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    closed.set(socket, new Promise((resolve) => socket.once("close", () => resolve())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return ended;
    },
  };
}

function withoutPaused(body: Record<string, unknown>): Record<string, unknown> {
  const messages = Array.isArray(body.messages) ? (body.messages as { role?: unknown }[]) : [];
  const isPaused = messages.length > 1 && messages.at(-1)?.role === "assistant";
  return isPaused ? { ...body, messages: messages.slice(0, -1) } : body;
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function refusalOf(method: string, request: SeenRequest): [number, string, string] | undefined {
  const { headers, path, problems } = request;
  if (method !== "POST" || path !== "/v1/messages") return [404, "not_found_error", `${method} ${path}`];
  const isKnown = headers["x-api-key"] === "test-key" || headers.authorization === "Bearer test-key";
  if (!isKnown) return [401, "authentication_error", "invalid x-api-key"];
  if (headers["anthropic-version"] === undefined) {
    return [400, "invalid_request_error", "anthropic-version: header is required"];
  }
  const [first] = problems;
  return first === undefined ? undefined : [400, "invalid_request_error", `${first.at}: ${first.problem}`];
}

/** Answers with an error as the API words it. */
export function fail(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_1", ...headers });
  response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" }));
}

/** Begins an answer that streams. */
export function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "request-id": "req_1" });
}

/** Streams events to their end. */
export function stream(response: ServerResponse, events: readonly { readonly type?: string }[]): void {
  begin(response);
  response.end(frames(events));
}

/** Streams events and resolves once they are sent, with the answer still open. */
export function streamOpen(
  response: ServerResponse,
  events: readonly { readonly type?: string }[],
): Promise<void> {
  begin(response);
  return new Promise((resolve) => {
    response.write(frames(events), () => resolve());
  });
}

/** Resets the connection under the response. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Returns the base URL of a port without a listener. */
export async function refusedUrl(): Promise<string> {
  const server = await startAnthropicServer(() => {});
  await server.close();
  return server.url;
}
