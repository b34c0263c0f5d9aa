import type {
  ErrorCode,
  MessageReceipt,
  WsChatError,
  WsChatReceipt,
  WsClientMessage,
  WsServerMessage,
} from "@parley/wire";
import type { Store } from "../conversations/store.js";
import type { Request } from "../requests/request.js";
import { ParleyRequestError, toFailure } from "../requests/request-error.js";
import { backoffMs } from "./backoff.js";
import type { ConnectionState } from "./connection.js";
import { type Audience, dispatchMessage, failureOf } from "./dispatch-message.js";
import type { Link, OutgoingMessage } from "./link.js";
import type { ConnectionPace } from "./pace.js";
import type { Socket, SocketConstructor } from "./socket.js";

/** Codes with which a server refuses permanently: the key, or what it allows. */
const refusalCodes = [4401, 1008];
/** The code with which a server closes when a frame was larger than it accepts. */
const tooLargeCode = 1009;
const queueSurface = "message-queue";
/** After this long an open socket counts as stable, even without a message. */
const stableMs = 5_000;

/** A message that was sent over this socket and has no outcome. */
interface Unanswered {
  readonly message: OutgoingMessage;
  readonly resolve: (receipt: MessageReceipt) => void;
  readonly reject: (error: ParleyRequestError) => void;
}

/** Dependencies and callbacks of a socket link. */
export interface SocketLinkOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly WebSocket: SocketConstructor;
  readonly request: Request;
  readonly pace: ConnectionPace;
  readonly now: () => number;
  readonly random: () => number;
  readonly store: Store<ConnectionState>;
  readonly audience: Audience;
  readonly onUp: () => void;
}

/**
 * One socket for everything. It is in one of four phases:
 *
 * - `connecting`: a socket was requested. When it opens: `open`. When it closes, or takes too long: `waiting`.
 * - `open`: all followers are notified and resume from their cursors, and what was sent without an outcome is sent
 *   again. Every 20 seconds a ping goes out; if nothing at all comes back within 10, the socket counts as dead
 *   whatever its own state, and is given up: `waiting`. When it closes: `waiting`, also with 1012 (the server
 *   restarts) and 1013 (this client was too slow): cursors make reconnecting cheap. When it closes with 4401 or 1008,
 *   the server refuses: `closed`. When it closes with 1009, a frame was too large for the server: the largest message
 *   without an outcome fails, so that it is not sent again forever, and `waiting`.
 * - `waiting`: for a random share of a span that begins at a quarter of a second and doubles up to 15, then
 *   `connecting`. At once when the network comes back, when the page is visible again, and when a caller requests it.
 *   The span is reset once the server has sent more than it sends to every new client, or after five seconds.
 * - `closed`: until a caller requests another attempt; after `close()`, permanently.
 *
 * A browser does not report why a socket could not be opened. So after a socket that never opened, the client asks the
 * server over HTTP for its identity: if the server refuses that, the socket is refused too.
 *
 * Events of a socket that was given up are ignored, so only one socket is ever in use.
 */
export class SocketLink implements Link {
  readonly #options: SocketLinkOptions;
  #socket: Socket | undefined;
  #isOpen = false;
  #isClosed = false;
  #attempt = 0;
  /** By message id. */
  readonly #unanswered = new Map<string, Unanswered>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pinging: ReturnType<typeof setTimeout> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SocketLinkOptions) {
    this.#options = options;
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  follow(conversationId: string, cursor: string): void {
    this.#say({ type: "chat.subscribe", conversationId, cursor });
    this.#followQueue(conversationId);
  }

  #followQueue(conversationId: string): void {
    this.#say({ type: "subscribe", surfaceId: queueSurface, conversationId });
  }

  unfollow(conversationId: string): void {
    this.#say({ type: "chat.unsubscribe", conversationId });
    this.#say({ type: "unsubscribe", surfaceId: queueSurface, conversationId });
  }

  send(message: OutgoingMessage, signal: AbortSignal): Promise<MessageReceipt> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) {
        reject(this.#broken());
        return;
      }
      const sending = { message, resolve, reject };
      this.#unanswered.set(message.messageId, sending);
      signal.addEventListener("abort", () => {
        if (this.#unanswered.get(message.messageId) === sending) this.#unanswered.delete(message.messageId);
      });
      this.#say({ type: "chat.send", ...message });
      if (message.cursor !== undefined) this.#followQueue(message.conversationId);
    });
  }

  /** Checks that the socket still responds. */
  ping(): void {
    if (!this.#isOpen) return;
    this.#say({ type: "ping" });
    this.#deadline ??= setTimeout(() => this.#lost(), this.#options.pace.pongMs);
  }

  open(): void {
    if (this.#isClosed || this.#socket !== undefined) return;
    const { url, apiKey, WebSocket, pace } = this.#options;
    clearTimeout(this.#timer);
    this.#put("connecting");
    const protocols = ["parley.v1.batch", "parley.v1"];
    if (apiKey !== undefined) protocols.push(`bearer.${apiKey}`);
    let socket: Socket;
    try {
      socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, protocols);
    } catch (error) {
      // Neither the address nor the key would be valid on the next attempt.
      this.#refuse(
        new ParleyRequestError("invalid_request", `No socket to ${url}: ${toFailure(error).message}`),
      );
      return;
    }
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    socket.addEventListener("open", () => isCurrent() && this.#opened());
    socket.addEventListener("message", ({ data }) => isCurrent() && this.#received(data));
    socket.addEventListener("close", ({ code }) => isCurrent() && this.#broke(code));
    // A close always follows.
    socket.addEventListener("error", () => {});
    this.#timer = setTimeout(() => this.#lost(), pace.openMs);
  }

  retryNow(): void {
    if (this.#socket === undefined) this.open();
  }

  close(): void {
    this.#isClosed = true;
    this.#letGo(1000);
  }

  #say(message: WsClientMessage): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(message));
  }

  #opened(): void {
    clearTimeout(this.#timer);
    this.#isOpen = true;
    this.#timer = setTimeout(() => this.#proved(), stableMs);
    this.#put("open");
    this.#planPing();
    this.#options.onUp();
  }

  #planPing(): void {
    this.#pinging = setTimeout(() => {
      this.ping();
      this.#planPing();
    }, this.#options.pace.pingMs);
  }

  #received(data: unknown): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    let value: unknown;
    try {
      value = JSON.parse(String(data));
    } catch {
      // Not a Parley server; the next ping will show it.
      return;
    }
    // Several messages in one frame come as a list.
    const messages = (Array.isArray(value) ? value : [value]) as readonly WsServerMessage[];
    for (const message of messages) {
      // The catalog comes with every socket, even with one that breaks as soon as it is used.
      if (message.type !== "catalog") this.#proved();
      if (message.type === "chat.receipt" || message.type === "chat.error") this.#answered(message);
      dispatchMessage(message, this.#options.audience);
    }
  }

  #answered(answer: WsChatReceipt | WsChatError): void {
    const { messageId = "" } = answer;
    const sending = this.#unanswered.get(messageId);
    this.#unanswered.delete(messageId);
    if (answer.type === "chat.receipt") {
      const { type: _, ...receipt } = answer;
      sending?.resolve(receipt);
    } else {
      const { code, message, retryable } = failureOf(answer);
      sending?.reject(new ParleyRequestError(code as ErrorCode, message, { retryable }));
    }
  }

  #broken(): ParleyRequestError {
    return new ParleyRequestError("network", "The connection broke before the answer came", {
      retryable: true,
    });
  }

  /** Records that the socket works: if it breaks, the first wait is a short one again. */
  #proved(): void {
    if (this.#attempt === 0) return;
    this.#attempt = 0;
    this.#put("open");
  }

  /** Gives up a socket that is open but does not respond. */
  #lost(): void {
    const wasOpen = this.#isOpen;
    this.#letGo(4000);
    this.#wait(wasOpen);
  }

  #broke(code: number): void {
    const wasOpen = this.#isOpen;
    if (code === tooLargeCode) {
      const tooLarge = new ParleyRequestError("too_large", "The input is larger than the limit");
      this.#largestUnanswered()?.reject(tooLarge);
    }
    this.#letGo(undefined);
    if (refusalCodes.includes(code)) {
      this.#refuse(
        new ParleyRequestError("unauthorized", "The server refused the connection: a valid key is needed"),
      );
    } else this.#wait(wasOpen);
  }

  /**
   * Returns the message that was too large, if a frame was: the largest one in bytes, since all other frames are
   * short.
   */
  #largestUnanswered(): Unanswered | undefined {
    const sizeOf = ({ message }: Unanswered) => new Blob([JSON.stringify(message)]).size;
    let largest: Unanswered | undefined;
    for (const sending of this.#unanswered.values())
      if (largest === undefined || sizeOf(sending) > sizeOf(largest)) largest = sending;
    return largest;
  }

  /** Closes the socket, if a code is given, and ignores its events from now on. */
  #letGo(code: number | undefined): void {
    for (const timer of [this.#timer, this.#pinging, this.#deadline]) clearTimeout(timer);
    this.#deadline = undefined;
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    for (const { reject } of this.#unanswered.values()) reject(this.#broken());
    this.#unanswered.clear();
    if (code === undefined) return;
    try {
      socket?.close(code);
    } catch {
      // It cannot be closed any further.
    }
  }

  #wait(wasOpen: boolean): void {
    if (this.#isClosed) return;
    const { pace, random, now } = this.#options;
    const ms = backoffMs(this.#attempt, { minMs: pace.retryMinMs, maxMs: pace.retryMaxMs, random });
    this.#attempt += 1;
    this.#put("waiting", { retryAt: now() + ms });
    this.#timer = setTimeout(() => this.open(), ms);
    if (!wasOpen) void this.#askWhetherRefused();
  }

  async #askWhetherRefused(): Promise<void> {
    try {
      await this.#options.request("GET /me");
    } catch (error) {
      const isRefused = error instanceof ParleyRequestError && [401, 403].includes(error.status);
      if (isRefused && !this.#isOpen && !this.#isClosed) {
        this.#letGo(1000);
        this.#refuse(error);
      }
    }
  }

  #refuse(error: ParleyRequestError): void {
    this.#put("closed", { error: toFailure(error) });
  }

  #put(phase: ConnectionState["phase"], more: Partial<ConnectionState> = {}): void {
    const everOpen = phase === "open" || this.#options.store.get().everOpen;
    this.#options.store.set({ phase, attempt: this.#attempt, everOpen, ...more });
  }
}
