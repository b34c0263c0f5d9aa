import { ReadableStream as WebStream } from "node:stream/web";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { complaints } from "../json-schema-check.test-support.js";
import { problem } from "../schemas/operations.js";
import { type Answer, problemOf, startTestServer, type TestServer } from "../test-server.test-support.js";
import { endpoints } from "./endpoints.js";
import { type CalledRoute, callOf, routeNames } from "./route-calls.test-support.js";

let server: TestServer;

const ofConversations = routeNames.filter((name) => /\/(conversations|api\/chat)\/:id/.test(name));
const closed = routeNames.filter((name) => callOf(name, "c1").access !== "public");
const withBody = routeNames.filter((name) => callOf(name, "c1").body !== undefined);

async function start(options: Parameters<typeof startTestServer>[0] = {}): Promise<void> {
  server = await startTestServer({ auth: "keys", pace: { keyMs: 0 }, ...options });
}

function call(name: CalledRoute, conversationId: string, key?: string): Promise<Answer> {
  const { method, path, body, raw } = callOf(name, conversationId);
  return server.call(method, path, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
    ...(raw === undefined ? {} : { raw }),
  });
}

/** Creates a conversation of ann's with one turn. */
async function annsConversation(): Promise<string> {
  const me = server.runtime.forOwner("ann");
  await me.send({ conversationId: "c1", message: "a secret of hers" });
  await me.last("c1");
  return server.key("ann", ["admin"]);
}

describe("a caller without a valid key", () => {
  it("is refused by every route that is not public", async () => {
    await start({ limits: { failedLogins: 1_000_000 } });
    for (const name of closed) {
      for (const key of [undefined, "nonsense", `pk_${"A".repeat(43)}`]) {
        const answer = await call(name, "c1", key);
        expect([name, answer.status, problemOf(answer).code]).toEqual([name, 401, "unauthorized"]);
        expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="parley"');
      }
    }
  });

  it("still sees whether the server is well, and its contract", async () => {
    await start();
    for (const path of ["/health", "/ready", "/openapi.json"]) {
      expect((await server.call("GET", path)).status).toBe(200);
    }
  });
});

describe("a key that does not reach far enough", () => {
  it("may read by every GET, and do nothing else", () => {
    const others = closed.filter((name) => !name.startsWith("GET "));
    expect(others.filter((name) => callOf(name, "c1").access === "read")).toEqual([]);
    // Of several scopes, the first is the least that is sufficient.
    expect(endpoints.map(({ name, access }) => [name, [access].flat()[0]])).toEqual(
      endpoints.map(({ name }) => [name, callOf(name, "c1").access]),
    );
  });

  it.each([
    { scopes: ["read"] as const, refused: ["write", "approve", "admin"] },
    { scopes: ["write"] as const, refused: ["approve", "admin"] },
    { scopes: [] as const, refused: ["read", "write", "approve", "admin"] },
  ])(
    "with $scopes is refused by the routes that need more, and by no others",
    async ({ scopes, refused }) => {
      await start();
      await annsConversation();
      const key = await server.key("ann", scopes);
      for (const name of closed) {
        if (name === "GET /conversations/:id/events" && scopes.length > 0) continue;
        const answer = await call(name, "c1", key);
        const isRefused = refused.includes(callOf(name, "c1").access);
        expect([name, answer.status === 403]).toEqual([name, isRefused]);
        if (isRefused) expect(problemOf(answer).code).toBe("forbidden");
      }
    },
  );
});

/** Routes that answer for an id without a conversation. */
const asIfUnused: Partial<Record<CalledRoute, object>> = {
  "GET /conversations/:id": { chunks: [], latestSeq: 0 },
  "DELETE /conversations/:id": { conversationId: "c1", deletedIds: [] },
  "POST /api/chat/:id/stop": { conversationId: "c1", abortedTurn: false },
  "GET /api/chat/:id/messages": [],
};

/** Routes that create a conversation under an unused id. */
const makers: CalledRoute[] = [
  "POST /conversations/:id/queue",
  "POST /chat",
  "POST /api/chat",
  "POST /conversations",
  "POST /import",
  "PUT /conversations/:id/title",
  "PUT /conversations/:id/model",
  "PUT /conversations/:id/reasoning-effort",
  "PUT /conversations/:id/instructions",
  "PUT /conversations/:id/compact-threshold",
];

describe("another owner's conversation", () => {
  it("is unknown to every route, and nothing about it changes", async () => {
    await start();
    const anns = await annsConversation();
    const bobs = await server.key("bob", ["admin"]);
    const before = (await server.call("GET", "/conversations/c1/export", { key: anns })).text;
    for (const name of ofConversations.filter((each) => !makers.includes(each))) {
      const answer = await call(name, "c1", bobs);
      if (name === "GET /api/chat/:id/stream") {
        expect([answer.status, answer.text]).toEqual([204, ""]);
        continue;
      }
      const found = asIfUnused[name];
      expect([name, answer.status]).toEqual([name, found === undefined ? 404 : 200]);
      if (found !== undefined) expect(answer.json).toEqual(found);
      else expect(problemOf(answer).code).toBe("conversation_not_found");
      expect(answer.text).not.toContain("secret of hers");
    }
    expect((await server.call("GET", "/conversations/c1/export", { key: anns })).text).toBe(before);
  });

  it("reserves no id: what makes a conversation answers as for an id that is unused", async () => {
    await start();
    const anns = await annsConversation();
    const bobs = await server.key("bob", ["admin"]);
    const before = (await server.call("GET", "/conversations/c1/export", { key: anns })).text;
    for (const name of makers) {
      const [taken, unused] = [await call(name, "c1", bobs), await call(name, "c2", bobs)];
      expect([name, taken.status]).toEqual([name, unused.status]);
      expect(taken.status).toBeLessThan(300);
      expect(taken.text).not.toContain("secret of hers");
      for (const id of ["c1", "c2"]) await server.runtime.forOwner("bob").remove(id);
    }
    expect((await server.call("GET", "/conversations/c1/export", { key: anns })).text).toBe(before);
  });

  it("is not listed, found or counted", async () => {
    await start();
    await annsConversation();
    const bobs = await server.key("bob");
    expect((await server.call("GET", "/conversations", { key: bobs })).json).toEqual({ conversations: [] });
    expect((await server.call("GET", "/search?q=secret", { key: bobs })).json).toEqual({ hits: [] });
  });

  it("leaves its id free as the place of a fork and of an import", async () => {
    await start();
    const anns = await annsConversation();
    const before = (await server.call("GET", "/conversations/c1/export", { key: anns })).text;
    const bobs = await server.key("bob");
    await server.runtime.forOwner("bob").create({ id: "bobs" });
    const fork = await server.call("POST", "/conversations/bobs/fork", {
      key: bobs,
      body: { atSeq: 0, id: "c1" },
    });
    expect(fork.json).toMatchObject({ conversation: { id: "c1", parentId: "bobs" } });
    await server.runtime.forOwner("bob").remove("c1");
    const { text } = await server.call("GET", "/conversations/bobs/export", { key: bobs });
    const imported = await server.call("POST", "/import?id=c1", { key: bobs, raw: text });
    expect(imported.json).toMatchObject({ created: true, conversation: { id: "c1" } });
    expect((await server.call("GET", "/conversations/c1/export", { key: anns })).text).toBe(before);
  });
});

describe("a malformed request", () => {
  let key: string;
  beforeEach(async () => {
    await start();
    key = await annsConversation();
  });

  it("with an impossible id gets a 400 that names it, on every route", async () => {
    for (const name of ofConversations) {
      const { method, path, body } = callOf(name, "not%20an%20id");
      const answer = await server.call(method, path, { key, ...(body === undefined ? {} : { body }) });
      expect([name, answer.status]).toEqual([name, 400]);
      expect(problemOf(answer)).toMatchObject({ code: "invalid_request", errors: [{ path: "id" }] });
    }
  });

  it("with a body that is not JSON, not an object, or of another type gets a 4xx, on every route that takes one", async () => {
    for (const name of withBody) {
      const { method, path } = callOf(name, "c1");
      const type = { "content-type": "application/json" };
      for (const [raw, headers, status] of [
        ["{", type, 400],
        ["[]", type, 400],
        ["null", type, 400],
        ['"text"', type, 400],
        ["{}", { "content-type": "text/plain" }, 415],
        ["a=b", { "content-type": "application/x-www-form-urlencoded" }, 415],
      ] as const) {
        const answer = await server.call(method, path, { key, raw, headers });
        expect([name, raw, answer.status]).toEqual([name, raw, status]);
        problemOf(answer);
      }
      const notUtf8 = await server.call(method, path, {
        key,
        raw: Uint8Array.of(0x7b, 0xff, 0x7d),
        headers: type,
      });
      expect([name, notUtf8.status]).toEqual([name, 400]);
    }
  });

  it("with one wrong field gets a 400 that names the field, for every field", async () => {
    for (const name of withBody) {
      const { method, path, body = {} } = callOf(name, "c1");
      for (const field of Object.keys(body)) {
        const answer = await server.call(method, path, { key, body: { ...body, [field]: { not: "this" } } });
        if (name === "POST /conversations" && field === "metadata") continue;
        const named = problemOf(answer).errors?.map((error) => error.path.split(".")[0]);
        expect([name, field, answer.status, named]).toEqual([name, field, 400, [field]]);
      }
    }
  });

  it.each([
    ["/conversations/c1?sinceSeq=-1", "sinceSeq"],
    ["/conversations/c1?beforeSeq=1.5", "beforeSeq"],
    ["/conversations/c1?limit=many", "limit"],
    ["/conversations/c1?limit=9007199254740993000", "limit"],
    ["/conversations/c1?open=perhaps", "open"],
    ["/conversations?status=asleep", "status"],
    ["/conversations/c1?limit=0", "limit"],
    ["/conversations/c1/metrics?limit=0", "limit"],
    ["/conversations?limit=x", "limit"],
    ["/conversations?limit=0", "limit"],
    ["/search?q=a&limit=0", "limit"],
    ["/conversations/c1/export?format=pdf", "format"],
    ["/search", "q"],
    ["/search?q=", "q"],
  ])("%s is a 400 that names %s", async (path, field) => {
    const answer = await server.call("GET", path, { key });
    expect([answer.status, problemOf(answer).errors?.[0]?.path]).toEqual([400, field]);
  });

  it("with a number out of its bounds is answered with the bounds", async () => {
    const detailOf = async (path: string) => problemOf(await server.call("GET", path, { key })).detail;
    expect(await detailOf("/conversations/c1?sinceSeq=-1")).toBe(
      "sinceSeq: expected a whole number of at least 0",
    );
    expect(await detailOf("/conversations?limit=0")).toBe("limit: expected a whole number of at least 1");
  });

  it("with a cursor that no server made is a 400", async () => {
    for (const cursor of ["x", "1~t", "-1", "1~t~x~0"]) {
      const answer = await server.call("GET", `/conversations/c1/events?cursor=${cursor}`, { key });
      expect([cursor, answer.status, problemOf(answer).code]).toEqual([cursor, 400, "invalid_request"]);
    }
  });

  it("nested deeper than anyone writes is refused before anyone walks it", async () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const answer = await server.call("POST", "/conversations", {
      key,
      raw: `{"id":"deep","metadata":{"a":${deep}}}`,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, problemOf(answer).detail]).toEqual([400, "nested deeper than 100 levels"]);
  });

  it("to no address, or with a method that the address does not take, says so", async () => {
    const nowhere = await server.call("GET", "/no/such/place", { key });
    expect([nowhere.status, problemOf(nowhere).code]).toEqual([404, "invalid_request"]);
    const method = await server.call("PATCH", "/conversations/c1/title", { key, body: {} });
    expect([method.status, problemOf(method).code]).toEqual([405, "invalid_request"]);
    expect(method.headers.get("allow")).toBe("GET, HEAD, PUT");
    const socket = await server.call("GET", "/ws", { key });
    expect([socket.status, socket.headers.get("upgrade")]).toEqual([426, "websocket"]);
  });
});

describe("a body that is too large", () => {
  it("is a 413 on every route that takes one, declared or not", async () => {
    await start({ limits: { bodyBytes: 2_000, faceBodyBytes: 2_000, importBytes: 2_000 } });
    const key = await annsConversation();
    for (const name of [...withBody, "POST /import"] as CalledRoute[]) {
      const { method, path } = callOf(name, "c1");
      const headers = { "content-type": "application/json" };
      const declared = await server.call(method, path, { key, raw: `{"a":"${"x".repeat(2_000)}"}`, headers });
      expect([name, declared.status, problemOf(declared).code]).toEqual([name, 413, "too_large"]);
      const chunked = await fetch(server.url + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${key}` },
        body: WebStream.from(Array.from({ length: 10 }, () => new TextEncoder().encode(" ".repeat(500)))),
        duplex: "half",
      } as RequestInit);
      expect([name, chunked.status]).toEqual([name, 413]);
      await chunked.body?.cancel();
    }
  });

  it("is a 413 as well when it is one message that is too long for the runtime", async () => {
    await start({ runtimeLimits: { messageBytes: 1_000 } });
    const key = await annsConversation();
    const answer = await server.call("POST", "/chat", { key, body: { message: "x".repeat(1_001) } });
    expect([answer.status, problemOf(answer).code]).toEqual([413, "too_large"]);
  });
});

describe("while the node shuts down", () => {
  it("work is refused, and what is there can be read and stopped", async () => {
    await start({ auth: "open", owner: "ann" });
    await annsConversation();
    await server.runtime.drain({ deadlineMs: 0 });
    for (const name of routeNames) {
      const { access } = callOf(name, "c1");
      const answer = await call(name, "c1");
      const isWork =
        name === "GET /conversations/:id/events" ||
        name === "GET /api/chat/:id/stream" ||
        (access !== "read" && access !== "public" && !name.startsWith("GET "));
      const isTaken = name.endsWith("/:id/stop") || name === "POST /conversations/:id/pending/:requestId";
      if (isWork && !isTaken) {
        expect([name, answer.status, problemOf(answer).code]).toEqual([name, 503, "draining"]);
        expect(answer.headers.get("retry-after")).toBe("1");
      } else if (name === "GET /ready") {
        expect(answer.json).toEqual({
          ready: false,
          store: true,
          schema: true,
          draining: true,
          reason: "The server is shutting down",
        });
        expect(answer.status).toBe(503);
      } else expect([name, answer.status < 500]).toEqual([name, true]);
    }
  });
});

describe("while the store is away", () => {
  const withoutStore = [
    "GET /health",
    "GET /openapi.json",
    "GET /models",
    "GET /tools",
    // No tool server here requires a login.
    "POST /tools/:server/connect",
    "POST /tools/:server/finish",
    "POST /tools/:server/disconnect",
    "GET /oauth/callback",
    "GET /me",
    "GET /metrics",
    "POST /logout",
    "POST /login",
    // Calls a provider, and stores nothing.
    "POST /connections/test",
    "GET /ready",
    // The doctor reports that it cannot check, which is its answer.
    "GET /doctor",
    "POST /doctor",
  ];

  it("every route that needs it answers 503, and the others continue", async () => {
    await start({ auth: "open", owner: "ann" });
    await annsConversation();
    server.faults.cutOff();
    for (const name of routeNames) {
      const answer = await call(name, "c1");
      if (withoutStore.includes(name)) continue;
      expect([name, answer.status, problemOf(answer)]).toMatchObject([
        name,
        503,
        { code: "store_unavailable", retryable: true },
      ]);
    }
    expect((await server.call("GET", "/health")).status).toBe(200);
    const ready = await server.call("GET", "/ready");
    expect([ready.status, ready.json]).toMatchObject([
      503,
      { ready: false, store: false, schema: false, reason: "The store does not answer" },
    ]);
  });

  it("or fails most calls, the server is not ready although the check succeeds, and is again when they succeed", async () => {
    await start({ auth: "open", owner: "ann" });
    const trouble = "9 of 10 calls of the store failed";
    const check = vi.spyOn(server.runtime, "check").mockResolvedValue({ schema: "current", trouble });
    const failing = await server.call("GET", "/ready");
    expect([failing.status, failing.json]).toEqual([
      503,
      { ready: false, store: false, schema: true, draining: false, reason: trouble },
    ]);
    check.mockRestore();
    const ready = await server.call("GET", "/ready");
    expect([ready.status, ready.json]).toEqual([
      200,
      { ready: true, store: true, schema: true, draining: false },
    ]);
  });

  it("keys cannot be looked up, which is not the same as being wrong", async () => {
    await start();
    const key = await annsConversation();
    server.faults.cutOff();
    const answer = await server.call("GET", "/me", { key });
    expect([answer.status, problemOf(answer).code]).toEqual([503, "store_unavailable"]);
  });
});

describe("a problem", () => {
  it("is the same everywhere: as published, with the request's name, and never a stack", async () => {
    await start({ auth: "open" });
    const document = (await server.call("GET", "/openapi.json")).json as object;
    const schema = { $ref: "#/components/schemas/Problem" };
    for (const path of ["/nowhere", "/conversations/none/meta", "/conversations/c1?limit=x"]) {
      const answer = await server.call("GET", path, { headers: { "x-request-id": "request-7" } });
      const body = problemOf(answer);
      expect(complaints(document, schema, body)).toEqual([]);
      expect(problem.safeParse(body).success).toBe(true);
      expect(body).toMatchObject({ status: answer.status, requestId: "request-7" });
      expect(answer.text).not.toMatch(/\bat \S+ \(|\.[jt]s:\d/);
    }
  });

  it("of an unexpected failure says nothing of what failed", async () => {
    await start({ auth: "open" });
    server.runtime.models = () => {
      throw new TypeError("Cannot read properties of undefined (reading 'password-of-the-database')");
    };
    const answer = await server.call("GET", "/models");
    expect([answer.status, problemOf(answer).code]).toEqual([500, "internal"]);
    expect(answer.text).not.toContain("password-of-the-database");
  });
});
