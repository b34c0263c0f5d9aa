import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Breaks off answers whose bytes wait for a reader that reads nothing for this long, or up to twice as long: a client
 * that requests much and reads nothing would keep it in memory forever. An answer without pending bytes may be silent
 * for any time. Sockets are not answers any more, and are checked by their pings.
 *
 * It uses Node's own timer of a connection: all connections share one, it keeps no process alive, and it sees what the
 * system accepts of a single long write.
 */
export function breakOffUnreadAnswers(server: Server, afterMs: number): void {
  server.timeout = afterMs;
  server.on("connection", (connection: Socket) => {
    // On the connection itself: after an upgrade offer, the server does not listen there any more.
    connection.on("timeout", () => {
      // Without a farewell: it would wait behind all the rest, and keep that in the system's memory.
      if (connection.writableLength > 0) connection.resetAndDestroy();
    });
  });
  server.prependListener("request", (_, response: ServerResponse) => {
    // With a listener, Node does not end an answer that is merely silent.
    response.on("timeout", () => {});
  });
}
