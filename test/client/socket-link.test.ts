import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type ClientOptions, createClient } from "../../packages/client/src/client.js";
import { afterwards, testClient, until } from "./live-server.js";

/** A server that does nothing by itself: the test controls it. */
class PuppetServer {
  readonly sockets: WebSocket[] = [];
  readonly offered: string[][] = [];
  readonly said: Record<string, unknown>[] = [];
  /** Returns its answers over HTTP. */
  answer: (path: string) => { status: number; body?: unknown } = () => ({ status: 404 });
  onConnect: (socket: WebSocket) => void = (socket) => socket.send('{"type":"catalog","catalog":[]}');
  url = "";
  #waiting: (() => void)[] = [];

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const { status, body } = this.answer(request.url ?? "");
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
    });
    const sockets = new WebSocketServer({
      server,
      handleProtocols: (protocols) => {
        this.offered.push([...protocols]);
        return [...protocols][0] ?? false;
      },
    });
    sockets.on("connection", (socket) => {
      this.sockets.push(socket);
      socket.on("message", (data) => {
        this.said.push(JSON.parse(String(data)) as Record<string, unknown>);
        for (const wake of this.#waiting.splice(0)) wake();
      });
      this.onConnect(socket);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    afterwards(async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return this;
  }

  /** Waits until the server has seen what the test waits for. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }
}

const puppet = () => new PuppetServer().start();
const connect = (url: string, more: Partial<ClientOptions> = {}) => testClient(url, more).connect();

describe("the socket", () => {
  it("offers batches first, then single messages, then the key", async () => {
    const server = await puppet();
    const connection = connect(`${server.url}/`, { apiKey: "pk_secret" });
    await until(connection, ({ phase }) => phase === "open");
    expect(server.offered).toEqual([["parley.v1.batch", "parley.v1", "bearer.pk_secret"]]);
  });

  it("takes several messages in one frame, and leaves out what it does not understand", async () => {
    const server = await puppet();
    const connection = connect(server.url);
    const asked: string[] = [];
    connection.onOpenRequest((id) => asked.push(id));
    await until(connection, ({ phase }) => phase === "open");
    const open = (id: string) => ({ type: "conversation.open", conversationId: id });
    const [socket] = server.sockets;
    socket?.send("{not json");
    socket?.send(JSON.stringify({ type: "something.new" }));
    socket?.send(JSON.stringify([open("a"), { type: "pong" }, open("b")]));
    socket?.send(JSON.stringify(open("c")));
    await vi.waitUntil(() => asked.length === 3, 30_000);
    expect(asked).toEqual(["a", "b", "c"]);
  });

  it.each([1012, 1013, 1001, 1006])("comes back after it was closed with %i", async (code) => {
    const server = await puppet();
    const connection = connect(server.url);
    await until(connection, ({ phase }) => phase === "open");
    if (code === 1006) server.sockets[0]?.terminate();
    else server.sockets[0]?.close(code);
    const waiting = await until(connection, ({ phase }) => phase === "waiting");
    expect(waiting).toMatchObject({ attempt: 1, everOpen: true, retryAt: expect.any(Number) });
    await server.until(() => server.sockets.length === 2);
    server.sockets[1]?.send('{"type":"pong"}');
    expect(await until(connection, ({ phase, attempt }) => phase === "open" && attempt === 0)).toBeDefined();
  });

  it("waits longer with every socket that breaks before it was good for anything", async () => {
    const server = await puppet();
    server.onConnect = (socket) => {
      socket.send('{"type":"catalog","catalog":[]}');
      socket.close(1009);
    };
    const connection = connect(server.url, { pace: { retryMinMs: 1, retryMaxMs: 2 } });
    expect(await until(connection, ({ attempt }) => attempt === 4)).toMatchObject({ everOpen: true });
  });

  it.each([4401, 1008])("stays closed after it was refused with %i", async (code) => {
    const server = await puppet();
    server.onConnect = (socket) => socket.close(code);
    const connection = connect(server.url);
    const closed = await until(connection, ({ phase }) => phase === "closed");
    expect(closed.error).toMatchObject({ code: "unauthorized", retryable: false });
    expect(server.sockets).toHaveLength(1);
    server.onConnect = (socket) => socket.send('{"type":"catalog","catalog":[]}');
    connection.retryNow();
    await until(connection, ({ phase }) => phase === "open");
    expect(connection.getState().error).toBeUndefined();
  });

  it("requests its identity when it cannot be opened, for a browser does not report why", async () => {
    const server = await puppet();
    const asked: string[] = [];
    server.answer = (path) => {
      asked.push(path);
      return { status: 401, body: { code: "unauthorized", title: "A valid key is needed", status: 401 } };
    };
    class Refused extends WebSocket {
      constructor() {
        super(`${server.url.replace("http", "ws")}/nowhere`, { handshakeTimeout: 1 });
        setImmediate(() => this.terminate());
      }
    }
    const connection = connect(server.url, { WebSocket: Refused });
    const closed = await until(connection, ({ phase }) => phase === "closed");
    expect(closed.error).toMatchObject({ code: "unauthorized", message: "A valid key is needed" });
    expect(asked).toContain("/me");
  });

  it("waits longer with every failure, by chance, and at most so long", async () => {
    const spans: (number | undefined)[] = [];
    class Broken {
      addEventListener(type: string, listener: (event: { code: number }) => void) {
        if (type === "close") queueMicrotask(() => listener({ code: 1006 }));
      }
      send() {}
      close() {}
    }
    const connection = connect("http://127.0.0.1:9", {
      WebSocket: Broken as never,
      pace: { retryMinMs: 1, retryMaxMs: 6 },
      random: () => 1,
      now: () => 1_000,
      schedule: (flush) => flush(),
    });
    await until(connection, ({ phase, attempt, retryAt }) => {
      if (phase === "waiting" && spans.length < attempt) spans.push((retryAt ?? 0) - 1_000);
      return attempt === 5;
    });
    expect(spans).toEqual([1, 2, 4, 6, 6]);
    expect(connection.getState().everOpen).toBe(false);
  });

  it("does not try again what can never work", () => {
    class Impossible {
      constructor() {
        throw new SyntaxError("bad subprotocol");
      }
    }
    const connection = connect("http://127.0.0.1:9", { WebSocket: Impossible as never, apiKey: "a key" });
    expect(connection.getState()).toMatchObject({
      phase: "closed",
      error: { code: "invalid_request", message: expect.stringContaining("bad subprotocol") },
    });
  });

  it("gives up a socket that does not open in time", async () => {
    const server = await puppet();
    const silent = createTcpServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    afterwards(() => void silent.close());
    const nowhere = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    let made = 0;
    class Slow extends WebSocket {
      constructor(url: string, protocols?: string[]) {
        super(made === 0 ? nowhere : url, protocols);
        made += 1;
      }
    }
    const connection = connect(server.url, { WebSocket: Slow, pace: { openMs: 50 } });
    await until(connection, ({ phase }) => phase === "waiting");
    await until(connection, ({ phase }) => phase === "open");
  });

  it("pings, and takes any word for an answer", async () => {
    const server = await puppet();
    const connection = connect(server.url, { pace: { pingMs: 5, pongMs: 2_000 } });
    await until(connection, ({ phase }) => phase === "open");
    await server.until(() => server.said.filter(({ type }) => type === "ping").length >= 2);
    expect(connection.getState().phase).toBe("open");
  });

  it("is given up when a ping is not answered", async () => {
    const server = await puppet();
    const connection = connect(server.url, { pace: { pingMs: 5, pongMs: 5 } });
    await server.until(() => server.sockets.length >= 2);
    expect(connection.getState().everOpen).toBe(true);
  });

  it("subscribes again to all that is followed, and to its queue", async () => {
    const server = await puppet();
    const meta = { id: "c", createdAt: 1, lastActivityAt: 1, title: "C", status: "idle" };
    server.answer = (path) =>
      path.includes("/meta")
        ? { status: 200, body: { ...meta, queue: { messages: [] }, cursor: "0" } }
        : { status: 200, body: { chunks: [], latestSeq: 0 } };
    const connection = connect(server.url);
    const handle = connection.conversation("c");
    const subscribed = () => server.said.filter(({ type }) => type === "chat.subscribe");
    await server.until(() => subscribed().length === 1);
    server.sockets[0]?.send(
      JSON.stringify({
        type: "chat.snapshot",
        conversationId: "c",
        meta,
        queue: { messages: [] },
        cursor: "0",
      }),
    );
    server.sockets[0]?.send(
      JSON.stringify({
        type: "chat.delta",
        event: { type: "status", conversationId: "c", status: "active" },
        cursor: "7",
      }),
    );
    await until(handle, ({ cursor }) => cursor === "7");
    server.sockets[0]?.terminate();
    await server.until(() => subscribed().length === 2);
    expect(subscribed()).toEqual([
      { type: "chat.subscribe", conversationId: "c", cursor: "0" },
      { type: "chat.subscribe", conversationId: "c", cursor: "7" },
    ]);
    expect(server.said.filter(({ type }) => type === "subscribe")).toEqual(
      Array.from({ length: 2 }, () => ({
        type: "subscribe",
        surfaceId: "message-queue",
        conversationId: "c",
      })),
    );
  });

  it("needs to be given where there is none", () => {
    vi.stubGlobal("WebSocket", undefined);
    const client = createClient({ url: "http://127.0.0.1:9" });
    expect(() => client.connect()).toThrow("pass the one of ws");
    vi.unstubAllGlobals();
  });
});

describe("a page that was away", () => {
  const page = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const network = new EventTarget();

  beforeEach(() => {
    vi.stubGlobal("document", page);
    vi.stubGlobal("addEventListener", network.addEventListener.bind(network));
    vi.stubGlobal("removeEventListener", network.removeEventListener.bind(network));
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it.each([
    ["the network is back", () => network.dispatchEvent(new Event("online"))],
    ["it is looked at again", () => page.dispatchEvent(new Event("visibilitychange"))],
  ])("does not wait any longer when %s", async (_, comeBack) => {
    const server = await puppet();
    const slow = { retryMinMs: 1e9, retryMaxMs: 1e9 };
    const connection = connect(server.url, { pace: slow, random: () => 1, schedule: queueMicrotask });
    await until(connection, ({ phase }) => phase === "open");
    server.sockets[0]?.terminate();
    await until(connection, ({ phase }) => phase === "waiting");
    comeBack();
    await until(connection, ({ phase }) => phase === "open");
    // An open one is checked with a ping.
    const pings = () => server.said.filter(({ type }) => type === "ping").length;
    comeBack();
    await server.until(() => pings() > 0);
    connection.close();
    comeBack();
    expect(connection.getState().phase).toBe("closed");
  });
});
