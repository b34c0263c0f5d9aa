import {
  counted,
  json,
  type MisbehavingServer,
  type Script,
  startServer,
  transports,
  VirtualClock,
} from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { HttpError } from "./errors.js";
import { DefaultHttpClient } from "./http-client.js";
import type { HttpClientConfig } from "./http-client-config.js";
import { MemoryHttpCache } from "./memory-cache.js";
import type { HttpRequestInterceptor, Logger, RequestMetrics, RequestOutcome } from "./ports.js";
import type { HttpRequestOptions } from "./request/request-options.js";
import { MemoryCircuitBreaker } from "./resilience/circuit-breaker.js";
import { TokenBucketRateLimiter } from "./resilience/token-bucket.js";

const servers: MisbehavingServer[] = [];

async function serve(script: Script): Promise<MisbehavingServer> {
  const server = await startServer(script);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const get = (url: string, more: Partial<HttpRequestOptions> = {}): HttpRequestOptions => ({
  operation: "things.get",
  method: "GET",
  url,
  ...more,
});

const TWICE = { maxAttempts: 2, baseBackoffMs: 0 };

function recordingLogger(): Logger & { lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { lines, debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

describe.each(transports)("hooks and ports over %s", (_name, transport) => {
  const client = (config: Partial<HttpClientConfig> = {}) =>
    new DefaultHttpClient({ clientName: "things", transport, ...config });

  it("runs interceptors in order before sending and in reverse afterwards, on each attempt", async () => {
    const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, {}));
    const events: string[] = [];
    const named = (name: string): HttpRequestInterceptor => ({
      beforeSend: ({ request }) => void events.push(`${name} before ${request.attempt}`),
      afterResponse: ({ attempt, response }) =>
        void events.push(`${name} after ${attempt} ${response.status}`),
      onError: ({ attempt, error }) => void events.push(`${name} error ${attempt} ${error.status}`),
    });
    await client({
      interceptors: [named("a"), named("b")],
      beforeRequest: () => void events.push("legacy before"),
      afterResponse: () => void events.push("legacy after"),
    }).requestJson(get(server.url, { resilience: TWICE }));
    expect(events).toEqual([
      ...["legacy before", "a before 1", "b before 1", "b error 1 500", "a error 1 500"],
      ...["legacy before", "a before 2", "b before 2", "b after 2 200", "a after 2 200", "legacy after"],
    ]);
  });

  it("sends what an interceptor changed, and starts each attempt from the caller's request", async () => {
    const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, {}));
    const body = { n: 0 };
    const request: HttpRequestOptions = {
      operation: "o",
      method: "POST",
      url: server.url,
      body,
      headers: { a: "1" },
    };
    await client({
      interceptors: [
        {
          async beforeSend({ request: attempt }) {
            expect(attempt.headers).not.toHaveProperty("Authorization");
            attempt.headers = { ...attempt.headers, Authorization: `token-${attempt.attempt}` };
            attempt.body = { n: attempt.attempt };
            attempt.url = `${server.url}/changed`;
          },
        },
      ],
    }).requestJson({ ...request, resilience: TWICE });
    expect(
      server.seen.map(({ path, body: sent, headers }) => [path, sent, headers.authorization, headers.a]),
    ).toEqual([
      ["/changed", '{"n":1}', "token-1", "1"],
      ["/changed", '{"n":2}', "token-2", "1"],
    ]);
    expect(body).toEqual({ n: 0 });
  });

  it("lets an interceptor read the body of a request whose body the client reads anyway", async () => {
    const server = await serve((response) => json(response, 200, { a: 1 }));
    const bodies: string[] = [];
    const answer = await client({
      interceptors: [{ afterResponse: async ({ response }) => void bodies.push(await response.text()) }],
    }).requestJson(get(server.url));
    expect(answer).toEqual({ a: 1 });
    expect(bodies).toEqual(['{"a":1}']);
  });

  it("succeeds although interceptors, cache, metrics, traces and the logger all fail", async () => {
    const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, { n }));
    const fail = (): never => {
      throw new Error("broken hook");
    };
    const failLater = () => Promise.reject(new Error("broken hook"));
    const broken: Partial<HttpClientConfig> = {
      interceptors: [
        { beforeSend: fail, afterResponse: fail, onError: fail },
        { beforeSend: failLater, afterResponse: failLater, onError: failLater },
      ],
      cache: { get: failLater, set: failLater },
      metrics: { recordRequest: failLater },
      tracing: { startSpan: () => ({ end: fail }) },
    };
    const request = { resilience: TWICE, cacheKey: "k", cacheTtlMs: 1000 };
    const logger = recordingLogger();
    expect(await client({ ...broken, logger }).requestJson(get(server.url, request))).toEqual({ n: 2 });
    expect(logger.lines).toEqual(
      expect.arrayContaining([
        "warn Cache failed",
        "warn Interceptor beforeSend failed",
        "warn Interceptor onError failed",
        "warn Interceptor afterResponse failed",
        "warn Tracing failed",
      ]),
    );
    const mute = { debug: fail, info: fail, warn: fail, error: fail };
    const both = { ...broken, logger: mute, tracing: { startSpan: fail } };
    expect(await client(both).requestJson(get(server.url, request))).toEqual({ n: 3 });
  });

  it("logs a metrics sink that fails later", async () => {
    const server = await serve((response) => json(response, 200, {}));
    const logged = new Promise<string>((resolve) => {
      const logger = { ...recordingLogger(), warn: (message: string) => resolve(message) };
      const metrics = { recordRequest: () => Promise.reject(new Error("full")) };
      void client({ logger, metrics }).requestJson(get(server.url));
    });
    expect(await logged).toBe("Metrics failed");
  });

  it("is not held up beyond its deadline by an interceptor that never returns", async () => {
    const clock = new VirtualClock();
    const never = () => new Promise<void>(() => {});
    const sent = counted(transport);
    const request = client({
      clock,
      transport: sent.transport,
      interceptors: [{ beforeSend: never }],
    }).requestJson(get("http://127.0.0.1:9", { resilience: { overallTimeoutMs: 500 } }));
    const settled = expect(request).rejects.toMatchObject({ kind: "overall" });
    clock.advance(500);
    await settled;
    expect(sent.calls()).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("reports one outcome per logical request to metrics and to the span", async () => {
    const limits = { "x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "6m0s" };
    const clock = new VirtualClock();
    const server = await serve((response, request, n) =>
      json(response, n === 1 || request.path === "/bad" ? 500 : 200, {}, limits),
    );
    const records: RequestMetrics[] = [];
    const spans: [string, RequestOutcome | undefined, unknown][] = [];
    const watched = client({
      clock,
      defaultAgentContext: { agent: "tester" },
      metrics: { recordRequest: (info) => void records.push(info) },
      tracing: {
        startSpan: (name) => {
          const span: [string, RequestOutcome | undefined, unknown] = [name, undefined, undefined];
          spans.push(span);
          return {
            end(outcome, error) {
              span[1] = outcome;
              span[2] = error;
            },
          };
        },
      },
    });
    const request = watched.requestJson(
      get(server.url, {
        resilience: { maxAttempts: 2, baseBackoffMs: 3, jitterFactorRange: [1, 1] },
        extensions: { x: 1 },
      }),
    );
    await clock.timer(3);
    clock.advance(3);
    await request;
    await expect(watched.requestJson(get(`${server.url}/bad`))).rejects.toThrow(HttpError);
    expect(records).toHaveLength(2);
    expect(records[0]).toMatchObject({
      clientName: "things",
      operation: "things.get",
      method: "GET",
      agentContext: { agent: "tester" },
      extensions: { x: 1 },
      durationMs: 3,
      fromCache: false,
      outcome: { ok: true, status: 200, attempts: 2, rateLimitFeedback: { remainingRequests: 7 } },
    });
    expect(records[0]?.outcome.rateLimitFeedback?.resetRequestsAt?.getTime()).toBe(clock.wallNow() + 360_000);
    expect(records[1]?.outcome).toMatchObject({
      ok: false,
      status: 500,
      attempts: 1,
      errorCategory: "transient",
    });
    expect(spans.map(([name, outcome]) => [name, outcome?.ok])).toEqual([
      ["things.things.get", true],
      ["things.things.get", false],
    ]);
    expect(HttpError.isInstance(spans[1]?.[2])).toBe(true);
  });

  it("wraps a logical request, retries included, in the legacy policy", async () => {
    const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, { n }));
    let runs = 0;
    const answer = await client({
      async policyWrapper(execute, request) {
        expect(request.operation).toBe("things.get");
        runs += 1;
        return execute();
      },
    }).requestJson(get(server.url, { resilience: TWICE }));
    expect(answer).toEqual({ n: 2 });
    expect(runs).toBe(1);
  });

  it("answers requestJson from the cache until the entry expires, and never the other methods", async () => {
    const clock = new VirtualClock();
    const server = await serve((response, _request, n) => json(response, 200, { n }));
    const records: RequestMetrics[] = [];
    const cached = client({
      clock,
      cache: new MemoryHttpCache({ clock }),
      metrics: { recordRequest: (info) => void records.push(info) },
    });
    const request = get(server.url, { cacheKey: "key", cacheTtlMs: 1000 });
    expect(await cached.requestJson(request)).toEqual({ n: 1 });
    expect(await cached.requestJson(request)).toEqual({ n: 1 });
    expect(records.map(({ fromCache, outcome }) => [fromCache, outcome.ok, outcome.attempts])).toEqual([
      [false, true, 1],
      [true, true, 0],
    ]);
    expect(await cached.requestText(request)).toBe('{"n":2}');
    clock.advance(1000);
    expect(await cached.requestJson(request)).toEqual({ n: 3 });
  });

  it("goes by a response classifier: success for a 404, failure and retry for a 200", async () => {
    const server = await serve((response, request, n) =>
      json(response, request.path === "/gone" ? 404 : 200, { n }),
    );
    const lenient = client({
      responseClassifier: {
        classify(response, bodyText) {
          expect(bodyText).toBe('{"n":1}');
          return { treatAsError: response.status !== 404, overrideStatus: 200 };
        },
      },
    });
    const gone = await lenient.requestRaw(get(`${server.url}/gone`));
    expect([gone.status, gone.ok, await gone.json()]).toEqual([200, true, { n: 1 }]);
    const errors: HttpError[] = [];
    const answer = await client({
      responseClassifier: {
        classify: () =>
          server.seen.length === 2
            ? {
                treatAsError: true,
                category: "transient",
                overrideStatus: 503,
                fallback: { degradeToOperation: "b" },
              }
            : undefined,
      },
      interceptors: [{ onError: ({ error }) => void errors.push(error) }],
    }).requestJson(get(server.url, { resilience: TWICE }));
    expect(answer).toEqual({ n: 3 });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      status: 503,
      category: "transient",
      fallback: { degradeToOperation: "b" },
    });
  });

  it("takes a custom error classifier's word, and the default's where it throws", async () => {
    const clock = new VirtualClock();
    const server = await serve((response, _request, n) => json(response, n === 1 ? 418 : 500, {}));
    const logger = recordingLogger();
    let asked = 0;
    const request = client({
      clock,
      logger,
      errorClassifier: {
        classifyNetworkError: () => ({ category: "network" }),
        classifyResponse: () => {
          asked += 1;
          if (asked > 1) throw new Error("confused");
          return { category: "transient", retryable: true, suggestedBackoffMs: 42, reason: "teapot" };
        },
      },
    }).requestJson(get(server.url, { resilience: { maxAttempts: 2 } }));
    const settled = expect(request).rejects.toMatchObject({ status: 500, category: "transient" });
    await clock.timer(42);
    clock.advance(42);
    await settled;
    expect(logger.lines).toContain("warn Error classifier failed");
  });

  it("asks the limiter before each attempt and gives it the server's answer", async () => {
    const clock = new VirtualClock();
    const server = await serve((response, _request, n) =>
      json(response, n === 1 ? 429 : 200, {}, n === 1 ? { "retry-after": "2" } : {}),
    );
    const limiter = new TokenBucketRateLimiter({ perSecond: 1000, clock });
    const limited = client({ clock, rateLimiter: limiter });
    const request = limited.requestJson(get(server.url, { resilience: { maxAttempts: 2 } }));
    await clock.timer(2000);
    // Another request waits meanwhile too, because the server asked for it.
    const other = limited.requestJson(get(server.url));
    expect(server.seen).toHaveLength(1);
    clock.advance(2000);
    await Promise.all([request, other]);
    expect(server.seen).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  it("stops waiting for the limiter when the caller aborts", async () => {
    const clock = new VirtualClock();
    const limiter = new TokenBucketRateLimiter({ perSecond: 1, burst: 1, clock });
    const sent = counted(transport);
    const server = await serve((response) => json(response, 200, {}));
    const limited = client({ clock, rateLimiter: limiter, transport: sent.transport });
    await limited.requestJson(get(server.url));
    const aborter = new AbortController();
    const request = limited.requestJson(get(server.url, { signal: aborter.signal }));
    const settled = expect(request).rejects.toMatchObject({ category: "canceled" });
    await clock.timer(1000);
    aborter.abort();
    await settled;
    expect(sent.calls()).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it("does not send while the circuit is open, and closes it with a probe", async () => {
    const clock = new VirtualClock();
    let healthy = false;
    const server = await serve((response) => json(response, healthy ? 200 : 500, {}));
    const circuitBreaker = new MemoryCircuitBreaker({ failureThreshold: 2, openMs: 1000, clock });
    const guarded = client({ clock, circuitBreaker });
    for (let n = 0; n < 2; n += 1)
      await expect(guarded.requestJson(get(server.url))).rejects.toMatchObject({ status: 500 });
    await expect(guarded.requestJson(get(server.url, { resilience: TWICE }))).rejects.toMatchObject({
      reason: "circuit_open",
      status: 0,
      retryable: false,
      fallback: { retryAfterMs: 1000 },
    });
    expect(server.seen).toHaveLength(2);
    healthy = true;
    clock.advance(1000);
    await guarded.requestJson(get(server.url));
    await guarded.requestJson(get(server.url));
    expect(server.seen).toHaveLength(4);
  });
});
