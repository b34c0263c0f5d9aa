import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Breaks off answers whose bytes wait for a reader that takes nothing of them for this long, or up to twice as long:
 * whoever asks for much and reads nothing would keep it in memory for ever. An answer of which nothing waits may be
 * silent as long as it likes. Sockets are not answers any more, and are found out by their pings.
 *
 * It is Node's own timer of a connection that tells: all connections share one, it keeps no process alive, and it sees
 * what the system takes of a single long write.
 */
export function breakOffUnreadAnswers(server: Server, afterMs: number): void {
  server.timeout = afterMs;
  server.on("connection", (connection: Socket) => {
    // Of the connection itself: after the offer of another protocol, the server does not listen there any more.
    connection.on("timeout", () => {
      // Without a farewell: it would wait behind all the rest, and keep that in the system's memory.
      if (connection.writableLength > 0) connection.resetAndDestroy();
    });
  });
  server.prependListener("request", (_, response: ServerResponse) => {
    // Where someone listens, Node does not end an answer that is merely silent.
    response.on("timeout", () => {});
  });
}
