import { upgradeWebSocket } from "@hono/node-server";
import { isParleyError } from "@parley/core";
import type { Context, Next } from "hono";
import type { WebSocket } from "ws";
import type { AppContext, AppEnv } from "../app-env.js";
import { admitRequest } from "../auth/admit-request.js";
import { type Caller, checkScope } from "../auth/caller.js";
import { RequestRefusal } from "../http/request-refusal.js";
import { Connection, closeSocket } from "./connection.js";
import { batchProtocol } from "./socket-server.js";

/**
 * Opens a socket. A forbidden page fails the handshake; a caller without a valid key is accepted only to be closed
 * with 4401, since a browser cannot see why a handshake failed.
 */
export async function openSocket(
  c: Context<AppEnv>,
  next: Next,
  app: AppContext,
): Promise<Response | undefined> {
  c.set("route", "GET /ws");
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new RequestRefusal("invalid_request", "This address is for sockets", {
      status: 426,
      headers: { upgrade: "websocket" },
    });
  }
  const incoming = c.env?.incoming;
  if (incoming === undefined || c.env?.wss === undefined) {
    throw new RequestRefusal("invalid_request", "This server takes no sockets here; give it `websocket`");
  }
  app.checkDraining();
  const caller = await admitOrNot(c, app);
  if (caller !== undefined) {
    checkScope(caller, "read");
    app.connections.checkCapacity(caller);
  }
  const open = upgradeWebSocket(() => ({
    onOpen(_, { raw }) {
      const socket = raw as unknown as WebSocket;
      if (caller === undefined) {
        closeSocket(socket, "unauthorized");
        return;
      }
      // The node may have started to shut down during the handshake, and has closed the sockets that were open by
      // then.
      if (app.draining()) {
        closeSocket(socket, "draining");
        return;
      }
      // Others may have connected meanwhile, too.
      if (!app.connections.hasCapacity(caller)) {
        closeSocket(socket, "full");
        return;
      }
      const isBatch = socket.protocol === batchProtocol;
      new Connection({
        app,
        socket,
        connection: incoming.socket,
        caller,
        isBatch,
        requestId: c.get("requestId"),
      }).start();
    },
  }));
  const answer = await open(c, next);
  if (c.env.handshake !== undefined) c.env.handshake.isAccepted = true;
  return answer instanceof Response ? answer : undefined;
}

async function admitOrNot(c: Context<AppEnv>, app: AppContext): Promise<Caller | undefined> {
  try {
    return await admitRequest(c, app);
  } catch (error) {
    if (isParleyError(error) && error.code === "unauthorized") return undefined;
    throw error;
  }
}
