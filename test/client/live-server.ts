import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket as TcpSocket } from "node:net";
import { systemClock } from "@parley/core";
import type { LogStoreRoot, Wake } from "@parley/core/ports";
import { createModelCatalog, createRuntime, type Runtime } from "@parley/core/runtime";
import type { Tool } from "@parley/core/turn";
import { createKey, type RunningServer, type ServeOptions, serve } from "@parley/server";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  fail,
  type Gate,
  gate,
  pause,
  type Script,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import { afterEach } from "vitest";
import { WebSocket } from "ws";
import { type ClientOptions, createClient, type ParleyClient } from "../../packages/client/src/client.js";
import type { ConversationState } from "../../packages/client/src/state/conversation-state.js";

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs a cleanup after the test, last one first. */
export function afterwards(cleanup: () => Promise<void> | void): void {
  cleanups.push(cleanup);
}

/** Settings of a server that differ from the usual ones. */
type LiveServerOptions = Pick<ServeOptions, "auth" | "limits"> & {
  /** Opens another store than the memory's. */
  readonly open?: () => { readonly store: LogStoreRoot; readonly wake: Wake };
};

/**
 * A real server on a memory store that outlives it. Its model echoes the message; on "wait" it stops at the gate in
 * the middle of its answer, on "tool" it uses a tool first, and on "fail" it fails.
 */
export class LiveServer {
  readonly #database = createMemoryDatabase(systemClock);
  readonly #wake = createMemoryWake();
  /** Gate at which answers wait. */
  at: Gate = gate();
  /** Gate at which the tool waits. */
  tool: Gate = gate();
  #opened!: { readonly store: LogStoreRoot; readonly wake: Wake };
  runtime!: Runtime;
  server!: RunningServer;
  #port = 0;
  #isRunning = false;

  get url(): string {
    return this.server.url;
  }

  /** Starts it; again, on the port that it had. */
  async start({ open, ...options }: LiveServerOptions = {}): Promise<void> {
    await this.startRuntime(open);
    this.server = await serve(this.runtime, { ...options, port: this.#port });
    this.#port = this.server.port;
    this.#isRunning = true;
  }

  /** Starts the runtime without a server: for what happens before the server is back. */
  async startRuntime(open?: LiveServerOptions["open"]): Promise<void> {
    this.#opened = open?.() ?? {
      store: createMemoryLogStore({ clock: systemClock, database: this.#database }),
      wake: this.#wake,
    };
    const provider = createScriptedProvider(({ messages }) => {
      const user = messages.findLast(({ role }) => role === "user")?.content.at(-1);
      const isAnswered = messages.at(-1)?.role === "tool";
      return this.#script(user?.type === "text" ? user.text : "", isAnswered);
    });
    this.runtime = await createRuntime({
      ...this.#opened,
      tools: [this.#tool()] as Tool<never>[],
      models: createModelCatalog([
        { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 1_000 },
        { name: "test/two", provider, providerName: "test", model: "two", contextWindow: 2_000 },
      ]),
    });
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    await this.server.close({ deadlineMs: 0 });
    await this.stopRuntime();
  }

  async stopRuntime(): Promise<void> {
    await this.runtime.close();
    if (this.#opened.wake === this.#wake) return;
    await this.#opened.store.close();
    await this.#opened.wake.close?.();
  }

  async key(): Promise<string> {
    const { secret, record } = createKey({ owner: "me" });
    await this.runtime.keys.add(record);
    return secret;
  }

  #script(said: string, isAnswered: boolean): Script {
    const answer = [text(`You said: ${said}`, { size: 4 }), usage(20, 8)];
    if (said.includes("fail")) return [text("Well"), fail("provider_rejected", "I would rather not")];
    if (said.includes("tool") && !isAnswered) return [text("Let me see."), toolCall("look", {}), usage(9, 3)];
    return said.includes("wait") ? [text("One moment. "), pause(this.at), ...answer] : answer;
  }

  #tool(): Tool<object> {
    return {
      name: "look",
      execute: async (_, { output }) => {
        output("looking ");
        await this.tool.wait();
        return "seen";
      },
    };
  }
}

export async function liveServer(options: LiveServerOptions = {}): Promise<LiveServer> {
  const live = new LiveServer();
  await live.start(options);
  afterwards(() => {
    live.at.open();
    live.tool.open();
    return live.stop();
  });
  return live;
}

/** A network between a client and a server, which can be cut, frozen or taken down. */
export class Network {
  readonly #pairs = new Set<{ readonly near: TcpSocket; readonly far: TcpSocket }>();
  readonly #targetPort: number;
  #listener: Server | undefined;
  #port = 0;
  #isFrozen = false;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async up(): Promise<void> {
    const listener = createServer((near) => {
      const far = connect(this.#targetPort, "127.0.0.1");
      const pair = { near, far };
      this.#pairs.add(pair);
      const end = () => {
        near.destroy();
        far.destroy();
        this.#pairs.delete(pair);
      };
      for (const socket of [near, far]) socket.on("error", end).on("close", end);
      near.on("data", (data) => far.write(data));
      far.on("data", (data) => {
        if (!this.#isFrozen) near.write(data);
      });
    });
    this.#listener = listener;
    await new Promise<void>((resolve) => listener.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (listener.address() as AddressInfo).port;
  }

  /** Breaks every connection. New ones can be made. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Breaks every connection, and accepts no new ones. */
  async down(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.#listener?.listening) this.#listener.close(() => resolve());
      else resolve();
    });
    this.cut();
    await closed;
  }

  /** Stops all bytes from the server on every connection, without breaking any of them. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
  }
}

export async function networkTo(server: { readonly port: number }): Promise<Network> {
  const network = new Network(server.port);
  await network.up();
  afterwards(() => network.down());
  return network;
}

/** Creates a client that reconnects quickly; its connection is closed after the test. */
export function testClient(url: string, more: Partial<ClientOptions> = {}): ParleyClient {
  const pace = { retryMinMs: 5, retryMaxMs: 40, lingerMs: 20, ...more.pace };
  const client = createClient({ url, WebSocket, ...more, pace });
  afterwards(() => client.connect().close());
  return client;
}

interface Watched<T> {
  getState(): T;
  subscribe(listener: () => void): () => void;
}

/** Waits until a state matches. */
export function until<T>(watched: Watched<T>, matches: (state: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    let stop = () => {};
    const look = () => {
      const state = watched.getState();
      if (!matches(state)) return;
      stop();
      resolve(state);
    };
    stop = watched.subscribe(look);
    look();
  });
}

export const isIdle = ({ status, messages }: ConversationState) =>
  status === "idle" && messages.length > 0 && messages.every((message) => message.status === "committed");

/** Returns the text of the last message. */
export function lastText({ messages }: ConversationState): string {
  const chunk = messages.at(-1)?.parts.at(-1)?.chunk;
  return chunk !== undefined && "text" in chunk ? chunk.text : "";
}
