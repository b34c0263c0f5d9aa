import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  json,
  type MisbehavingServer,
  type Script,
  startServer,
  transports,
  VirtualClock,
  writeForever,
} from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { DefaultHttpClient } from "../http-client.js";
import type { HttpClientConfig } from "../http-client-config.js";
import type { HttpRequestOptions } from "../request/request-options.js";
import type { HttpResponse } from "../response/http-response.js";

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
  operation: "test.stream",
  method: "GET",
  url,
  ...more,
});

const text = (chunk: Uint8Array) => new TextDecoder().decode(chunk);

function consume(
  response: HttpResponse,
  onChunk: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  if (response.consume === undefined) throw new Error("The response has no push path");
  return response.consume(onChunk);
}

/** Starts a server whose single response is controlled by the test. */
async function serveOpen(): Promise<{ server: MisbehavingServer; response: Promise<ServerResponse> }> {
  let hand: (response: ServerResponse) => void = () => {};
  const response = new Promise<ServerResponse>((resolve) => {
    hand = resolve;
  });
  const server = await serve((open) => {
    open.writeHead(200, { "content-type": "text/event-stream" });
    open.flushHeaders();
    hand(open);
  });
  return { server, response };
}

/** 32 MB, far above what sockets and streams buffer. */
const HUGE_CHUNKS = 512;
const HUGE_CHUNK = Buffer.alloc(64 * 1024, "x");

function writeHuge(response: ServerResponse, written: { chunks: number }): void {
  response.writeHead(200, { "content-length": String(HUGE_CHUNKS * HUGE_CHUNK.length) });
  const more = (): void => {
    while (written.chunks < HUGE_CHUNKS) {
      written.chunks += 1;
      if (!response.write(HUGE_CHUNK)) {
        response.once("drain", more);
        return;
      }
    }
    response.end();
  };
  more();
}

describe.each(transports)("streaming over %s", (_name, transport) => {
  const client = (config: Partial<HttpClientConfig> = {}) =>
    new DefaultHttpClient({ clientName: "test", transport, ...config });

  it("hands the response over before any of its body exists", async () => {
    const { server, response: open } = await serveOpen();
    const response = await client().requestRaw(get(server.url));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    (await open).end("late");
    expect(await response.text()).toBe("late");
  });

  it("pushes chunks as they arrive", async () => {
    const { server, response: open } = await serveOpen();
    const response = await client().requestRaw(get(server.url));
    const writer = await open;
    const seen: string[] = [];
    writer.write("one");
    await consume(response, (chunk) => {
      seen.push(text(chunk));
      if (seen.length === 1) writer.write("two");
      else writer.end();
    });
    expect(seen).toEqual(["one", "two"]);
  });

  it("never delivers a chunk while the promise of the one before is pending", async () => {
    const server = await serve((response) => writeHuge(response, { chunks: 0 }));
    const response = await client().requestRaw(get(server.url));
    let busy = false;
    let size = 0;
    await consume(response, async (chunk) => {
      expect(busy).toBe(false);
      busy = true;
      await new Promise((resolve) => setImmediate(resolve));
      busy = false;
      size += chunk.byteLength;
    });
    expect(size).toBe(HUGE_CHUNKS * HUGE_CHUNK.length);
  });

  it("reads no further ahead than buffers reach when the reader of a web stream is slow", async () => {
    const written = { chunks: 0 };
    const server = await serve((response) => writeHuge(response, written));
    const response = await client().requestRaw(get(server.url));
    const reader = response.body?.getReader();
    await reader?.read();
    // Once the server is idle for a while, all buffers are full.
    let before = -1;
    while (before !== written.chunks) {
      before = written.chunks;
      for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written.chunks).toBeLessThan(HUGE_CHUNKS);
    await reader?.cancel();
    await server.seen[0]?.disconnected;
  });

  it("reads a huge body whole, and refuses one above the limit by closing it", async () => {
    const server = await serve((response) => writeHuge(response, { chunks: 0 }));
    const whole = await client().requestArrayBuffer(get(server.url));
    expect(whole.byteLength).toBe(HUGE_CHUNKS * HUGE_CHUNK.length);
    const limited = client({
      maxResponseBytes: 1_000_000,
      defaultResilience: { maxAttempts: 3, baseBackoffMs: 0 },
    });
    await expect(limited.requestText(get(server.url))).rejects.toMatchObject({ reason: "body_too_large" });
    await server.seen[1]?.disconnected;
    expect(server.seen).toHaveLength(2);
  });

  it("offers the body as a web stream, once", async () => {
    const server = await serve((response) => response.end("streamed"));
    const response = await client().requestRaw(get(server.url));
    expect(response.bodyUsed).toBe(false);
    const parts: string[] = [];
    for await (const chunk of response.body ?? []) parts.push(text(chunk));
    expect(parts.join("")).toBe("streamed");
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  it("clones a response that is not read yet", async () => {
    const server = await serve((response) => json(response, 200, { a: 1 }));
    const response = await client().requestRaw(get(server.url));
    const copy = response.clone();
    expect(await copy.json()).toEqual({ a: 1 });
    expect(await response.text()).toBe('{"a":1}');
    expect(() => response.clone()).toThrow(TypeError);
  });

  it("ends a body that falls silent, and its socket, with a stall", async () => {
    const clock = new VirtualClock();
    const { server, response: open } = await serveOpen();
    const response = await client({ clock }).requestRaw(
      get(server.url, { resilience: { stallTimeoutMs: 1000 } }),
    );
    const writer = await open;
    const chunks: string[] = [];
    let arrived: () => void = () => {};
    const reading = consume(response, (chunk) => {
      chunks.push(text(chunk));
      arrived();
    });
    const settled = expect(reading).rejects.toMatchObject({ kind: "stall", category: "timeout" });
    for (const part of ["a", "b", "c"]) {
      const delivered = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      writer.write(part);
      await delivered;
      // Silence shorter than the limit, however often it occurs, is no stall.
      clock.advance(900);
    }
    clock.advance(100);
    await settled;
    expect(chunks).toEqual(["a", "b", "c"]);
    await server.seen[0]?.disconnected;
    expect(clock.pending).toBe(0);
  });

  it("retries a stalled body as long as the caller has seen nothing of it", async () => {
    const clock = new VirtualClock();
    const server = await serve((response, _request, n) => {
      if (n === 2) return json(response, 200, { n });
      response.writeHead(200);
      response.write("{");
    });
    const resilience = {
      maxAttempts: 2,
      baseBackoffMs: 7,
      jitterFactorRange: [1, 1] as const,
      stallTimeoutMs: 1000,
    };
    const request = client({ clock }).requestJson(get(server.url, { resilience }));
    await clock.timer(1000);
    clock.advance(1000);
    await clock.timer(7);
    clock.advance(7);
    expect(await request).toEqual({ n: 2 });
  });

  it("does not count the reader's own time as a stall", async () => {
    const clock = new VirtualClock();
    const { server, response: open } = await serveOpen();
    const response = await client({ clock }).requestRaw(
      get(server.url, { resilience: { stallTimeoutMs: 1000 } }),
    );
    const writer = await open;
    writer.write("one");
    const seen: string[] = [];
    await consume(response, async (chunk) => {
      seen.push(text(chunk));
      clock.advance(5000);
      if (seen.length === 1) writer.write("two");
      else writer.end();
    });
    expect(seen).toEqual(["one", "two"]);

    const streamed = await client({ clock }).requestRaw(
      get(server.url, { resilience: { stallTimeoutMs: 1000 } }),
    );
    clock.advance(5000);
    streamed.cancel?.();
    expect(clock.pending).toBe(0);
  });

  it("holds a stream to the overall deadline", async () => {
    const clock = new VirtualClock();
    const { server } = await serveOpen();
    const response = await client({ clock }).requestRaw(
      get(server.url, { resilience: { overallTimeoutMs: 1000 } }),
    );
    const reading = expect(response.text()).rejects.toMatchObject({ kind: "overall" });
    clock.advance(1000);
    await reading;
    await server.seen[0]?.disconnected;
  });

  it("fails the reader who comes after the deadline has ended the body", async () => {
    const clock = new VirtualClock();
    const { server } = await serveOpen();
    const response = await client({ clock }).requestRaw(
      get(server.url, { resilience: { overallTimeoutMs: 1000 } }),
    );
    clock.advance(1000);
    await server.seen[0]?.disconnected;
    await expect(response.text()).rejects.toMatchObject({ kind: "overall" });
  });

  it("cancels the rest of the body when the reader throws, and passes the reader's error on", async () => {
    const { server, response: open } = await serveOpen();
    const response = await client().requestRaw(get(server.url));
    (await open).write("one");
    const error = new Error("mine");
    await expect(
      consume(response, () => {
        throw error;
      }),
    ).rejects.toBe(error);
    await server.seen[0]?.disconnected;
  });

  it.each(["cancel", "body.cancel", "reader.cancel"])(
    "closes socket, timer and listener on %s",
    async (way) => {
      const clock = new VirtualClock();
      const { server, response: open } = await serveOpen();
      const { signal } = new AbortController();
      const resilience = { overallTimeoutMs: 9000, stallTimeoutMs: 1000 };
      const response = await client({ clock }).requestRaw(get(server.url, { signal, resilience }));
      (await open).write("one");
      if (way === "cancel") response.cancel?.();
      else if (way === "body.cancel") await response.body?.cancel();
      else {
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
      }
      await server.seen[0]?.disconnected;
      expect(clock.pending).toBe(0);
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
    },
  );

  it("resolves a pending consume when it is cancelled", async () => {
    const { server, response: open } = await serveOpen();
    const response = await client().requestRaw(get(server.url));
    (await open).write("one");
    await consume(response, () => response.cancel?.());
    await server.seen[0]?.disconnected;
  });

  it("closes the socket of a response that its caller dropped without looking at the body", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { server } = await serveOpen();
    const { signal } = new AbortController();
    const status = await client()
      .requestRaw(get(server.url, { signal }))
      .then((response) => response.status);
    expect(status).toBe(200);
    let gone = false;
    void server.seen[0]?.disconnected.then(() => {
      gone = true;
    });
    while (!gone) {
      collect();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("gives up a response that arrives after its attempt timed out", async () => {
    const clock = new VirtualClock();
    const { server } = await serveOpen();
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    // A transport that ignores its signal, and answers when no caller waits any more.
    const deaf: typeof transport = async (url, init) => {
      const response = await transport(url, { ...init, signal: new AbortController().signal });
      await held;
      return response;
    };
    const request = client({ clock, transport: deaf }).requestText(
      get(server.url, { resilience: { perAttemptTimeoutMs: 10 } }),
    );
    const settled = expect(request).rejects.toMatchObject({ kind: "attempt" });
    const first = await server.request(1);
    clock.advance(10);
    await settled;
    release();
    await first.disconnected;
  });

  it("reads the start of an error body that does not end, and closes it", async () => {
    const server = await serve((response) => {
      response.writeHead(500);
      writeForever(response);
    });
    await expect(client().requestRaw(get(server.url))).rejects.toMatchObject({
      status: 500,
      body: expect.stringMatching(/^x{1000000}/),
    });
    await server.seen[0]?.disconnected;
  });

  it("closes the kept rest of an error body when it retries after all", async () => {
    const server = await serve((response, _request, n) => {
      if (n === 2) return json(response, 200, {});
      response.writeHead(500);
      writeForever(response);
    });
    const resilience = { maxAttempts: 2, baseBackoffMs: 0 };
    await client().requestJson(get(server.url, { keepErrorBody: true, resilience }));
    await server.seen[0]?.disconnected;
  });

  it("delivers nothing to a reader after its failure was reported, even if the transport ignores the abort", async () => {
    const clock = new VirtualClock();
    let deliver: (chunk: Uint8Array) => void = () => {};
    const deaf: typeof transport = async (url) => ({
      ...{ status: 200, statusText: "", url, redirected: false, headers: new Headers(), body: null },
      consume: (onChunk) =>
        new Promise<void>((_resolve, reject) => {
          deliver = (chunk) => {
            try {
              void onChunk(chunk);
            } catch (error) {
              reject(error);
            }
          };
        }),
      cancel: () => {},
    });
    const resilience = { stallTimeoutMs: 1000 };
    const response = await client({ clock, transport: deaf }).requestRaw(
      get("http://127.0.0.1:9", { resilience }),
    );
    const chunks: string[] = [];
    const reading = consume(response, (chunk) => void chunks.push(text(chunk)));
    const settled = expect(reading).rejects.toMatchObject({ kind: "stall" });
    deliver(new TextEncoder().encode("in time"));
    clock.advance(1000);
    deliver(new TextEncoder().encode("too late"));
    await settled;
    expect(chunks).toEqual(["in time"]);
  });
});
