import { describe, expect, it } from "vitest";
import { type Answer, startTestServer, type TestServer } from "../../test-server.test-support.js";
import { type OpenAiRoute, openAiCall, openAiRoutes } from "./openai-calls.test-support.js";

function call(
  server: TestServer,
  name: OpenAiRoute,
  options: { key?: string; id?: string; turn?: string; headers?: Record<string, string> } = {},
) {
  const { id = "c1", turn, key, headers } = options;
  const { method, path, body } = openAiCall(name, id, turn);
  return server.call(method, path, {
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the error of an answer, in the protocol's shape. */
function errorOf({ json, headers }: Answer) {
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  expect(headers.get("x-request-id")).toBeTruthy();
  const { error } = json as { error: { message: string; type: string; param: unknown; code: unknown } };
  expect(error).toEqual({
    message: expect.any(String) as string,
    type: expect.any(String) as string,
    param: error.param === null ? null : (expect.any(String) as string),
    code: error.code === null ? null : (expect.any(String) as string),
  });
  return error;
}

describe("the routes of OpenAI's API", () => {
  it("are all in the contract, and all called here", async () => {
    const server = await startTestServer();
    const { paths } = (await server.call("GET", "/openapi.json")).json as {
      paths: Record<string, Record<string, unknown>>;
    };
    const published = Object.entries(paths)
      .filter(([path]) => path.startsWith("/v1/"))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    expect(published.sort()).toEqual([...openAiRoutes].sort());
  });

  it("need a key, of the right scope, from a place that may call", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [reader, writer] = [await server.key("ann", ["read"]), await server.key("ann")];
    for (const name of openAiRoutes) {
      const without = await call(server, name);
      expect([name, without.status, errorOf(without).type]).toEqual([name, 401, "authentication_error"]);
      const { access } = openAiCall(name, "c1");
      if (access === "write") {
        const foreign = await call(server, name, {
          key: writer,
          headers: { origin: "https://evil.example.com" },
        });
        expect([name, foreign.status, errorOf(foreign).type]).toEqual([name, 403, "permission_error"]);
      }
      const answer = await call(server, name, { key: reader });
      expect([name, answer.status === 403]).toEqual([name, access === "write"]);
    }
  });

  it("know nothing of what belongs to another owner", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [anns, bobs] = [await server.key("ann"), await server.key("bob")];
    const body = { model: "one", input: "hello", conversation: "conv_c1" };
    await server.call("POST", "/conversations", { key: anns, body: { id: "c1" } });
    const made = (await server.call("POST", "/v1/responses", { key: anns, body })).json as { id: string };
    const turn = made.id.replace("resp_", "");
    const before = (await server.call("GET", "/conversations/c1/export", { key: anns })).text;
    const ofOne = openAiRoutes.filter((name) => name.includes("{id}") && !name.includes("models"));
    for (const name of ofOne) {
      const theirs = await call(server, name, { key: bobs, turn });
      const unknown = await call(server, name, { key: bobs, id: "nowhere", turn: "nowhere" });
      expect([name, theirs.status]).toEqual([name, 404]);
      expect(errorOf(theirs).code).toBe(errorOf(unknown).code);
    }
    expect((await server.call("GET", "/conversations/c1/export", { key: anns })).text).toBe(before);
    for (const name of ofOne.filter((each) => each.startsWith("GET") && !each.endsWith("{item}"))) {
      expect([name, (await call(server, name, { key: anns, turn })).status]).toEqual([name, 200]);
    }
  });

  it("take no more than the limits allow, and say how long to wait", async () => {
    const server = await startTestServer({
      limits: { faceBodyBytes: 500, requestsPerSecond: 1, requestBurst: 3 },
    });
    const large = await server.call("POST", "/v1/responses", {
      body: { model: "one", input: "x".repeat(600) },
    });
    expect([large.status, errorOf(large).code]).toEqual([413, "too_large"]);
    for (let count = 0; count < 3; count += 1) await server.call("GET", "/v1/models");
    const limited = await server.call("GET", "/v1/models");
    expect([limited.status, errorOf(limited).type]).toEqual([429, "rate_limit_error"]);
    expect(Number(limited.headers.get("retry-after-ms"))).toBeGreaterThan(0);
    expect(limited.headers.get("x-should-retry")).toBe("true");
  });

  it("open no turn for a caller that may not wait for its answer", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    const waiting = new AbortController();
    const body = { input: "wait", stream: true };
    const first = server.call("POST", "/v1/responses", { body, signal: waiting.signal }).catch(() => {});
    await server.gate.reached;
    for (const more of [{ stream: true }, {}, { store: false }, { stream: true, background: true }]) {
      const answer = await server.call("POST", "/v1/responses", { body: { input: "hello", ...more } });
      expect([answer.status, errorOf(answer).code]).toEqual([429, "limit_exceeded"]);
    }
    expect(server.provider.calls).toHaveLength(1);
    // A response that is answered at once takes no place.
    const background = { input: "hello", background: true };
    expect((await server.call("POST", "/v1/responses", { body: background })).status).toBe(200);
    waiting.abort();
    await first;
  });

  it("do not continue behind a response that was deleted", async () => {
    const server = await startTestServer();
    await server.call("POST", "/conversations", { body: { id: "c1" } });
    const body = { input: "hello", conversation: "c1" };
    const { id } = (await server.call("POST", "/v1/responses", { body })).json as { id: string };
    await server.call("DELETE", `/v1/responses/${id}`);
    for (const store of [true, false]) {
      const behind = { input: "more", previous_response_id: id, store };
      const answer = await server.call("POST", "/v1/responses", { body: behind });
      expect([answer.status, errorOf(answer).code]).toEqual([400, "previous_response_not_found"]);
    }
  });

  it("name the parameter that is wrong", async () => {
    const server = await startTestServer();
    const wrong: [object, string][] = [
      [{ model: 5, input: "x" }, "model"],
      [{ model: "one" }, "input"],
      [{ model: "one", input: [{ role: "unknown", content: "x" }] }, "input.0.role"],
      [
        { model: "one", input: [{ type: "message", role: "user", content: [{ type: "video" }] }] },
        "input.0.content.0.type",
      ],
      [{ model: "one", input: "x", tools: [{ type: "web_search" }] }, "tools.0.type"],
      [{ model: "one", input: "x", tools: [{ type: "function", name: "look" }] }, "tools.0.name"],
      [
        {
          model: "one",
          input: "x",
          metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, "v"])),
        },
        "metadata",
      ],
      [
        {
          model: "one",
          input: "x",
          text: { format: { type: "json_schema", name: "a b", schema: { type: "object" } } },
        },
        "output.name",
      ],
      [
        { model: "one", input: "x", conversation: "c", previous_response_id: "resp_x" },
        "previous_response_id",
      ],
    ];
    for (const [body, param] of wrong) {
      const answer = await server.call("POST", "/v1/responses", { body });
      expect([param, answer.status, errorOf(answer).param]).toEqual([param, 400, param]);
      expect(answer.headers.get("x-should-retry")).toBe("false");
    }
    expect(server.provider.calls).toHaveLength(0);
  });

  it("refuse work while the node shuts down", async () => {
    const server = await startTestServer();
    await server.runtime.drain({ deadlineMs: 0 });
    const answer = await call(server, "POST /v1/chat/completions");
    expect([answer.status, errorOf(answer).type]).toEqual([503, "server_error"]);
    expect((await call(server, "GET /v1/models")).status).toBe(200);
  });
});
