import type { AgentEvent, ImportResponse, SendMessageRequest, SseMessage } from "@parley/wire";
import type { Connection } from "./connection.js";
import type { Request } from "./request.js";

/** The part of a socket that the client uses: a browser's `WebSocket`, or the one of the package `ws`. */
export interface Socket {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

/** Makes sockets. */
export type SocketConstructor = new (url: string, protocols?: string[]) => Socket;

/** How to reach a server. */
export interface ClientOptions {
  /** Where the server is, as `http://127.0.0.1:4141`, with the path that it is mounted under. */
  readonly url: string;
  /** Absent: a page of the server's own origin, which has a cookie, or a server that asks for no key. */
  readonly apiKey?: string | undefined;
  /** Absent: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Absent: the global one; on Node 20 there is none, so give the one of `ws`. Null: follow by server-sent events. */
  readonly WebSocket?: SocketConstructor | null | undefined;
  /** When listeners hear of changes. Absent: with the next animation frame, or within 16 ms. */
  readonly schedule?: ((flush: () => void) => void) | undefined;
  /** The wall clock. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1, for the jitter of reconnects. */
  readonly random?: (() => number) | undefined;
}

/** A typed client. */
export interface ParleyClient {
  /** Where the server is. */
  readonly url: string;
  /** Calls any JSON route: `request("GET /conversations/:id/meta", { params: { id } })`. */
  readonly request: Request;
  /**
   * Sends a message and gives the events of its turn, through `turn-sealed`. With a message id, sending the same
   * again gives the same turn. Leaving early does not touch the turn.
   */
  chat(
    request: SendMessageRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<AgentEvent>;
  /** Follows a conversation by server-sent events, and comes back by itself when it is cut off. */
  follow(
    conversationId: string,
    options?: { readonly cursor?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<SseMessage>;
  /** A conversation as text, in pieces. */
  exportConversation(
    id: string,
    format: "jsonl" | "markdown",
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<string>;
  /** Imports the lines of one export. */
  importConversation(
    lines: AsyncIterable<string> | Iterable<string> | string,
    options?: { readonly id?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<ImportResponse>;
  /** The connection; one for all callers. */
  connect(): Connection;
}

/** A client of the server at `options.url`. */
export function createClient(options: ClientOptions): ParleyClient {
  throw new Error(`Cannot reach ${options.url} yet`);
}
