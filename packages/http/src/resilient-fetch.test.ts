import {
  json,
  type MisbehavingServer,
  refusedUrl,
  type Script,
  startServer,
  transports,
} from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { createDefaultHttpClient } from "./create-default-http-client.js";
import { HttpError, TimeoutError } from "./errors.js";
import { resilientFetch } from "./resilient-fetch.js";

const servers: MisbehavingServer[] = [];

async function serve(script: Script): Promise<MisbehavingServer> {
  const server = await startServer(script);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe.each(transports)("resilientFetch over %s", (_name, transport) => {
  const doFetch = resilientFetch({ transport, defaultResilience: { maxAttempts: 3, baseBackoffMs: 0 } });

  it("retries underneath and returns a real Response", async () => {
    const server = await serve((response, _request, n) =>
      json(response, n === 1 ? 503 : 200, { n }, { "x-kind": "k" }),
    );
    const response = await doFetch(`${server.url}/a?b=c`, {
      method: "post",
      headers: [["X-One", "1"]],
      body: JSON.stringify({ a: 1 }),
    });
    expect(response).toBeInstanceOf(Response);
    expect(response.url).toBe(`${server.url}/a?b=c`);
    expect(response.headers.get("x-kind")).toBe("k");
    expect(await response.json()).toEqual({ n: 2 });
    expect(server.seen.map(({ method, body, headers }) => [method, body, headers["x-one"]])).toEqual([
      ["POST", '{"a":1}', "1"],
      ["POST", '{"a":1}', "1"],
    ]);
  });

  it("takes a URL and a Request, whose body it can send again, and lets init win", async () => {
    const server = await serve((response, _request, n) => json(response, n === 2 ? 500 : 200, {}));
    await doFetch(new URL(server.url));
    const request = new Request(`${server.url}/r`, { method: "PUT", headers: { a: "1" }, body: "payload" });
    await doFetch(request);
    await doFetch(new Request(server.url, { method: "POST", body: "old" }), { method: "PATCH", body: "new" });
    expect(server.seen.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      "GET / ",
      "PUT /r payload",
      "PUT /r payload",
      "PATCH / new",
    ]);
  });

  it("returns a final failure as a response, with its body whole however large", async () => {
    const large = "x".repeat(3 * 1024 * 1024);
    const server = await serve((response) => {
      response.writeHead(500, "Broken");
      response.end(large);
    });
    const response = await doFetch(server.url);
    expect([response.ok, response.status, response.statusText]).toEqual([false, 500, "Broken"]);
    expect(await response.text()).toBe(large);
    expect(server.seen).toHaveLength(3);
  });

  it("streams the body", async () => {
    const server = await serve((response) => {
      response.writeHead(200);
      response.write("first");
    });
    const aborter = new AbortController();
    const response = await doFetch(server.url, { signal: aborter.signal });
    const reader = response.body?.getReader();
    const chunk = await reader?.read();
    expect(new TextDecoder().decode(chunk?.value)).toBe("first");
    await reader?.cancel();
    await server.seen[0]?.disconnected;
  });

  it("answers bodiless responses without a body", async () => {
    const server = await serve((response) => {
      response.writeHead(204);
      response.end();
    });
    expect((await doFetch(server.url)).body).toBeNull();
    expect((await doFetch(server.url, { method: "HEAD" })).status).toBe(204);
  });

  it("rejects with the reason of an abort", async () => {
    const server = await serve(() => {});
    const aborter = new AbortController();
    const request = doFetch(server.url, { signal: aborter.signal });
    await server.request(1);
    aborter.abort();
    await expect(request).rejects.toMatchObject({ name: "AbortError" });
    await expect(doFetch(server.url, { signal: AbortSignal.abort("why") })).rejects.toBe("why");
  });

  it("rejects with a TypeError if nothing answers, and with a TimeoutError if it takes too long", async () => {
    const url = await refusedUrl();
    const failure = await doFetch(url).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(HttpError.isInstance((failure as TypeError).cause)).toBe(true);

    const server = await serve(() => {});
    const client = createDefaultHttpClient({ transport, defaultResilience: { maxAttempts: 1 } });
    const hasty = resilientFetch(client, { resilience: { perAttemptTimeoutMs: 5 } });
    expect(TimeoutError.isInstance(await hasty(server.url).catch((error: unknown) => error))).toBe(true);
  });

  it("passes platform options on", async () => {
    const server = await serve((response) => {
      response.writeHead(302, { location: "/elsewhere" });
      response.end();
    });
    const response = await doFetch(server.url, { redirect: "manual" });
    expect(response.status).toBe(302);
    expect(server.seen).toHaveLength(1);
  });
});
