import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { problemHeaders, toProblem } from "./problem.js";
import { RequestRefusal } from "./request-refusal.js";

/**
 * Answers requests that offer to speak another protocol than sockets', as Java's client does with HTTP/2. Whoever
 * offers may be answered as if they had not; without this, a server that takes sockets would leave them waiting.
 */
export function answerOtherUpgrades(server: Server): void {
  const listeners = server.listeners("upgrade");
  // In their place, not beside them: the adapter refuses a handshake only while it is the one who listens.
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() === "websocket") {
      for (const listener of listeners) listener.call(server, request, socket, head);
    } else answerPlainly(server, request, socket);
  });
}

function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex): void {
  socket.on("error", () => {});
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse["assignSocket"]>[0]);
  response.on("finish", () => socket.end());
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
