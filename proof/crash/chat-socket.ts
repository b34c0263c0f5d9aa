import type { SubscriptionFrame } from "@parley/core/runtime";
import type { WsChatQueue, WsChatReceipt, WsChatSend, WsClientMessage, WsServerMessage } from "@parley/wire";
import { WebSocket } from "ws";
import { Refused } from "../../test/kill/running-node.js";
import { OutcomeUnknown } from "./call.js";

const pingMs = 300;

interface Asked {
  resolve(receipt: WsChatReceipt): void;
  reject(error: Error): void;
}

/** One socket to one node, as a client holds it. */
export class ChatSocket {
  onFrame: (frame: SubscriptionFrame) => void = () => {};
  onClosed: () => void = () => {};
  /** The node's message when it ended what was followed here. */
  refusal = "";
  readonly #socket: WebSocket;
  readonly #asked = new Map<string, Asked>();
  #pongs: (() => void)[] = [];
  #receivedAt = performance.now();
  readonly #pings: NodeJS.Timeout;

  private constructor(socket: WebSocket, patienceMs: number) {
    this.#socket = socket;
    socket.on("message", (data) => {
      this.#receivedAt = performance.now();
      const message = JSON.parse(String(data)) as WsServerMessage | WsServerMessage[];
      for (const each of Array.isArray(message) ? message : [message]) this.#take(each);
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearInterval(this.#pings);
      for (const { reject } of this.#asked.values()) reject(new OutcomeUnknown("the socket was closed"));
      this.#asked.clear();
      for (const pong of this.#pongs) pong();
      this.onClosed();
    });
    this.#pings = setInterval(() => {
      if (performance.now() > this.#receivedAt + patienceMs) this.close();
      else this.say({ type: "ping" });
    }, pingMs);
  }

  /** Connects to the node at `url`; rejects when that fails, and closes when nothing is received for `patienceMs`. */
  static async open(url: string, patienceMs: number): Promise<ChatSocket> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { handshakeTimeout: patienceMs });
    const opened = new ChatSocket(socket, patienceMs);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("close", () => reject(new OutcomeUnknown("the socket could not be opened")));
    });
    return opened;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  say(message: WsClientMessage): void {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  /** Sends a message and resolves with its receipt. */
  ask(message: (WsChatSend | WsChatQueue) & { readonly messageId: string }): Promise<WsChatReceipt> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(new OutcomeUnknown("the socket is closed"));
      this.#asked.set(message.messageId, { resolve, reject });
      this.say(message);
    });
  }

  /** Resolves when everything has arrived that the node sent before it received this; or when the socket is closed. */
  echo(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isOpen) return resolve();
      this.#pongs.push(resolve);
      this.say({ type: "ping" });
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  #take(message: WsServerMessage): void {
    switch (message.type) {
      case "chat.delta":
      case "chat.snapshot":
      case "chat.chunks":
      case "chat.reset":
        this.onFrame(message);
        return;
      case "chat.receipt": {
        this.#answer(message.messageId)?.resolve(message);
        return;
      }
      case "chat.error": {
        const { messageId, code, message: words, retryable = false } = message;
        const asked = messageId === undefined ? undefined : this.#answer(messageId);
        asked?.reject(new Refused(code, words, retryable));
        // The subscription has ended: reconnect.
        if (messageId !== undefined) return;
        this.refusal = `${code}: ${words}`;
        this.close();
        return;
      }
      case "pong": {
        const pongs = this.#pongs;
        this.#pongs = [];
        for (const pong of pongs) pong();
        return;
      }
      default:
    }
  }

  #answer(messageId: string): Asked | undefined {
    const asked = this.#asked.get(messageId);
    this.#asked.delete(messageId);
    return asked;
  }
}
