import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import {
  json,
  type MisbehavingServer,
  refusedUrl,
  reset,
  type Script,
  startServer,
  transports,
  VirtualClock,
} from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { HttpError, TimeoutError } from "./errors.js";
import { DefaultHttpClient } from "./http-client.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { HttpRequestOptions } from "./request/request-options.js";

const servers: MisbehavingServer[] = [];

async function serve(script: Script): Promise<MisbehavingServer> {
  const server = await startServer(script);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Returns the HttpError that a request fails with. */
async function failureOf(request: Promise<unknown>): Promise<HttpError> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!HttpError.isInstance(error)) throw new Error(`Expected an HttpError, got ${inspect(error)}`);
  return error;
}

const get = (url: string, more: Partial<HttpRequestOptions> = {}): HttpRequestOptions => ({
  operation: "test.get",
  method: "GET",
  url,
  ...more,
});

const THREE = { maxAttempts: 3, baseBackoffMs: 0 };

describe.each(transports)("the client over %s", (_name, transport) => {
  const client = (config: Partial<HttpClientConfig> = {}) =>
    new DefaultHttpClient({ clientName: "test", transport, ...config });

  describe("sending", () => {
    it("sends a plain object as JSON and parses the answer", async () => {
      const server = await serve((response, request) => json(response, 200, { echo: request.body }));
      const answer = await client().requestJson({
        operation: "echo",
        method: "POST",
        url: server.url,
        body: { a: [1, "ü"] },
      });
      expect(answer).toEqual({ echo: '{"a":[1,"ü"]}' });
      expect(server.seen[0]?.headers["content-type"]).toBe("application/json");
    });

    it("passes text, bytes, forms and blobs through with the content type of fetch", async () => {
      const server = await serve((response) => json(response, 200, {}));
      const form = new FormData();
      form.set("field", "value");
      const bodies: unknown[] = ["text", new Uint8Array([97, 98]), new URLSearchParams({ a: "b c" }), form];
      bodies.push(new Blob(["blob"], { type: "text/x" }));
      for (const body of bodies) {
        await client().requestJson({ operation: "send", method: "POST", url: server.url, body });
      }
      expect(server.seen.map((request) => request.body.replaceAll(/-{4,}\S+/g, "--"))).toEqual([
        "text",
        "ab",
        "a=b+c",
        expect.stringContaining("value"),
        "blob",
      ]);
      expect(server.seen.map((request) => request.headers["content-type"])).toEqual([
        "text/plain;charset=UTF-8",
        undefined,
        "application/x-www-form-urlencoded;charset=UTF-8",
        expect.stringMatching(/^multipart\/form-data; boundary=/),
        "text/x",
      ]);
    });

    it("sends no body for null and undefined, and frames the body of a DELETE", async () => {
      const server = await serve((response) => json(response, 200, {}));
      await client().requestJson({ operation: "send", method: "POST", url: server.url, body: null });
      await client().requestJson({ operation: "send", method: "DELETE", url: server.url, body: { id: 1 } });
      expect(server.seen.map((request) => request.body)).toEqual(["", '{"id":1}']);
    });

    it("merges headers without regard to case and sends the idempotency key with every attempt", async () => {
      const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, {}));
      await client({ defaultHeaders: { Authorization: "one", "X-Both": "default" } }).requestJson({
        operation: "send",
        method: "POST",
        url: server.url,
        headers: { "x-both": "request" },
        idempotencyKey: "key-1",
        resilience: THREE,
      });
      expect(server.seen).toHaveLength(2);
      for (const { headers } of server.seen) {
        expect(headers).toMatchObject({
          authorization: "one",
          "x-both": "request",
          "idempotency-key": "key-1",
        });
      }
    });

    it("builds the URL from parts, legacy fields and a resolved base", async () => {
      const server = await serve((response) => json(response, 200, {}));
      const parts = { path: "/items", query: { tag: ["a", "b"], none: undefined, n: 1 } };
      await client({ baseUrl: `${server.url}/v1/` }).requestJson({
        operation: "o",
        method: "GET",
        urlParts: parts,
      });
      await client({ resolveBaseUrl: async () => server.url }).requestJson({
        operation: "o",
        method: "GET",
        path: "old",
        query: { q: "ä" },
        pageSize: 10,
        pageOffset: 20,
      });
      expect(server.seen.map((request) => request.path)).toEqual([
        "/v1/items?tag=a&tag=b&n=1",
        "/old?q=%C3%A4&limit=10&offset=20",
      ]);
    });

    it("answers text, bytes and empty bodies", async () => {
      const server = await serve((response, request) => {
        response.writeHead(request.path === "/empty" ? 204 : 200);
        response.end(request.path === "/empty" ? undefined : "grüße");
      });
      expect(await client().requestText(get(server.url))).toBe("grüße");
      const bytes = await client().requestArrayBuffer(get(server.url));
      expect(new TextDecoder().decode(bytes)).toBe("grüße");
      expect(await client().requestJson(get(`${server.url}/empty`))).toBeUndefined();
      expect(await client().requestText(get(server.url, { method: "HEAD" }))).toBe("");
    });

    it("refuses what cannot be sent before sending, and quotes no header value", async () => {
      const server = await serve((response) => json(response, 200, {}));
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      const cases: [Partial<HttpRequestOptions>, string][] = [
        [{ url: "not a url" }, "invalid_url"],
        [{ headers: { authorization: "Bearer secret\nkey" } }, "invalid_header"],
        [{ headers: { "bad name": "x" } }, "invalid_header"],
        [{ method: "POST", body: circular }, "invalid_body"],
      ];
      for (const [change, reason] of cases) {
        const failure = await failureOf(
          client().requestJson(get(server.url, { ...change, resilience: THREE })),
        );
        expect(failure).toMatchObject({ category: "validation", status: 0, reason, retryable: false });
        expect(inspect(failure, { depth: 8 })).not.toContain("secret");
      }
      expect(server.seen).toHaveLength(0);
    });
  });

  describe("failures and retries", () => {
    it("retries a 500 and then succeeds, with attempts that share one request id", async () => {
      const server = await serve((response, _request, n) => json(response, n < 3 ? 500 : 200, { n }));
      const ids = new Set<unknown>();
      const attempts: (number | undefined)[] = [];
      const answer = await client({
        interceptors: [
          {
            beforeSend({ request }) {
              ids.add(request.correlation?.requestId);
              attempts.push(request.attempt);
            },
          },
        ],
      }).requestJson(get(server.url, { resilience: THREE }));
      expect(answer).toEqual({ n: 3 });
      expect(ids.size).toBe(1);
      expect([...ids][0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(attempts).toEqual([1, 2, 3]);
    });

    it("reports each failed attempt before it waits for the next, whatever the listener throws", async () => {
      const server = await serve((response, _request, n) => json(response, n < 3 ? 503 : 200, { n }));
      const reported: [number, number, boolean][] = [];
      const onRetry: HttpRequestOptions["onRetry"] = ({ error, attempt, delayMs }) => {
        reported.push([attempt, error.status, delayMs >= 0]);
        throw new Error("of no concern to the request");
      };
      const answer = await client({}).requestJson(get(server.url, { resilience: THREE, onRetry }));
      expect(answer).toEqual({ n: 3 });
      expect(reported).toEqual([
        [1, 503, true],
        [2, 503, true],
      ]);
    });

    it("gives up after the last attempt with the response's details", async () => {
      const server = await serve((response) =>
        json(response, 503, { error: { code: "overloaded" } }, { "x-trace": "t" }),
      );
      const failure = await failureOf(client().requestJson(get(server.url, { resilience: THREE })));
      expect(server.seen).toHaveLength(3);
      expect(failure).toMatchObject({
        status: 503,
        category: "transient",
        retryable: true,
        reason: "overloaded",
        body: '{"error":{"code":"overloaded"}}',
      });
      expect(failure.headers?.["x-trace"]).toBe("t");
      expect(await failure.response?.json()).toEqual({ error: { code: "overloaded" } });
    });

    it.each([
      [400, "validation"],
      [401, "auth"],
      [403, "auth"],
      [404, "not_found"],
      [422, "validation"],
      [402, "quota"],
    ])("does not retry a %i, which is %s", async (status, category) => {
      const server = await serve((response) => json(response, status, {}));
      const failure = await failureOf(client().requestRaw(get(server.url, { resilience: THREE })));
      expect(failure).toMatchObject({ status, category, retryable: false });
      expect(server.seen).toHaveLength(1);
    });

    it.each([408, 409, 429, 500, 502, 529])("retries a %i", async (status) => {
      const server = await serve((response, _request, n) => json(response, n === 1 ? status : 200, {}));
      await client().requestJson(get(server.url, { resilience: THREE }));
      expect(server.seen).toHaveLength(2);
    });

    it.each([
      { error: { code: "insufficient_quota", type: "insufficient_quota" } },
      { error: { type: "billing_error", message: "pay" } },
      { type: "error", error: { type: "credit_balance_exhausted" } },
    ])("does not retry a 429 that means an exhausted quota: %j", async (body) => {
      const server = await serve((response) => json(response, 429, body, { "x-should-retry": "true" }));
      const failure = await failureOf(client().requestJson(get(server.url, { resilience: THREE })));
      expect(failure).toMatchObject({ status: 429, category: "quota", retryable: false });
      expect(server.seen).toHaveLength(1);
    });

    it("obeys x-should-retry against the status, both ways", async () => {
      const server = await serve((response, request, n) => {
        if (request.path === "/no") json(response, 500, {}, { "x-should-retry": "false" });
        else json(response, n === 2 ? 400 : 200, {}, n === 2 ? { "x-should-retry": "true" } : {});
      });
      await failureOf(client().requestJson(get(`${server.url}/no`, { resilience: THREE })));
      expect(server.seen).toHaveLength(1);
      await client().requestJson(get(`${server.url}/yes`, { resilience: THREE }));
      expect(server.seen).toHaveLength(3);
    });

    it("reports a refused connection as transient after all attempts", async () => {
      const url = await refusedUrl();
      const failure = await failureOf(client().requestJson(get(`${url}/?key=hidden`, { resilience: THREE })));
      expect(failure).toMatchObject({
        status: 0,
        category: "transient",
        retryable: true,
        reason: "ECONNREFUSED",
      });
      expect(failure.message).toContain("test.get");
      expect(failure.message).not.toContain("hidden");
    });

    it("retries a connection reset before the headers", async () => {
      const server = await serve((response, _request, n) =>
        n < 3 ? reset(response) : json(response, 200, { n }),
      );
      expect(await client().requestJson(get(server.url, { resilience: THREE }))).toEqual({ n: 3 });
    });

    it("retries a connection reset within the body, as long as the caller has seen nothing of it", async () => {
      const server = await serve((response, _request, n) => {
        if (n === 3) return json(response, 200, { whole: true });
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"whole":', () => reset(response));
      });
      expect(await client().requestJson(get(server.url, { resilience: THREE }))).toEqual({ whole: true });
      expect(server.seen).toHaveLength(3);
    });

    it("hands a body that breaks to the reader of requestRaw, without a retry", async () => {
      const server = await serve((response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write("partial", () => reset(response));
      });
      const response = await client().requestRaw(get(server.url, { resilience: THREE }));
      const failure = await failureOf(response.text());
      expect(failure).toMatchObject({ category: "transient", status: 0 });
      expect(server.seen).toHaveLength(1);
    });

    it("does not retry a request whose body is a stream", async () => {
      const server = await serve((response) => json(response, 500, {}));
      const bodies = [
        new Blob(["streamed"]).stream(),
        (async function* () {
          yield new TextEncoder().encode("streamed");
        })(),
      ];
      for (const body of bodies) {
        const request: HttpRequestOptions = {
          operation: "up",
          method: "POST",
          url: server.url,
          body,
          resilience: THREE,
        };
        expect(await failureOf(client().requestJson(request))).toMatchObject({ status: 500 });
      }
      expect(server.seen.map((request) => request.body)).toEqual(["streamed", "streamed"]);
    });

    it("retries with the body as it was first sent, even if the caller changes the object", async () => {
      const body = { messages: ["first"] };
      const server = await serve((response, _request, n) => {
        body.messages.push("later");
        json(response, n === 1 ? 500 : 200, {});
      });
      await client().requestJson({
        operation: "o",
        method: "POST",
        url: server.url,
        body,
        resilience: THREE,
      });
      expect(server.seen[1]?.body).toBe('{"messages":["first"]}');
    });

    it("says clearly that a 200 is not JSON, and does not retry it", async () => {
      const server = await serve((response) => response.end("<html>oops</html>"));
      const failure = await failureOf(client().requestJson(get(server.url, { resilience: THREE })));
      expect(failure).toMatchObject({
        status: 200,
        category: "unknown",
        reason: "invalid_json",
        body: "<html>oops</html>",
      });
      expect(failure.message).toContain("not JSON");
      expect(server.seen).toHaveLength(1);
    });

    it("still calls a 500 whose body breaks a 500", async () => {
      const server = await serve((response) => {
        response.writeHead(500, { "content-length": "1000" });
        response.write("half", () => reset(response));
      });
      expect(await failureOf(client().requestText(get(server.url)))).toMatchObject({
        status: 500,
        category: "transient",
      });
    });

    it("shows no secret in an error", async () => {
      const server = await serve((response) => json(response, 401, { error: "no" }));
      const url = `${server.url}/?api_key=sk-query`;
      const headers = { authorization: "Bearer sk-header", "x-api-key": "sk-other" };
      for (const target of [url, `${await refusedUrl()}/?api_key=sk-query`]) {
        const failure = await failureOf(client().requestJson(get(target, { headers })));
        expect(inspect(failure, { depth: 10, showHidden: true }) + JSON.stringify(failure)).not.toMatch(
          /sk-/,
        );
      }
    });
  });

  describe("waiting between attempts", () => {
    const forms: [string, Record<string, string>, number][] = [
      ["retry-after-ms", { "retry-after-ms": "1500", "retry-after": "9" }, 1500],
      ["retry-after in seconds", { "retry-after": "2" }, 2000],
      ["retry-after as a date", { "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
      ["retry-after above the cap", { "retry-after": "3600" }, 60_000],
      ["nothing readable", { "retry-after": "soon" }, 250],
    ];
    it.each(forms)("waits as long as a 429 asks with %s", async (_form, headers, delayMs) => {
      const clock = new VirtualClock();
      const server = await serve((response, _request, n) =>
        json(response, n === 1 ? 429 : 200, {}, n === 1 ? headers : {}),
      );
      const request = client({ clock, random: () => 0.5 }).requestJson(
        get(server.url, { resilience: { maxAttempts: 2 } }),
      );
      await clock.timer(delayMs);
      expect(server.seen).toHaveLength(1);
      clock.advance(delayMs);
      await request;
      expect(server.seen).toHaveLength(2);
      expect(clock.pending).toBe(0);
    });

    it("doubles the wait with jitter from the injected randomness", async () => {
      const clock = new VirtualClock();
      const server = await serve((response) => json(response, 500, {}));
      const resilience = {
        maxAttempts: 4,
        baseBackoffMs: 100,
        jitterFactorRange: [1, 2] as const,
        maxBackoffMs: 500,
      };
      const request = failureOf(
        client({ clock, random: () => 0.5 }).requestJson(get(server.url, { resilience })),
      );
      for (const delayMs of [150, 300, 500]) {
        await clock.timer(delayMs);
        clock.advance(delayMs);
      }
      expect(await request).toMatchObject({ status: 500 });
      expect(server.seen).toHaveLength(4);
    });

    it("gives up at once when the wait would pass the overall deadline", async () => {
      const clock = new VirtualClock();
      const server = await serve((response) => json(response, 429, {}, { "retry-after": "30" }));
      const resilience = { maxAttempts: 5, overallTimeoutMs: 10_000 };
      expect(await failureOf(client({ clock }).requestJson(get(server.url, { resilience })))).toMatchObject({
        status: 429,
        fallback: { retryAfterMs: 30_000 },
      });
      expect(server.seen).toHaveLength(1);
      expect(clock.pending).toBe(0);
    });

    it("is not fooled by a wall clock that jumps", async () => {
      const clock = new VirtualClock();
      const server = await serve((response, _request, n) => {
        clock.setWall(n === 1 ? Date.parse("2030-01-01") : Date.parse("1999-01-01"));
        json(response, n < 3 ? 500 : 200, {});
      });
      const outcomes: { startedAt: Date; finishedAt: Date }[] = [];
      const resilience = { maxAttempts: 3, overallTimeoutMs: 10_000, jitterFactorRange: [1, 1] as const };
      const request = client({
        clock,
        metrics: { recordRequest: ({ outcome }) => void outcomes.push(outcome) },
      }).requestJson(get(server.url, { resilience }));
      await clock.timer(250);
      clock.advance(250);
      await clock.timer(500);
      clock.advance(500);
      await request;
      const [outcome] = outcomes;
      expect((outcome?.finishedAt.getTime() ?? 0) - (outcome?.startedAt.getTime() ?? 0)).toBe(750);
    });
  });

  describe("timeouts", () => {
    it("times an attempt out on slow headers, closes its socket and retries", async () => {
      const clock = new VirtualClock();
      const server = await serve((response, _request, n) => {
        if (n > 1) json(response, 200, { n });
      });
      const resilience = { ...THREE, perAttemptTimeoutMs: 1000 };
      const request = client({ clock }).requestJson(get(server.url, { resilience }));
      const first = await server.request(1);
      clock.advance(1000);
      await first.disconnected;
      await clock.timer(0);
      clock.advance(0);
      expect(await request).toEqual({ n: 2 });
      expect(clock.pending).toBe(0);
    });

    it("ends with a TimeoutError when every attempt is too slow", async () => {
      const clock = new VirtualClock();
      const server = await serve(() => {});
      const resilience = { maxAttempts: 1, perAttemptTimeoutMs: 1000 };
      const request = failureOf(client({ clock }).requestJson(get(server.url, { resilience })));
      await server.request(1);
      clock.advance(1000);
      const failure = await request;
      expect(TimeoutError.isInstance(failure)).toBe(true);
      expect(failure).toMatchObject({
        category: "timeout",
        status: 0,
        kind: "attempt",
        name: "TimeoutError",
      });
    });

    it("bounds all attempts and waits together by the overall deadline", async () => {
      const clock = new VirtualClock();
      const server = await serve((response, _request, n) => {
        if (n === 1) json(response, 500, {});
      });
      const resilience = { maxAttempts: 9, overallTimeoutMs: 1000, jitterFactorRange: [1, 1] as const };
      const request = failureOf(client({ clock }).requestJson(get(server.url, { resilience })));
      await clock.timer(250);
      clock.advance(250);
      const second = await server.request(2);
      clock.advance(750);
      expect(await request).toMatchObject({ kind: "overall", retryable: false });
      await second.disconnected;
      expect(clock.pending).toBe(0);
    });

    it("counts the body of requestJson into the attempt, but not that of requestRaw", async () => {
      const clock = new VirtualClock();
      const release: (() => void)[] = [];
      const server = await serve((response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write("[1,");
        release.push(() => response.end("2]"));
      });
      const resilience = { maxAttempts: 1, perAttemptTimeoutMs: 1000 };
      const raw = await client({ clock }).requestRaw(get(server.url, { resilience }));
      clock.advance(5000);
      release[0]?.();
      expect(await raw.json()).toEqual([1, 2]);

      let headersSeen: () => void = () => {};
      const arrived = new Promise<void>((resolve) => {
        headersSeen = resolve;
      });
      const watching: typeof transport = async (url, init) => {
        const response = await transport(url, init);
        headersSeen();
        return response;
      };
      const request = failureOf(
        client({ clock, transport: watching }).requestJson(get(server.url, { resilience })),
      );
      await arrived;
      clock.advance(1000);
      expect(await request).toMatchObject({ kind: "attempt" });
    });
  });

  describe("cancellation", () => {
    const leftovers = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

    it("sends nothing for a signal that is aborted already", async () => {
      const server = await serve((response) => json(response, 200, {}));
      const reason = new Error("enough");
      const failure = await failureOf(
        client().requestJson(get(server.url, { signal: AbortSignal.abort(reason), resilience: THREE })),
      );
      expect(failure).toMatchObject({ category: "canceled", retryable: false, status: 0, cause: reason });
      expect(server.seen).toHaveLength(0);
    });

    it("closes the socket when aborted while waiting for headers, and does not retry", async () => {
      const server = await serve(() => {});
      const aborter = new AbortController();
      const request = failureOf(
        client().requestJson(get(server.url, { signal: aborter.signal, resilience: THREE })),
      );
      const first = await server.request(1);
      aborter.abort();
      expect(await request).toMatchObject({ category: "canceled" });
      await first.disconnected;
      expect(server.seen).toHaveLength(1);
      expect(leftovers(aborter.signal)).toBe(0);
    });

    it("closes the socket when aborted within the body", async () => {
      const server = await serve((response) => {
        response.writeHead(200);
        response.write("first");
      });
      const aborter = new AbortController();
      const response = await client().requestRaw(get(server.url, { signal: aborter.signal }));
      const chunks: string[] = [];
      const reading = failureOf(
        response.consume?.((chunk) => {
          chunks.push(new TextDecoder().decode(chunk));
          aborter.abort();
        }) ?? Promise.resolve(),
      );
      expect(await reading).toMatchObject({ category: "canceled" });
      expect(chunks).toEqual(["first"]);
      await server.seen[0]?.disconnected;
      expect(leftovers(aborter.signal)).toBe(0);
    });

    it("stops waiting when aborted between attempts", async () => {
      const clock = new VirtualClock();
      const server = await serve((response) => json(response, 500, {}));
      const aborter = new AbortController();
      const resilience = { maxAttempts: 3, jitterFactorRange: [1, 1] as const };
      const request = failureOf(
        client({ clock }).requestJson(get(server.url, { signal: aborter.signal, resilience })),
      );
      await clock.timer(250);
      aborter.abort();
      expect(await request).toMatchObject({ category: "canceled" });
      expect(server.seen).toHaveLength(1);
      expect(clock.pending).toBe(0);
      expect(leftovers(aborter.signal)).toBe(0);
    });

    it("leaves no listener and no timer behind after success or failure", async () => {
      const clock = new VirtualClock();
      const server = await serve((response, request) =>
        json(response, request.path === "/bad" ? 400 : 200, {}),
      );
      const { signal } = new AbortController();
      const resilience = { ...THREE, perAttemptTimeoutMs: 1000, overallTimeoutMs: 5000, stallTimeoutMs: 500 };
      await client({ clock }).requestJson(get(server.url, { signal, resilience }));
      await failureOf(client({ clock }).requestJson(get(`${server.url}/bad`, { signal, resilience })));
      await (await client({ clock }).requestRaw(get(server.url, { signal, resilience }))).text();
      await client({ clock }).requestRaw(get(server.url, { method: "HEAD", signal, resilience }));
      expect(leftovers(signal)).toBe(0);
      expect(clock.pending).toBe(0);
    });
  });
});
