import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve as serveHono } from "@hono/node-server";
import { systemClock } from "@parley/core";
import { createModelCatalog, createRuntime, type Runtime } from "@parley/core/runtime";
import {
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  pause,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import type { AgentEvent } from "@parley/wire";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "./app.js";
import { createKey } from "./auth/api-key.js";
import { serve } from "./serve.js";
import { createSocketServer } from "./socket/socket-server.js";
import {
  callServer,
  jsonLines,
  openTestSocket,
  problemOf,
  startTestServer,
} from "./test-server.test-support.js";

let runtime: Runtime;

beforeEach(async () => {
  runtime = await createRuntime({
    store: createMemoryLogStore({ clock: systemClock }),
    models: createModelCatalog([
      {
        name: "scripted/one",
        provider: createScriptedProvider([text("Hello there!", { size: 3 }), usage(3, 2)]),
        providerName: "scripted",
        model: "one",
        contextWindow: 1_000,
      },
    ]),
  });
});
afterEach(() => runtime.close());

describe("serving beyond this machine", () => {
  it.each(["0.0.0.0", "::", "192.0.2.1", "example.org"])(
    "on %s is refused without a key, and says what to do",
    async (host) => {
      for (const auth of ["auto", "open"] as const) {
        const refusal = serve(runtime, { host, port: 0, auth });
        await expect(refusal).rejects.toThrow(host);
        await expect(refusal).rejects.toThrow(/127\.0\.0\.1.*parley keys create.*insecure/);
      }
    },
  );

  it("is possible with a key, and then every caller needs one, also when the last key is gone", async () => {
    const { secret, record } = createKey({ owner: "ann" });
    await runtime.keys.add(record);
    const server = await serve(runtime, { host: "0.0.0.0", port: 0, pace: { keyMs: 0 } });
    expect((await callServer(server.url, "GET", "/me")).status).toBe(401);
    expect((await callServer(server.url, "GET", "/me", { key: secret })).status).toBe(200);
    await runtime.keys.remove(record.id);
    expect((await callServer(server.url, "GET", "/me")).status).toBe(401);
    await server.close();
  });

  it("is possible without one for those who insist", async () => {
    const server = await serve(runtime, { host: "0.0.0.0", port: 0, insecure: true });
    expect((await callServer(server.url, "GET", "/me")).json).toMatchObject({ owner: "local", auth: "open" });
    await server.close();
  });
});

describe("a port that is taken", () => {
  it("is named, and nothing is left running", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const clock = createManualClock();
    await expect(serve(runtime, { port, clock })).rejects.toThrow(`port: 127.0.0.1:${port} is taken`);
    expect(clock.pending, "what would keep the process alive").toBe(0);
    await new Promise((resolve) => other.close(resolve));
  });
});

describe("closing", () => {
  it("lets a turn finish its step, hands it over or seals it, and ends what is still connected", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const chat = fetch(`${server.url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ conversationId: "c2", message: "wait" }),
    });
    const response = await chat;
    const closing = server.server.close({ deadlineMs: 300 });
    const busy = await callServer(server.url, "POST", "/chat", { body: { message: "hi" } });
    expect([busy.status, problemOf(busy).code]).toEqual([503, "draining"]);
    await response.text().catch(() => undefined);
    await closing;
    await expect(callServer(server.url, "GET", "/health")).rejects.toThrow();
    expect(server.runtime.status()).toMatchObject({ draining: true, runningTurns: 0 });
    await server.server.close();
  });
});

describe("while a turn runs that the server waits for", () => {
  it("reading and stopping work, and what would start a turn is refused", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const socket = await server.socket();
    await socket.next("catalog");
    const closing = server.server.close({ deadlineMs: 60_000 });
    expect((await socket.closed).code).toBe(1012);

    expect((await server.call("GET", "/conversations/c1/meta")).json).toMatchObject({ status: "active" });
    expect((await server.call("GET", "/ready")).json).toMatchObject({ ready: false, draining: true });
    for (const [method, path, body] of [
      ["POST", "/chat", { conversationId: "c2", message: "hello" }],
      ["POST", "/conversations/c1/queue", { text: "and" }],
      ["GET", "/conversations/c1/events", undefined],
    ] as const) {
      const refused = await server.call(method, path, body === undefined ? {} : { body });
      expect([path, refused.status, problemOf(refused).code]).toEqual([path, 503, "draining"]);
    }
    await expect(server.socket()).rejects.toThrow("503");

    const asked = server.faults.hold("get");
    const last = server.call("GET", "/conversations/c1/last");
    await asked.reached;
    asked.open();
    const stopped = await server.call("POST", "/conversations/c1/stop");
    expect(stopped.json).toEqual({ conversationId: "c1", abortedTurn: true });
    expect((await last).json).toMatchObject({ text: "One moment. " });
    await closing;
    await server.server.close();
    await expect(server.call("GET", "/health")).rejects.toThrow();
  });

  it("a socket that was still being opened is closed with the request to connect elsewhere", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const asked = server.faults.hold("keys.list");
    const opening = server.socket();
    await asked.reached;
    const closing = server.server.close({ deadlineMs: 60_000 });
    asked.open();
    const socket = await opening;
    const greeting = socket.next("catalog").catch(() => socket.closed);
    expect(await Promise.race([socket.closed, greeting])).toMatchObject({ code: 1012 });
    server.gate.open();
    await closing;
  });

  it("an event stream whose conversation was still being looked for is refused", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const asked = server.faults.hold("get");
    const events = fetch(`${server.url}/conversations/c1/events`);
    await asked.reached;
    const closing = server.server.close({ deadlineMs: 60_000 });
    asked.open();
    const answer = await events;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toMatchObject({ code: "draining", retryable: true });
    server.gate.open();
    await closing;
  });

  it("no client keeps a connection that would hold it up", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const agent = new Agent({ keepAlive: true });
    const get = () =>
      new Promise<string | undefined>((resolve, reject) => {
        request(`${server.url}/health`, { agent }, (response) => {
          response.resume().once("end", () => resolve(response.headers.connection));
        })
          .once("error", reject)
          .end();
      });
    expect(await get()).toBe("keep-alive");
    const closing = server.server.close({ deadlineMs: 60_000 });
    expect(await get()).toBe("close");
    server.gate.open();
    await closing;
    agent.destroy();
  });
});

describe("closing with someone connected who does not react", () => {
  it("continues without them", async () => {
    const server = await startTestServer();
    const deaf = connect(server.server.port, "127.0.0.1");
    deaf.write(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await once(deaf, "data");
    const half = connect(server.server.port, "127.0.0.1");
    half.write("POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Le");
    await once(half, "connect");
    await server.server.close({ deadlineMs: 100 });
    deaf.destroy();
    half.destroy();
  });
});

describe("closing while a client waits for a turn", () => {
  it("answers that another node continues it", async () => {
    const server = await startTestServer({
      script: (gate) => [[text("Looking. "), pause(gate), toolCall("look")], [text("Done.")]],
    });
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "look" });
    await server.provider.called(1);
    const asked = server.faults.hold("get");
    const last = server.call("GET", "/conversations/c1/last");
    await asked.reached;
    asked.open();
    const closing = server.server.close({ deadlineMs: 10_000 });
    server.gate.open();
    const answer = await last;
    expect([answer.status, problemOf(answer)]).toMatchObject([503, { code: "draining", retryable: true }]);
    expect(answer.headers.get("retry-after")).toBe("1");
    await closing;
  });
});

describe("closing in the middle of a turn that another node continues", () => {
  it("ends its stream with an error that says so", async () => {
    const server = await startTestServer({
      script: (gate) => [[text("Looking. "), pause(gate), toolCall("look")], [text("Done.")]],
    });
    const chat = server.call("POST", "/chat", { body: { message: "look" } });
    await server.provider.called(1);
    const closing = server.server.close({ deadlineMs: 10_000 });
    server.gate.open();
    const events = jsonLines<AgentEvent>((await chat).text);
    expect(events.map(({ type }) => type)).toContain("tool-result");
    expect(events.at(-1)).toMatchObject({ type: "error", code: "draining", retryable: true });
    await closing;
  });
});

describe("a request that offers another protocol", () => {
  const ask = async (port: number, head: string, body = "") => {
    const socket = connect(port, "127.0.0.1");
    const offer =
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    socket.write(`${head}\r\nHost: localhost\r\n${offer}\r\n${body}`);
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    return answer;
  };

  it("is answered as if it did not, or refused with the reason", async () => {
    const server = await serve(runtime, { port: 0 });
    const health = await ask(server.port, "GET /health HTTP/1.1");
    expect(health).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"status":"ok",/);
    const chat = await ask(server.port, "POST /chat HTTP/1.1\r\nContent-Length: 2", "{}");
    expect(chat).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
    await server.close();
  });

  it("gets the whole of an answer that its connection does not take at once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-page-"));
    try {
      // More than both ends of a connection buffer for a client that does not read.
      writeFileSync(join(folder, "large.bin"), randomBytes(16_000_000));
      const server = await startTestServer({ page: { folder } });
      const body = { conversationId: "c1", message: "long ".repeat(40_000) };
      await server.call("POST", "/chat", { body });
      for (const path of ["/conversations/c1/export", "/large.bin"]) {
        const whole = Buffer.from(await (await fetch(server.url + path)).arrayBuffer());
        expect(whole.length).toBeGreaterThan(200_000);
        const offer = { connection: "Upgrade", upgrade: "h2c" };
        const asked = request(server.url + path, { headers: offer }).end();
        const [answer] = (await once(asked, "response")) as [IncomingMessage];
        // It is not read yet, while other requests are answered.
        expect((await server.call("GET", "/health")).status).toBe(200);
        const pieces: Buffer[] = [];
        for await (const piece of answer) pieces.push(piece as Buffer);
        expect([path, Buffer.concat(pieces).equals(whole)]).toEqual([path, true]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("without keys", () => {
  it("only calls of this very machine are let in, not those that a proxy passes on", async () => {
    const server = await serve(runtime, { port: 0, hosts: ["chat.example.org"] });
    const statusOf = async (head: string) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(`GET /me HTTP/1.1\r\n${head}\r\nConnection: close\r\n\r\n`);
      let answer = "";
      for await (const piece of socket) answer += String(piece);
      return Number(answer.split(" ")[1]);
    };
    expect(await statusOf("Host: localhost")).toBe(200);
    expect(await statusOf("Host: chat.example.org")).toBe(401);
    for (const passedOn of [
      "Forwarded: for=192.0.2.1",
      "Via: 1.1 proxy",
      "X-Forwarded-For: 192.0.2.1",
      "X-Forwarded-Host: chat.example.org",
      "X-Forwarded-Proto: https",
      "X-Real-IP: 192.0.2.1",
    ]) {
      expect([passedOn, await statusOf(`Host: localhost\r\n${passedOn}`)]).toEqual([passedOn, 401]);
    }
    await server.close();
  });
});

describe("mounted in another app", () => {
  it.each(["route", "mount"] as const)(
    "by %s, everything works under its path, sockets and streams too",
    async (how) => {
      const parley = createApp(runtime);
      const outer = new Hono();
      outer.use(compress());
      outer.get("/mine", (c) => c.text("mine"));
      if (how === "route") outer.route("/parley", parley.hono);
      else outer.mount("/parley", parley.hono.fetch);
      const server = serveHono({
        fetch: outer.fetch,
        port: 0,
        hostname: "127.0.0.1",
        websocket: { server: createSocketServer() },
      });
      await new Promise<void>((resolve) => server.once("listening", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/parley`;
      try {
        const mine = await callServer(url.replace("/parley", ""), "GET", "/mine");
        expect(mine.text).toBe("mine");
        const chat = await callServer(url, "POST", "/chat", { body: { conversationId: how, message: "hi" } });
        expect(jsonLines<AgentEvent>(chat.text).at(-1)?.type).toBe("turn-sealed");
        expect(chat.headers.get("x-request-id")).not.toBeNull();
        const missing = await callServer(url, "GET", "/conversations/none/meta");
        expect([missing.status, missing.headers.get("content-type")]).toEqual([
          404,
          "application/problem+json",
        ]);
        const nowhere = await callServer(url, "GET", "/nowhere");
        expect([nowhere.status, problemOf(nowhere).code]).toEqual([404, "invalid_request"]);
        const contract = await callServer(url, "GET", "/openapi.json");
        const { servers } = contract.json as { servers: { url: string }[] };
        expect(servers.map((server) => new URL(server.url, `${url}/openapi.json`).href)).toEqual([`${url}/`]);
        const socket = await openTestSocket(url);
        socket.send({ type: "chat.subscribe", conversationId: how, cursor: "0" });
        expect(await socket.next("chat.chunks")).toMatchObject({ cursor: expect.stringMatching(/^2\./) });
        socket.raw.close();
        await socket.closed;
      } finally {
        await parley.close();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );

  it("at the root, leaves the addresses that it does not know to the other app", async () => {
    const outer = new Hono();
    outer.route("/", createApp(runtime).hono);
    outer.get("/mine", (c) => c.text("mine"));
    expect(await (await outer.request("http://localhost/mine")).text()).toBe("mine");
    expect((await outer.request("http://localhost/health")).status).toBe(200);
  });

  it("without a server for sockets, says that it takes none", async () => {
    const answer = await createApp(runtime).fetch(
      new Request("http://localhost/ws", { headers: { upgrade: "websocket" } }),
    );
    expect(answer.status).toBe(400);
  });
});

describe("a long JSON answer", () => {
  const asked = { headers: { "accept-encoding": "gzip" } };

  it("is compressed by a server, and left to the host of an app that is mounted", async () => {
    const server = await serve(runtime, { port: 0 });
    try {
      const served = await fetch(`${server.url}/openapi.json`, asked);
      expect(served.headers.get("content-encoding")).toBe("gzip");
      expect(await served.json()).toHaveProperty("openapi");
    } finally {
      await server.close();
    }
    const app = createApp(runtime, { auth: "open" });
    const mounted = await app.fetch(new Request("http://localhost/openapi.json", asked));
    expect(mounted.headers.get("content-encoding")).toBeNull();
    expect(await mounted.json()).toHaveProperty("openapi");
    await app.close();
  });
});
