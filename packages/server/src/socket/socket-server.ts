import type { WebSocketServerLike } from "@hono/node-server";
import { WebSocketServer } from "ws";
import { defaultServerLimits } from "../limits/server-limits.js";

/** The plain protocol: one JSON message per frame. */
const plainProtocol = "parley.v1";
/** Several messages per frame: every frame is a JSON array of them. */
export const batchProtocol = "parley.v1.batch";

/**
 * Creates the WebSocket server for `@hono/node-server`:
 *
 * ```ts
 * serve({ fetch: app.fetch, websocket: { server: createSocketServer() } });
 * ```
 *
 * It chooses among the subprotocols and never echoes the one that carries a key.
 */
export function createSocketServer(options: { readonly frameBytes?: number } = {}): WebSocketServerLike {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: options.frameBytes ?? defaultServerLimits.frameBytes,
    handleProtocols: (offered) => {
      for (const name of offered) if (name === plainProtocol || name === batchProtocol) return name;
      return false;
    },
  });
  // The same object; only the types of the two packages differ in how a listener is declared.
  return server as unknown as WebSocketServerLike;
}
