import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Resolves when the connection of this request is gone. */
  readonly disconnected: Promise<void>;
}

/** A real server on 127.0.0.1 that follows its script. */
export interface MisbehavingServer {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Resolves with the n-th request (from 1) once it has arrived whole. */
  request(n: number): Promise<SeenRequest>;
  /** Returns the number of open connections. */
  connections(): number;
  close(): Promise<void>;
}

/** Answers one request; `n` counts from 1. */
export type Script = (response: ServerResponse, request: SeenRequest, n: number) => void;

/** Starts a server. Each request is read whole before the script answers it. */
export async function startServer(script: Script): Promise<MisbehavingServer> {
  const seen: SeenRequest[] = [];
  const waiting: { n: number; resolve: (request: SeenRequest) => void }[] = [];
  const sockets = new Map<Socket, Promise<void>>();
  const server = createServer((incoming, response) => {
    const disconnected = sockets.get(incoming.socket) ?? Promise.resolve();
    // Scripts destroy sockets on purpose; errors of the server side are irrelevant.
    response.on("error", () => {});
    incoming.on("error", () => {});
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const request: SeenRequest = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: Buffer.concat(parts).toString(),
        disconnected,
      };
      const n = seen.push(request);
      script(response, request, n);
      for (const waiter of waiting.filter((one) => one.n === n)) waiter.resolve(request);
    });
  });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => {
      socket.once("close", () => {
        sockets.delete(socket);
        resolve();
      });
    });
    sockets.set(socket, closed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    request(n) {
      const request = seen[n - 1];
      if (request !== undefined) return Promise.resolve(request);
      return new Promise((resolve) => waiting.push({ n, resolve }));
    },
    connections: () => sockets.size,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Writes a body that never ends, at the speed of the reader, until the connection is gone. */
export function writeForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
}

/** Resets the connection under the response. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Returns the URL of a port without a listener. */
export async function refusedUrl(): Promise<string> {
  const server = await startServer(() => {});
  await server.close();
  return server.url;
}
