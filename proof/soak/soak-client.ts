import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, createClient, type ParleyClient, ParleyRequestError } from "@parley/client";
import { WebSocket } from "ws";
import type { Random } from "../../test/kill/random.js";
import { agentOptions, createAgentFetch } from "./agent-fetch.js";

/** Address of a server, and the key for it. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string;
}

/**
 * Number of acts after which a conversation is deleted, and another one started: the stored amount stays about the
 * same.
 */
const actsPerConversation = 20;
const settleMs = 20;

/** A client that does a bit of everything, one thing after the other, in conversations of its own. */
export class SoakClient {
  /** Number of times each act was done. */
  readonly acts = new Map<string, number>();
  /** Failures, in words. */
  readonly failures: string[] = [];
  readonly #address: ServerAddress;
  readonly #name: string;
  readonly #random: Random;
  readonly #agent = new Agent(agentOptions);
  readonly #client: ParleyClient;
  #connection: Connection | undefined;
  #conversations = 0;
  #actsHere = 0;
  #id = "";

  constructor(name: string, address: ServerAddress, random: Random) {
    this.#address = address;
    this.#name = name;
    this.#random = random;
    this.#client = createClient({
      url: address.url,
      apiKey: address.key,
      WebSocket,
      fetch: createAgentFetch(this.#agent),
      schedule: (run) => {
        const timer = setTimeout(run, 16);
        return () => clearTimeout(timer);
      },
      pace: { retryMinMs: 20, retryMaxMs: 200, lingerMs: 0 },
    });
  }

  /** Talks until it is stopped, and ends with nothing of its own left running. */
  async talk(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (this.#actsHere === 0) await this.#begin();
      const [name, act] = this.#random.pick(this.#actions);
      await this.#perform(name, act);
      this.#actsHere += 1;
      if (this.#actsHere > actsPerConversation) await this.#perform("delete", () => this.#delete());
      await sleep(this.#random.between(5, 60));
    }
  }

  /** Closes what it holds open. Its conversation is deleted, so that nothing is left of it. */
  async rest(): Promise<void> {
    if (this.#actsHere > 0) await this.#perform("delete", () => this.#delete());
    this.#connection?.close();
    this.#connection = undefined;
    this.#agent.destroy();
  }

  readonly #actions: readonly (readonly [string, () => Promise<void>])[] = [
    ["chat", () => this.#chat("quick")],
    ["chat with tools", () => this.#chat("tools")],
    ["send by socket", () => this.#sendBySocket("quick")],
    ["send by socket with tools", () => this.#sendBySocket("tools")],
    ["steer and queue", () => this.#queue()],
    ["stop", () => this.#stop()],
    ["leave in the middle", () => this.#leave()],
    ["follow by events", () => this.#follow()],
    ["reconnect", () => this.#reconnect()],
    ["fork", () => this.#fork()],
    ["compact", () => this.#compact()],
    ["read", () => this.#read()],
    ["change", () => this.#change()],
  ];

  async #begin(): Promise<void> {
    this.#conversations += 1;
    this.#id = `${this.#name}-${this.#conversations}`;
    await this.#client.request("POST /conversations", { body: { id: this.#id, title: "soak" } });
    await this.#chat("quick");
    this.#actsHere = 1;
  }

  async #perform(name: string, act: () => Promise<void>): Promise<void> {
    this.acts.set(name, (this.acts.get(name) ?? 0) + 1);
    try {
      await act();
    } catch (error) {
      const words =
        error instanceof ParleyRequestError
          ? `${error.code}: ${error.message}`
          : String((error as Error).stack);
      this.failures.push(`${name}: ${words}`);
    }
  }

  async #chat(word: string): Promise<void> {
    let last = "";
    const message = `${word} hello`;
    for await (const event of this.#client.chat({ conversationId: this.#id, message })) last = event.type;
    if (last !== "turn-sealed") throw new Error(`a turn ended with ${last}`);
  }

  #open(): Connection {
    this.#connection ??= this.#client.connect();
    return this.#connection;
  }

  async #sendBySocket(word: string): Promise<void> {
    const handle = this.#open().conversation(this.#id);
    try {
      await handle.send(`${word} by socket`);
      await this.#settled();
    } finally {
      handle.release();
    }
  }

  async #queue(): Promise<void> {
    const handle = this.#open().conversation(this.#id);
    try {
      await handle.send("slow start");
      await handle.send("quick steered", { ifBusy: "steer" });
      await handle.send("quick queued", { ifBusy: "queue" });
      const { messageId } = await this.#enqueue("quick and gone");
      await this.#client
        .request("DELETE /conversations/:id/queue/:messageId", { params: { id: this.#id, messageId } })
        .catch(ignoreDelivered);
      await this.#settled();
    } finally {
      handle.release();
    }
  }

  async #enqueue(text: string): Promise<{ messageId: string }> {
    const messageId = `${this.#id}-q${this.#random.between(0, 1e9)}`;
    await this.#client.request("POST /conversations/:id/queue", {
      params: { id: this.#id },
      body: { text, messageId, mode: "queue" },
    });
    return { messageId };
  }

  async #stop(): Promise<void> {
    const handle = this.#open().conversation(this.#id);
    try {
      await handle.send("slow to be stopped");
      await this.#enqueue("quick after the stop");
      await sleep(this.#random.between(0, 150));
      await this.#client.request("POST /conversations/:id/stop", { params: { id: this.#id } });
      await this.#client.request("GET /conversations/:id/last", { params: { id: this.#id } });
      await this.#client.request("POST /conversations/:id/queue/resume", { params: { id: this.#id } });
      await this.#settled();
    } finally {
      handle.release();
    }
  }

  /** Opens a socket that breaks in the middle of a turn, as sockets do. */
  async #leave(): Promise<void> {
    const { url, key } = this.#address;
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, ["parley.v1", `bearer.${key}`]);
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("open", resolve));
    const wanted = this.#random.between(1, 20);
    let received = 0;
    const enough = new Promise<void>((resolve) => {
      socket.on("message", () => {
        received += 1;
        if (received > wanted) resolve();
      });
      socket.once("close", () => resolve());
    });
    socket.send(JSON.stringify({ type: "chat.send", conversationId: this.#id, message: "slow and left" }));
    socket.send(JSON.stringify({ type: "subscribe", surfaceId: "message-queue", conversationId: this.#id }));
    await enough;
    socket.terminate();
    await this.#settled();
  }

  async #follow(): Promise<void> {
    const leaving = new AbortController();
    const wanted = this.#random.between(1, 15);
    let seen = 0;
    const following = (async () => {
      for await (const _ of this.#client.follow(this.#id, { cursor: "0", signal: leaving.signal })) {
        seen += 1;
        if (seen >= wanted) return;
      }
    })().catch(() => undefined);
    await this.#chat("tools");
    leaving.abort();
    await following;
  }

  async #reconnect(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
    const handle = this.#open().conversation(this.#id);
    try {
      await handle.send("quick hello again");
      await this.#settled();
    } finally {
      handle.release();
    }
  }

  async #fork(): Promise<void> {
    const params = { id: this.#id };
    const { turns } = await this.#client.request("GET /conversations/:id/metrics", { params });
    const turnId = turns.at(-1)?.turnId ?? "";
    const turn = await this.#client.request("GET /conversations/:id/turns/:turnId", {
      params: { ...params, turnId },
    });
    const { conversation } = await this.#client.request("POST /conversations/:id/fork", {
      params,
      body: { atSeq: turn.chunks.at(-1)?.seq ?? 0, message: "quick in a fork" },
    });
    await this.#client.request("GET /conversations/:id/last", { params: { id: conversation.id } });
    // Half of them are deleted with the conversation that they were forked from.
    if (this.#random.chance(0.5)) {
      await this.#client.request("DELETE /conversations/:id", { params: { id: conversation.id } });
    }
  }

  async #compact(): Promise<void> {
    const params = { id: this.#id };
    await this.#chat("quick");
    await this.#chat("quick");
    await this.#client.request("POST /conversations/:id/compact", { params, body: { keepLastN: 1 } });
    if (this.#random.chance(0.5)) {
      await this.#client.request("POST /conversations/:id/compact/undo", { params });
    }
  }

  async #read(): Promise<void> {
    const params = { id: this.#id };
    await this.#client.request("GET /conversations", { query: { limit: 20 } });
    await this.#client.request("GET /conversations/:id", { params, query: { limit: 50 } });
    await this.#client.request("GET /search", { query: { q: "sentence", limit: 5 } });
    let size = 0;
    for await (const line of this.#client.exportConversation(this.#id, "jsonl")) size += line.length;
    if (size === 0) throw new Error("an empty export");
  }

  async #change(): Promise<void> {
    const params = { id: this.#id };
    const title = `soak ${this.#random.between(0, 999)}`;
    await this.#client.request("PUT /conversations/:id/title", { params, body: { title } });
    await this.#client.request("POST /conversations/:id/close", { params });
    await this.#client.request("POST /conversations/:id/open", { params });
    await this.#client
      .request("GET /conversations/:id/meta", { params: { id: "unknown" } })
      .catch(ignoreMissing);
  }

  async #delete(): Promise<void> {
    const [params, query] = [{ id: this.#id }, { cascade: true }];
    this.#actsHere = 0;
    // Some are deleted while they run, with messages that wait.
    if (this.#random.chance(0.3)) {
      await this.#enqueue("slow and deleted");
      await this.#enqueue("quick and deleted");
    }
    await this.#client.request("DELETE /conversations/:id", { params, query });
  }

  /** Resolves when nothing runs or waits in the conversation any more. */
  async #settled(): Promise<void> {
    const params = { id: this.#id };
    for (;;) {
      await this.#client.request("GET /conversations/:id/last", { params });
      const { status, queue } = await this.#client.request("GET /conversations/:id/meta", { params });
      if (status !== "active" && queue.messages.length === 0) return;
      if (queue.paused === true) {
        await this.#client.request("POST /conversations/:id/queue/resume", { params });
      }
      await sleep(settleMs);
    }
  }
}

function ignoreDelivered(error: unknown): void {
  if (!(error instanceof ParleyRequestError) || error.code !== "message_conflict") throw error;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof ParleyRequestError) || error.code !== "conversation_not_found") throw error;
}
