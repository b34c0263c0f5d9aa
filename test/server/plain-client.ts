import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";

/*
 * A client written from the wire's document alone: it knows none of Parley's additions, folds the events that the
 * document names, and ignores everything else. Its types are its own on purpose.
 */

interface TurnEvent {
  readonly type: string;
  readonly conversationId: string;
  readonly turnId?: string;
  readonly text?: string;
  readonly delta?: string;
  readonly toolName?: string;
  readonly content?: string;
}

interface Chunk {
  readonly seq: number;
  readonly role: string;
  readonly chunk: { readonly type: string; readonly text?: string };
}

interface SurfaceSpec {
  readonly id: string;
  readonly fields: readonly { readonly rendererId?: string; readonly payload?: unknown }[];
}

interface Message {
  readonly type: string;
  readonly event?: TurnEvent;
  readonly conversationId?: string;
  readonly spec?: SurfaceSpec;
  readonly update?: {
    readonly surfaceId: string;
    readonly spec: SurfaceSpec;
    readonly conversationId?: string;
  };
}

/** Content of a conversation as a page would show it. */
interface Shown {
  /** `user: ...` and `assistant: ...`, the transcript in order. */
  lines: string[];
  sealed: string[];
}

/** One page with one socket. */
export class PlainClient {
  readonly #url: string;
  readonly #socket: WebSocket;
  readonly #shown = new Map<string, Shown>();
  /** The queue of a conversation, as its surface reported it. */
  readonly queues = new Map<string, readonly string[]>();
  readonly #waiting = new Set<() => void>();

  private constructor(url: string, socket: WebSocket) {
    this.#url = url;
    this.#socket = socket;
    socket.on("message", (data) => {
      this.#take(JSON.parse(String(data)) as Message);
      for (const look of this.#waiting) look();
    });
  }

  static async open(url: string): Promise<PlainClient> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`);
    const client = new PlainClient(url, socket);
    await once(socket, "open");
    return client;
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Returns the id of a conversation that does not exist yet. */
  draft(): string {
    return randomUUID();
  }

  subscribe(conversationId: string): void {
    this.#send({ type: "chat.subscribe", conversationId });
  }

  send(conversationId: string, message: string): void {
    this.#send({ type: "chat.send", conversationId, message });
  }

  queue(conversationId: string, text: string): void {
    this.#send({ type: "chat.queue", conversationId, text });
  }

  watchQueue(conversationId: string): void {
    this.#send({ type: "subscribe", surfaceId: "message-queue", conversationId });
  }

  /** Reads the log after `sinceSeq`; a page does this before the first message, too. */
  history(conversationId: string, sinceSeq = 0): Promise<{ chunks: Chunk[]; latestSeq: number }> {
    return this.get(`/conversations/${conversationId}?sinceSeq=${sinceSeq}`);
  }

  async get<Value>(path: string): Promise<Value> {
    return this.#call("GET", path);
  }

  put<Value>(path: string, body: object): Promise<Value> {
    return this.#call("PUT", path, body);
  }

  /** Returns the transcript of the received events. */
  lines(conversationId: string): readonly string[] {
    return this.#of(conversationId).lines;
  }

  /** Waits until `turns` turns of a conversation are sealed. */
  async sealed(conversationId: string, turns = 1): Promise<void> {
    await this.until(() => this.#of(conversationId).sealed.length >= turns);
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  #of(conversationId: string): Shown {
    const found = this.#shown.get(conversationId) ?? { lines: [], sealed: [] };
    this.#shown.set(conversationId, found);
    return found;
  }

  #take(message: Message): void {
    if (message.type === "chat.delta" && message.event !== undefined) this.#fold(message.event);
    if (message.type === "surface" && message.spec !== undefined && message.conversationId !== undefined)
      this.#showQueue(message.conversationId, message.spec);
    const { update } = message;
    if (message.type === "update" && update?.conversationId !== undefined)
      this.#showQueue(update.conversationId, update.spec);
  }

  #showQueue(conversationId: string, spec: SurfaceSpec): void {
    const field = spec.fields.find(({ rendererId }) => rendererId === "message-queue");
    if (field === undefined) return;
    const { messages } = field.payload as { messages: { text: string }[] };
    this.queues.set(
      conversationId,
      messages.map(({ text }) => text),
    );
  }

  #fold(event: TurnEvent): void {
    const shown = this.#of(event.conversationId);
    switch (event.type) {
      case "user-message":
      case "steering":
        shown.lines.push(`user: ${event.text ?? ""}`);
        break;
      case "turn-start":
        shown.lines.push("assistant: ");
        break;
      case "text-delta":
        shown.lines.push(`${shown.lines.pop() ?? ""}${event.delta ?? ""}`);
        break;
      case "turn-sealed":
        shown.sealed.push(event.turnId ?? "");
        break;
    }
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  async #call<Value>(method: string, path: string, body?: object): Promise<Value> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status}`);
    return (await response.json()) as Value;
  }
}
