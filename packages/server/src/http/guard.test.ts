import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { createLogger } from "../telemetry/logging.js";
import { problemOf, startTestServer, type TestServer } from "../test-server.test-support.js";

/** Returns the answer to a request that `fetch` does not allow. */
async function rawAnswer(server: TestServer, head: string, connection = "close"): Promise<string> {
  const socket = connect(server.server.port, "127.0.0.1");
  socket.write(`${head}\r\nConnection: ${connection}\r\n\r\n`);
  let answer = "";
  for await (const piece of socket) answer += String(piece);
  return answer;
}

async function rawStatus(server: TestServer, head: string, connection?: string): Promise<number> {
  return Number((await rawAnswer(server, head, connection)).split(" ")[1]);
}

describe("the Host header", () => {
  it.each([
    ["localhost", 200],
    ["127.0.0.1:4141", 200],
    ["chat.example.org", 200],
    ["evil.example.com", 403],
    ["evil.example.com:4141", 403],
    ["0.0.0.0", 403],
    ["a b", 400],
  ])("%s gets %d, over HTTP", async (host, expected) => {
    const server = await startTestServer({ hosts: ["chat.example.org"] });
    expect(await rawStatus(server, `GET /health HTTP/1.1\r\nHost: ${host}`)).toBe(expected);
  });

  it("that is malformed is the caller's fault, also in the handshake of a socket", async () => {
    const server = await startTestServer();
    const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    for (const head of [
      "GET /ws HTTP/1.1\r\nHost: a b",
      "GET /ws HTTP/1.1\r\nHost: localhost:99999",
      "GET http:// HTTP/1.1\r\nHost: localhost",
      "GET http://[::1/ws HTTP/1.1\r\nHost: localhost",
      "GET http://me:too@localhost/ws HTTP/1.1\r\nHost: localhost",
      "GET * HTTP/1.1\r\nHost: [::1]",
    ]) {
      const answer = await rawAnswer(server, `${head}\r\nUpgrade: websocket\r\n${key}`, "Upgrade");
      expect([head, answer.split(" ")[1]]).toEqual([head, "400"]);
      expect(answer).toContain('"code":"invalid_request"');
    }
  });

  it("need not be there where the protocol does not ask for it", async () => {
    const server = await startTestServer();
    expect(await rawStatus(server, "GET /health HTTP/1.0")).toBe(200);
    expect(await rawStatus(server, "GET /health HTTP/1.1")).toBe(400);
  });

  it("of another name fails the handshake of a socket", async () => {
    const server = await startTestServer();
    await expect(server.socket({ headers: { host: "evil.example.com" } })).rejects.toThrow("403");
    await (await server.socket({ headers: { host: "localhost" } })).next("catalog");
  });
});

describe("the Origin header", () => {
  const listed = "https://app.example.org";
  const foreign = "https://evil.example.com";

  it("lets writes and sockets of foreign pages go no further", async () => {
    const server = await startTestServer({ origins: [`${listed}/`] });
    const create = (headers: Record<string, string>) =>
      server.call("POST", "/conversations", { body: { id: "c1" }, headers });
    for (const origin of [foreign, "null", "http://localhost:1"]) {
      const answer = await create({ origin });
      expect([origin, answer.status, problemOf(answer).code]).toEqual([origin, 403, "forbidden"]);
      expect(problemOf(answer).title).toBe("This page may not call this server");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      await expect(server.socket({ headers: { origin } })).rejects.toThrow("403");
    }
    expect((await server.call("GET", "/conversations")).json).toEqual({ conversations: [] });
    for (const origin of [listed, server.url]) {
      expect((await create({ origin })).status).toBe(200);
      await (await server.socket({ headers: { origin } })).next("catalog");
    }
  });

  it("of a page that may call is allowed, with the headers that it may read", async () => {
    const server = await startTestServer({ origins: [listed] });
    const answer = await server.call("GET", "/models", { headers: { origin: listed } });
    expect(answer.headers.get("access-control-allow-origin")).toBe(listed);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    expect(answer.headers.get("access-control-expose-headers")).toContain("x-conversation-id");
    expect(answer.headers.get("vary")).toBe("Origin");
    const preflight = (origin: string) =>
      server.call("OPTIONS", "/chat", { headers: { origin, "access-control-request-method": "POST" } });
    const allowed = await preflight(listed);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-headers")).toContain("authorization");
    expect((await preflight(foreign)).headers.get("access-control-allow-origin")).toBeNull();
  });

  it("is answered with every header also where only the methods are asked for", async () => {
    const server = await startTestServer({ origins: [listed] });
    const answer = await server.call("OPTIONS", "/chat", { headers: { origin: listed } });
    expect([answer.status, answer.headers.get("allow")]).toEqual([204, "POST"]);
    expect(answer.headers.get("access-control-allow-origin")).toBe(listed);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("must be one in the configuration", async () => {
    await expect(startTestServer({ origins: ["example"] })).rejects.toThrow(
      'origins: "example" is not an origin',
    );
  });
});

describe("the rate limit", () => {
  it("answers 429 with when to come back, per key, over HTTP and socket", async () => {
    const server = await startTestServer({
      auth: "keys",
      limits: { requestsPerSecond: 0.01, requestBurst: 3 },
    });
    const [anns, bobs] = [await server.key("ann"), await server.key("bob")];
    const socket = await server.socket({ key: anns });
    const first = await server.call("GET", "/me", { key: anns });
    expect([first.headers.get("ratelimit-limit"), first.headers.get("ratelimit-remaining")]).toEqual([
      "3",
      "1",
    ]);
    expect((await server.call("GET", "/me", { key: anns })).status).toBe(200);
    const refused = await server.call("GET", "/me", { key: anns });
    expect([refused.status, problemOf(refused)]).toMatchObject([
      429,
      { code: "rate_limited", retryable: true },
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect(refused.headers.get("ratelimit-remaining")).toBe("0");
    socket.send({ type: "chat.stop", conversationId: "c1" });
    expect(await socket.next("chat.error")).toMatchObject({ conversationId: "c1", code: "rate_limited" });
    expect((await server.call("GET", "/me", { key: bobs })).status).toBe(200);
  });

  it("counts those without a key by where they come from", async () => {
    const server = await startTestServer({
      auth: "keys",
      limits: { requestsPerSecond: 0.01, requestBurst: 2 },
    });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await server.call("GET", "/me")).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await server.call("POST", "/login", { body: { key: "pk_x" } })).status).toBe(429);
  });

  it("bounds the sockets of a key that come in at once", async () => {
    const server = await startTestServer({ auth: "keys", limits: { connectionsPerKey: 2 } });
    const key = await server.key("ann");
    // All of them wait for the same lookup of the key, so that each is below the limit when it is checked.
    const looking = server.faults.hold("keys.find");
    const coming = Array.from({ length: 12 }, () => server.socket({ key }));
    await looking.reached;
    await server.call("GET", "/health");
    looking.open();
    const came = await Promise.allSettled(coming);
    const sockets = came.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const outcomes = await Promise.all(
      sockets.map((socket) =>
        Promise.race([
          socket.next("catalog").then(() => "taken in"),
          socket.closed.then(({ code }) => code),
        ]).catch(async () => (await socket.closed).code),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "taken in")).toHaveLength(2);
    expect(outcomes.every((outcome) => outcome === "taken in" || outcome === 1013)).toBe(true);
  });

  it("bounds the connections of a key", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    const socket = await server.socket();
    await socket.next("catalog");
    await expect(server.socket()).rejects.toThrow("429");
    await server.runtime.forOwner("local").create({ id: "c1" });
    expect((await server.call("GET", "/conversations/c1/events")).status).toBe(429);
    expect((await server.call("GET", "/conversations/c1/last")).status).toBe(429);
    const body = { conversationId: "c1", messageId: "m1", message: "hello" };
    const chat = await server.call("POST", "/chat", { body });
    expect([chat.status, problemOf(chat).code]).toEqual([429, "limit_exceeded"]);
    expect(server.provider.calls, "what was refused has not begun").toHaveLength(0);
    socket.raw.close();
    await socket.closed;
    await expect.poll(async () => (await server.call("POST", "/chat", { body })).status).toBe(200);
    // It is over, and refused requests do not count.
    expect((await server.call("POST", "/chat", { body: { ...body, message: "other" } })).status).toBe(409);
    expect((await server.call("POST", "/chat", { body })).status).toBe(200);
  });

  it("counts those who wait for a turn among the connections of a key, while they wait", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const asked = server.faults.hold("get");
    const last = server.call("GET", "/conversations/c1/last");
    await asked.reached;
    asked.open();
    expect((await server.call("GET", "/conversations/c1/events")).status).toBe(429);
    server.gate.open();
    expect((await last).status).toBe(200);
    expect((await server.call("GET", "/conversations/c1/last")).status).toBe(200);
  });
});

describe("a handshake that is refused", () => {
  it("says why, as every other refusal does", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    const handshake = (host: string, path = "/ws") =>
      rawAnswer(
        server,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\n` +
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Upgrade",
      );
    await (await server.socket()).next("catalog");
    for (const [answer, status, code] of [
      [await handshake("evil.example.com"), 403, "forbidden"],
      [await handshake("localhost", "/nowhere"), 404, "invalid_request"],
      [await handshake("localhost"), 429, "limit_exceeded"],
    ] as const) {
      const [head = ""] = answer.split("\r\n\r\n");
      // It may arrive in pieces.
      const body = answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1);
      expect(head).toMatch(
        new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*content-type: application/problem\\+json`, "i"),
      );
      expect(head.toLowerCase()).toContain("x-request-id: ");
      expect(body).not.toContain("This key may not do that");
      expect(JSON.parse(body)).toMatchObject({ status, code });
    }
  });

  it.each([
    ["a path that is only /ws once it is put right", "GET /.\\ws HTTP/1.1\r\nHost: localhost"],
    ["the same after an origin", "GET http://localhost/.\\ws HTTP/1.1\r\nHost: localhost"],
    ["an address in another base", "GET /ws HTTP/1.1\r\nHost: 0X7F.1"],
    ["a Host with a path of its own", "GET /ws HTTP/1.1\r\nHost: localhost/x/.."],
  ])("by the adapter is answered as well: %s", async (_, head) => {
    const server = await startTestServer();
    const answer = await rawAnswer(server, `${head}\r\nUpgrade: websocket`, "Upgrade");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.toLowerCase()).toContain("x-request-id: ");
    expect(answer).toContain('"code":"invalid_request"');
  });

  it("at an address that streams leaves nothing behind", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    await server.runtime.forOwner("local").create({ id: "c1" });
    const socket = connect(server.server.port, "127.0.0.1");
    socket.write(
      "GET /conversations/c1/events HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
    await vi.waitFor(async () => (await server.socket()).next("catalog"), 30_000);
  });
});

describe("every answer", () => {
  it("carries the headers that keep browsers from guessing, framing and leaking", async () => {
    const server = await startTestServer();
    for (const path of ["/models", "/nowhere", "/conversations/none/meta", "/health"]) {
      const { headers } = await server.call("GET", path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });

  it("has the request's name: the caller's if it can be one, else a new one", async () => {
    const server = await startTestServer();
    const idOf = async (given: string) =>
      (await server.call("GET", "/health", { headers: { "x-request-id": given } })).headers.get(
        "x-request-id",
      );
    expect(await idOf("abc-1")).toBe("abc-1");
    for (const bad of ["a b", "x".repeat(129), "<script>"]) {
      expect(await idOf(bad)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("the answer to a request that cannot be read", () => {
  it("has a name and the headers of every other one", async () => {
    const server = await startTestServer();
    const answer = await rawAnswer(server, "GET /health HTTP/1.1\r\nHost: a b");
    const [head = "", body = ""] = answer.toLowerCase().split("\r\n\r\n");
    expect(head).toContain("x-content-type-options: nosniff");
    expect(head).toContain(`x-request-id: ${(JSON.parse(body) as { requestid: string }).requestid}`);
  });
});

describe("the log", () => {
  it("names requests, conversations and owners, and holds no secret and nothing that was said", async () => {
    const lines: string[] = [];
    const logger = createLogger({}, { write: (line: string) => void lines.push(line) });
    const server = await startTestServer({ auth: "keys", logger });
    const key = await server.key("ann", ["admin"]);
    const planted = "PLANTED-CONTENT";
    const login = await server.call("POST", "/login", { body: { key } });
    const cookie = login.headers.getSetCookie().at(-1)?.split(";")[0] ?? "";
    const token = cookie.slice(cookie.indexOf("=") + 1);
    const body = { conversationId: "c1", messageId: "m1", message: planted, instructions: planted };
    await server.call("POST", "/chat", { key, body });
    await server.call("GET", `/search?q=${planted}`, { key });
    await server.call("PUT", "/conversations/c1/title", { key, body: { title: planted } });
    await server.call("GET", "/me", { headers: { cookie } });
    await server.call("POST", "/keys", { key, body: { owner: "bob" } });
    await server.call("POST", "/chat", {
      key,
      raw: `{"message": "${planted}`,
      headers: { "content-type": "application/json" },
    });
    await server.call("GET", `/${planted}?key=${key}`, { key });
    await server.call("GET", "/me", { key: "pk_wrong" });
    await server.call("GET", "/me", { headers: { host: "evil.example.com" } });
    const socket = await server.socket({ key });
    socket.send({ type: "chat.send", conversationId: "c1", message: planted });
    await socket.event("turn-sealed");
    socket.send(`{"type":"${planted}"}`);
    await socket.next("chat.error");
    server.runtime.models = () => {
      throw new Error(planted);
    };
    await server.call("GET", "/models", { key });
    socket.raw.close();
    await socket.closed;

    const text = lines.join("");
    expect(text).not.toContain(planted);
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(12));
    expect(token).toMatch(/^pl_/);
    expect(text).not.toContain(token);
    expect(text).not.toContain("pk_wrong");
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(parsed).toContainEqual(
      expect.objectContaining({
        route: "POST /chat",
        status: 200,
        owner: "ann",
        conversationId: "c1",
        method: "POST",
      }),
    );
    expect(parsed).toContainEqual(
      expect.objectContaining({ route: "GET /me", status: 401, code: "unauthorized" }),
    );
    expect(parsed).toContainEqual(
      expect.objectContaining({ level: 50, msg: "unexpected failure", route: "GET /models", cause: "Error" }),
    );
    for (const line of parsed) if (line.msg === "request") expect(line.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("blots out names that usually hold a secret", () => {
    const lines: string[] = [];
    const logger = createLogger({}, { write: (line: string) => void lines.push(line) });
    logger.info({ apiKey: "s3cret", headers: { authorization: "s3cret" }, a: { b: { token: "s3cret" } } });
    expect(lines.join("")).not.toContain("s3cret");
  });
});
