import type {
  AgentEvent,
  ImportResponse,
  MessageReceipt,
  SendMessageRequest,
  SseMessage,
} from "@parley/wire";
import { type Connection, createConnection } from "./connection/connection.js";
import { type FollowOptions, followConversation } from "./connection/follow-conversation.js";
import { type ConnectionPace, defaultPace } from "./connection/pace.js";
import type { SocketConstructor } from "./connection/socket.js";
import { frameSchedule, type Schedule } from "./conversations/store.js";
import type { OutboxStorage } from "./outbox/outbox-storage.js";
import { readLines } from "./requests/read-lines.js";
import {
  type Caller,
  createCaller,
  parseJson,
  type Request,
  readJson,
  transportError,
} from "./requests/request.js";
import { ParleyRequestError } from "./requests/request-error.js";
import { sendMessage } from "./requests/send-message.js";
import { exportConversation, importConversation } from "./requests/transfer.js";

/** Options of a client. */
export interface ClientOptions {
  /** Address of the server, such as `http://127.0.0.1:4141`, with the path that it is mounted under. */
  readonly url: string;
  /** Absent: for a page of the server's own origin, which has a cookie, or a server that requires no key. */
  readonly apiKey?: string | undefined;
  /** Absent: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Absent: the global one; on Node 20 there is none, so give the one of `ws`. Null: follow by server-sent events. */
  readonly WebSocket?: SocketConstructor | null | undefined;
  /** Keeps messages that the server does not have beyond the life of the page. Absent: they live as long as the client. */
  readonly storage?: OutboxStorage | undefined;
  /** Schedule for notifying listeners of changes. Absent: with the next animation frame, or within 16 ms. */
  readonly schedule?: Schedule | undefined;
  /** Delays of reconnects, pings and lingering subscriptions. */
  readonly pace?: Partial<ConnectionPace> | undefined;
  /** The wall clock. */
  readonly now?: (() => number) | undefined;
  /** From 0 to 1, for the jitter of reconnects. */
  readonly random?: (() => number) | undefined;
}

/** A typed client. */
export interface ParleyClient {
  /** Address of the server. */
  readonly url: string;
  /** Calls any JSON route: `request("GET /conversations/:id/meta", { params: { id } })`. */
  readonly request: Request;
  /** Calls any route and returns its response unread: for the bytes of files. */
  readonly call: Caller;
  /**
   * Sends a message and yields the events of its turn, through `turn-sealed`, or through the `status` that reports
   * that it waits for input. With a message id, sending the same again returns the same turn. Leaving early does not
   * affect the turn. While another turn runs, the message is refused: a message that may wait is for `send`.
   */
  chat(
    request: Omit<SendMessageRequest, "ifBusy">,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<AgentEvent>;
  /** Sends a message in one attempt and returns its receipt; its turn continues. `ifBusy` sets if it may wait. */
  send(
    request: SendMessageRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<MessageReceipt>;
  /** Follows a conversation by server-sent events, and reconnects by itself when it is cut off. */
  follow(conversationId: string, options?: FollowOptions): AsyncIterable<SseMessage>;
  /** Yields a conversation as text: `jsonl` one line at a time with its line feed, `markdown` as it comes. */
  exportConversation(
    id: string,
    format: "jsonl" | "markdown",
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<string>;
  /** Imports the lines of one export, in pieces of any size, with or without their line feeds. */
  importConversation(
    lines: AsyncIterable<string> | Iterable<string> | string,
    options?: { readonly id?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<ImportResponse>;
  /** Returns the connection, which all callers share. */
  connect(): Connection;
}

/** Creates a client of the server at `options.url`. */
export function createClient(options: ClientOptions): ParleyClient {
  const url = options.url.replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]/.test(url)) {
    throw new ParleyRequestError("invalid_request", `url: "${options.url}" is no http address`);
  }
  const { apiKey, storage, now = Date.now, random = Math.random, schedule = frameSchedule } = options;
  // Called as a plain function: browsers refuse a `fetch` that is called as a method of another object.
  const ask: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  const call = createCaller({ url, apiKey, fetch: ask });
  const request: Request = async (name, ...[input]) => {
    const signal = input?.signal;
    return (await readJson(await call(name, input), signal)) as never;
  };
  const pace = { ...defaultPace, ...options.pace };
  const followPace = { minMs: pace.retryMinMs, maxMs: pace.retryMaxMs, random };
  let connection: Connection | undefined;

  return {
    url,
    request,
    call,
    chat: (message, { signal } = {}) => chat(call, message, signal),
    send: (message, { signal } = {}) => sendMessage(call, message, signal),
    follow: (conversationId, follow = {}) => followConversation(call, conversationId, follow, followPace),
    exportConversation: (id, format, { signal } = {}) => exportConversation(call, id, format, signal),
    importConversation: (lines, more = {}) => importConversation(call, lines, more),
    connect() {
      const { WebSocket = globalThis.WebSocket as SocketConstructor | undefined } = options;
      if (WebSocket === undefined) {
        throw new ParleyRequestError(
          "invalid_request",
          "WebSocket: pass the one of ws, or null for server-sent events",
        );
      }
      connection ??= createConnection(
        { url, apiKey, call, request, storage, WebSocket, schedule, pace, now, random },
        () => {
          connection = undefined;
        },
      );
      return connection;
    },
  };
}

async function* chat(
  call: Caller,
  message: Omit<SendMessageRequest, "ifBusy">,
  signal: AbortSignal | undefined,
): AsyncGenerator<AgentEvent, void, undefined> {
  const response = await call("POST /chat", { body: message, accept: "application/x-ndjson", signal });
  try {
    if (response.body !== null) {
      for await (const line of readLines(response.body, signal)) {
        if (line === "") continue;
        const event = parseJson(line) as AgentEvent;
        yield event;
        if (event.type === "turn-sealed" || (event.type === "status" && event.waiting !== undefined)) return;
      }
    }
    const cut = "The answer broke off, the turn goes on: send the same message id again";
    throw new ParleyRequestError("network", cut, { retryable: true });
  } catch (cause) {
    throw transportError(cause, signal, response.url);
  }
}
