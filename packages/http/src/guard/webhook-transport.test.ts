import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWebhookTransport } from "./webhook-transport.js";

let server: Server;
let port = 0;
/** Paths that were requested. */
const hits: string[] = [];
/** Bytes that the endpoint could send before it was cut off. */
let poured = 0;

/** Sends up to 1 GB. */
function pour(response: ServerResponse): void {
  const piece = Buffer.alloc(64 * 1024, "x");
  const more = () => {
    while (poured < 2 ** 30) {
      poured += piece.length;
      if (response.destroyed || !response.write(piece)) return;
    }
    response.end();
  };
  response.on("drain", more);
  response.on("error", () => {});
  more();
}

const answers: Record<string, (response: ServerResponse, request: IncomingMessage) => unknown> = {
  "/ok": (response) => response.writeHead(204).end(),
  "/failing": (response) => response.writeHead(500).end("secret details of the endpoint"),
  "/busy": (response) => response.writeHead(503, { "retry-after": "7" }).end(),
  "/gone": (response) => response.writeHead(410).end(),
  "/private": (response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
  "/elsewhere": (response) => response.writeHead(307, { location: "/ok" }).end(),
  "/hang": () => {},
  "/drip": (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(timer));
  },
  "/flood": pour,
  "/reset": (response) => response.destroy(),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    hits.push(request.url ?? "");
    answers[request.url ?? ""]?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const local = createWebhookTransport({ isAllowedAddress: () => true, random: () => 0.5 });

const post = (
  path: string,
  { transport = local, timeoutMs = 5_000, signal = new AbortController().signal, host = "127.0.0.1" } = {},
) =>
  transport.post({
    url: `http://${host}:${port}${path}`,
    headers: { "content-type": "application/json", "webhook-id": "evt_1" },
    body: '{"type":"turn.sealed"}',
    timeoutMs,
    maxBytes: 64_000,
    signal,
  });

describe("the transport of webhooks", () => {
  it.each([
    ["/ok", { status: 204 }],
    ["/failing", { status: 500 }],
    ["/busy", { status: 503, retryAfterMs: 7_000 }],
    ["/gone", { status: 410 }],
    ["/reset", { error: "The connection failed (ECONNRESET)" }],
  ])("reports the result of %s", async (path, answer) => {
    expect(await post(path)).toEqual(answer);
  });

  it("follows no redirect, neither to a private address nor to another path", async () => {
    hits.length = 0;
    expect(await post("/private")).toEqual({ status: 302 });
    expect(await post("/elsewhere")).toEqual({ status: 307 });
    expect(hits).toEqual(["/private", "/elsewhere"]);
  });

  it.each(["/hang", "/drip"])("waits no longer than allowed for %s", async (path) => {
    expect(await post(path, { timeoutMs: 150 })).toEqual({ error: "No answer within 150 ms" });
  });

  it("reads no more than allowed of an endless response, whose status counts", async () => {
    poured = 0;
    expect(await post("/flood")).toEqual({ status: 200 });
    // Buffers on both ends hold a few megabytes.
    expect(poured).toBeLessThan(50_000_000);
  });

  it("is cut off when its node shuts down", async () => {
    const stopped = new AbortController();
    const answer = post("/hang", { signal: stopped.signal });
    stopped.abort();
    expect(await answer).toEqual({ error: "The request was cut off" });
  });

  it("reaches no private address, by number or by name, before or after it is looked up", async () => {
    hits.length = 0;
    const strict = createWebhookTransport();
    for (const host of ["127.0.0.1", "[::1]", "2130706433", "10.0.0.1"]) {
      const url = `http://${host}:${port}/ok`;
      expect(strict.refusalOf(url), host).toContain("not a public address");
      expect(await post("/ok", { transport: strict, host }), host).toMatchObject({
        error: expect.stringContaining("not a public address") as unknown,
      });
    }
    expect(strict.refusalOf(`http://localhost:${port}/ok`)).toBeUndefined();
    expect(await post("/ok", { transport: strict, host: "localhost" })).toEqual({
      error: "localhost resolves to an address that is not public",
    });
    expect(hits).toEqual([]);
  });

  it.each([
    ["ftp://example.com/", "Only http and https are supported"],
    ["https://user:pw@example.com/", "A URL with a user name or password is refused"],
    ["nonsense", "This is not a URL"],
    ["https://example.com/hook", undefined],
  ])("reports beforehand what it refuses: %s", (url, refusal) => {
    expect(createWebhookTransport().refusalOf(url)).toBe(refusal);
  });

  it("waits longer with each attempt up to a bound, and as long as an endpoint asks for within it", () => {
    const waits = [1, 2, 3, 10, 30].map((attempt) => local.delayMs(attempt));
    expect(waits).toEqual([10_000, 20_000, 40_000, 5_120_000, 21_600_000]);
    expect(local.delayMs(1, 60_000)).toBe(60_000);
    expect(local.delayMs(3, 0)).toBe(40_000);
    expect(local.delayMs(1, 10 ** 12)).toBe(21_600_000);
    const [low, high] = [0, 1].map((random) => createWebhookTransport({ random: () => random }).delayMs(1));
    expect([low, high]).toEqual([8_000, 12_000]);
  });
});
