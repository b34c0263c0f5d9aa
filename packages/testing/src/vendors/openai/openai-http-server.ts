import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server saw it. */
export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body. */
  readonly body: Record<string, unknown>;
  /** Resolves when the connection of this request is gone. */
  readonly left: Promise<void>;
}

/** The server's side of one answer, in the framing of the API. */
export interface Answer {
  /** Answers with JSON and a status. */
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Sends events, opening the stream with the first. A text is sent as the data of an event as it is. */
  send(events: readonly (object | string)[]): Promise<void>;
  /** Sends bytes that are not events. */
  raw(text: string, contentType?: string): Promise<void>;
  end(): void;
  /** Resets the connection. */
  reset(): void;
}

/** Handles the server's n-th request, counted from 1. */
export type AnswerScript = (answer: Answer, call: SeenCall, n: number) => void | Promise<void>;

export interface OpenAIHttpServer {
  /** The base URL to configure. */
  readonly url: string;
  readonly seen: readonly SeenCall[];
  close(): Promise<void>;
}

/** Starts a server on 127.0.0.1 that frames its answers as the API does and otherwise follows its script. */
export async function startOpenAIHttpServer(script: AnswerScript): Promise<OpenAIHttpServer> {
  const seen: SeenCall[] = [];
  const gone = new WeakMap<Socket, Promise<void>>();
  // Not shorter than a test may pause between two requests on one connection.
  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, response) => {
    response.on("error", () => {});
    incoming.on("error", () => {});
    const left = gone.get(incoming.socket) ?? Promise.resolve();
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const call: SeenCall = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: JSON.parse(Buffer.concat(parts).toString() || "{}") as Record<string, unknown>,
        left,
      };
      void script(answerOn(response), call, seen.push(call));
    });
  });
  server.on("connection", (socket) => {
    gone.set(socket, new Promise((resolve) => socket.once("close", () => resolve())));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answerOn(response: ServerResponse): Answer {
  const write = (text: string) =>
    new Promise<void>((resolve) => {
      response.write(text, () => resolve());
    });
  const open = (contentType: string) => {
    if (response.headersSent) return;
    response.writeHead(200, { "content-type": contentType, "x-request-id": "req_local" });
  };
  return {
    json(status, body, headers = {}) {
      response.writeHead(status, {
        "content-type": "application/json",
        "x-request-id": "req_local",
        ...headers,
      });
      response.end(JSON.stringify(body));
    },
    async send(events) {
      open("text/event-stream; charset=utf-8");
      await write(events.map(frame).join(""));
    },
    async raw(text, contentType = "text/event-stream") {
      open(contentType);
      await write(text);
    },
    end: () => void response.end(),
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

function frame(event: object | string): string {
  if (typeof event === "string") return `data: ${event}\n\n`;
  const { type } = event as { type?: string };
  const name = type === undefined ? "" : `event: ${type}\n`;
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
