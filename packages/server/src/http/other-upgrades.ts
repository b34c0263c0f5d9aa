import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ParleyError } from "@parley/core";
import type { AppEnv } from "../app-env.js";
import { problemHeaders, problemResponse, toProblem } from "./problem.js";
import { RequestRefusal } from "./request-refusal.js";

/** Handshakes that were answered, or will be with a socket. */
const answered = new WeakSet<IncomingMessage>();

type Fetch = (request: Request, env: AppEnv["Bindings"]) => Response | Promise<Response>;

/**
 * Answers requests that offer to upgrade to another protocol than WebSocket, as Java's client does with HTTP/2. Such a
 * request may be answered as if there were no offer; without this, a server that accepts sockets would leave it
 * waiting. The same holds for a socket handshake where there is none, or at an invalid address: the adapter would
 * report that as an internal error. And for a request that the adapter drops before it calls `sendRefusals`.
 */
export function answerOtherUpgrades(server: Server): void {
  const listeners = server.listeners("upgrade");
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isHandshake(request)) {
      answerPlainly(server, request, socket);
      return;
    }
    // The adapter is stricter than URLs about an address and a Host, and does not answer requests that it rejects.
    void Promise.allSettled(listeners.map((listener) => listener.call(server, request, socket, head))).then(
      () => {
        if (!answered.has(request) && !socket.destroyed) answerPlainly(server, request, socket);
      },
    );
  });
  // The adapter refuses a handshake, without a reason, only while there is a listener: `sendRefusals` sends the
  // reason.
  server.on("upgrade", () => {});
}

/** Wraps the `fetch` that answers handshakes for the adapter, which would leave out the body of a refusal. */
export function sendRefusals(fetch: Fetch): Fetch {
  return async (request, env) => {
    const handshake = { isAccepted: false };
    const response = await answerOf(fetch, request, Object.assign(env, { handshake }));
    const { incoming } = env;
    if (incoming === undefined || incoming.socket.destroyed) return response;
    if (!handshake.isAccepted) {
      const body = Buffer.from(await response.clone().arrayBuffer());
      responseOn(incoming, incoming.socket)
        .writeHead(response.status, {
          ...Object.fromEntries(response.headers),
          "content-length": body.length,
        })
        .end(body);
    }
    answered.add(incoming);
    return response;
  };
}

async function answerOf(fetch: Fetch, request: Request, env: AppEnv["Bindings"]): Promise<Response> {
  try {
    return await fetch(request, env);
  } catch (thrown) {
    return problemResponse(new ParleyError("internal", undefined, { cause: thrown }));
  }
}

function isHandshake({ headers, url = "/" }: IncomingMessage): boolean {
  if (headers.upgrade?.toLowerCase() !== "websocket") return false;
  try {
    const isAbsolute = /^https?:\/\//.test(url);
    if (!isAbsolute && !url.startsWith("/")) return false;
    const address = new URL(isAbsolute ? url : `http://${headers.host ?? "localhost"}${url}`);
    return address.pathname === "/ws" && address.username === "" && address.password === "";
  } catch {
    return false;
  }
}

function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => {});
  const response = responseOn(request, socket);
  const hasBody =
    request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
  if (!hasBody) {
    server.emit("request", request, response);
    return;
  }
  // The following bytes are not read as a body any more.
  const refusal = new RequestRefusal("invalid_request", "A request with a body must not ask for an upgrade");
  response.writeHead(refusal.status, problemHeaders(refusal)).end(JSON.stringify(toProblem(refusal)));
}

/** Returns a response on a connection that the server has released. It is the last one there. */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse["assignSocket"]>[0]);
  response.on("finish", () => socket.end());
  // The server has removed its own listener; without one, a writer that waits for `drain` would wait forever.
  const onDrain = () => {
    if (response.writableNeedDrain) response.emit("drain");
  };
  socket.on("drain", onDrain);
  response.once("close", () => socket.off("drain", onDrain));
  // The connection is not read any more, so its end would not be noticed otherwise.
  socket.on("end", () => socket.end());
  socket.resume();
  return response;
}
