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
 * Answers requests that offer to speak another protocol than sockets', as Java's client does with HTTP/2. Whoever
 * offers may be answered as if they had not; without this, a server that takes sockets would leave them waiting. So is
 * whoever offers a socket where there is none, or at an address that is none: the adapter would call that a failure of
 * the server's own. And so is whoever the adapter lets go of before it asks `tellRefusals`.
 */
export function answerOtherUpgrades(server: Server): void {
  const listeners = server.listeners("upgrade");
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isHandshake(request)) {
      answerPlainly(server, request, socket);
      return;
    }
    // It is stricter than URLs are about an address and a Host, and says nothing to those whom it does not take.
    void Promise.allSettled(listeners.map((listener) => listener.call(server, request, socket, head))).then(
      () => {
        if (!answered.has(request) && !socket.destroyed) answerPlainly(server, request, socket);
      },
    );
  });
  // The adapter refuses a handshake, without saying why, only while there is one who listens: `tellRefusals` says it.
  server.on("upgrade", () => {});
}

/** What answers handshakes for the adapter, which would leave out the body of a refusal. */
export function tellRefusals(fetch: Fetch): Fetch {
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
  // What follows is no longer read as a body.
  const refusal = new RequestRefusal("invalid_request", "A request with a body must not ask for an upgrade");
  response.writeHead(refusal.status, problemHeaders(refusal)).end(JSON.stringify(toProblem(refusal)));
}

/** A response on a connection that the server has let go of. It is the last one there. */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse["assignSocket"]>[0]);
  response.on("finish", () => socket.end());
  // The server has taken its own listener away; without one, who waits until more can be written would wait for ever.
  const onDrain = () => {
    if (response.writableNeedDrain) response.emit("drain");
  };
  socket.on("drain", onDrain);
  response.once("close", () => socket.off("drain", onDrain));
  // Nobody reads there any more, and so nobody would see that the other end has gone.
  socket.on("end", () => socket.end());
  socket.resume();
  return response;
}
