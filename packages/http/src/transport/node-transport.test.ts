import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { json, type MisbehavingServer, type Script, startServer, writeForever } from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { DefaultHttpClient } from "../http-client.js";
import { createNodeHttpClient, createNodeTransport, type NodeTransport } from "../node.js";
import { NodeResponse } from "./node-response.js";

const servers: MisbehavingServer[] = [];
const opened: NodeTransport[] = [];

async function serve(script: Script): Promise<MisbehavingServer> {
  const server = await startServer(script);
  servers.push(server);
  return server;
}

function open(...options: Parameters<typeof createNodeTransport>): NodeTransport {
  const transport = createNodeTransport(...options);
  opened.push(transport);
  return transport;
}

afterEach(async () => {
  for (const transport of opened.splice(0)) transport.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const client = (transport: NodeTransport) => new DefaultHttpClient({ clientName: "test", transport });
const get = (url: string) => ({ operation: "o", method: "GET" as const, url });

describe("the Node transport", () => {
  it("uses one connection for consecutive requests, whatever their bodies are", async () => {
    let connections = 0;
    const server = await serve((response, request) => {
      connections = Math.max(connections, server.connections());
      if (request.path === "/empty") response.writeHead(204).end();
      else if (request.path === "/error") json(response, 500, { long: "x".repeat(100_000) });
      else json(response, 200, { path: request.path });
    });
    const reused = client(open());
    for (const path of ["/a", "/empty", "/error", "/b"]) {
      await reused.requestText(get(server.url + path)).catch(() => {});
      await reused.requestRaw({ ...get(server.url + path), method: "HEAD" }).catch(() => {});
    }
    expect(server.seen).toHaveLength(8);
    expect(connections).toBe(1);
  });

  it("keeps the connection when a body that has arrived whole is cancelled", async () => {
    const server = await serve((response) => json(response, 200, {}));
    const transport = open();
    const response = await client(transport).requestRaw(get(server.url));
    const copy = response.clone();
    expect(await copy.json()).toEqual({});
    response.cancel?.();
    await client(transport).requestText(get(server.url));
    expect(server.connections()).toBe(1);
  });

  it("connects to no address that is not allowed, by number or by name, and no redirect leads there", async () => {
    const server = await serve((response) => json(response, 200, {}));
    const { port } = new URL(server.url);
    const guarded = client(open({ isAllowedAddress: (address) => address === "203.0.113.1" }));
    for (const host of ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"]) {
      await expect(guarded.requestText(get(`http://${host}:${port}/`)), host).rejects.toThrow();
    }
    expect(server.seen).toHaveLength(0);
    const allowed = client(
      open({ isAllowedAddress: (address) => address === "127.0.0.1" || address === "::1" }),
    );
    expect(await allowed.requestText(get(server.url))).toBe("{}");
    const redirecting = await serve((response) =>
      response.writeHead(302, { location: "http://127.0.0.2/" }).end(),
    );
    await expect(allowed.requestText(get(redirecting.url))).rejects.toThrow();
  });

  it("keeps its limit of connections", async () => {
    const release: (() => void)[] = [];
    const server = await serve((response) => {
      release.push(() => json(response, 200, {}));
    });
    const limited = client(open({ maxSocketsPerOrigin: 1 }));
    const both = [limited.requestJson(get(server.url)), limited.requestJson(get(server.url))];
    await server.request(1);
    expect(server.connections()).toBe(1);
    release[0]?.();
    await server.request(2);
    release[1]?.();
    await Promise.all(both);
    expect(server.connections()).toBe(1);
  });

  it("closes its connections on demand", async () => {
    const server = await serve((response) => json(response, 200, {}));
    const transport = open();
    await client(transport).requestJson(get(server.url));
    transport.close();
    await server.seen[0]?.disconnected;
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("decodes %s, though it asks for nothing compressed by itself", async (encoding, compress) => {
    const text = "compressed ".repeat(10_000);
    const server = await serve((response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(compress(text));
    });
    expect(await client(open()).requestText(get(server.url))).toBe(text);
    expect(server.seen[0]?.headers["accept-encoding"]).toBeUndefined();
    await client(open({ acceptEncoding: "gzip, br" })).requestText(get(server.url));
    expect(server.seen[1]?.headers["accept-encoding"]).toBe("gzip, br");
  });

  it("reports a compressed body that is damaged or cut off", async () => {
    const whole = gzipSync("compressed ".repeat(10_000));
    const server = await serve((response, _request, n) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": String(whole.length) });
      if (n === 1) response.end(Buffer.alloc(whole.length, 7));
      else response.write(whole.subarray(0, 100), () => response.socket?.destroy());
    });
    await expect(client(open()).requestText(get(server.url))).rejects.toMatchObject({
      reason: "Z_DATA_ERROR",
    });
    await expect(client(open()).requestText(get(server.url))).rejects.toMatchObject({
      category: "transient",
    });
  });

  it("leaves an unknown encoding unchanged", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "content-encoding": "strange" });
      response.end("as it is");
    });
    expect(await client(open()).requestText(get(server.url))).toBe("as it is");
  });

  it("joins headers that came twice, except cookies, which stay apart", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { "x-twice": ["a", "b"], "set-cookie": ["c=1", "d=2"] });
      response.end();
    });
    const { headers } = await client(open()).requestRaw(get(server.url));
    expect(headers.get("x-twice")).toBe("a, b");
    expect(headers.getSetCookie()).toEqual(["c=1", "d=2"]);
  });

  it("sends a large stream at the socket's pace and whole", async () => {
    const server = await serve((response, request) => json(response, 200, { size: request.body.length }));
    let left = 200;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        left -= 1;
        if (left < 0) controller.close();
        else controller.enqueue(new Uint8Array(64 * 1024).fill(120));
      },
    });
    const answer = await client(open()).requestJson({
      operation: "up",
      method: "POST",
      url: server.url,
      body,
    });
    expect(answer).toEqual({ size: 200 * 64 * 1024 });
  });

  it("fails the request when its stream fails, and stops the stream when the request ends early", async () => {
    const server = await serve((response) => json(response, 200, {}));
    const failing = new ReadableStream<Uint8Array>({
      pull() {
        throw new Error("source broke");
      },
    });
    await expect(
      client(open()).requestText({ operation: "up", method: "POST", url: server.url, body: failing }),
    ).rejects.toMatchObject({ cause: { message: "source broke" } });

    const aborter = new AbortController();
    const stopped = new Promise<void>((resolve) => {
      let pulls = 0;
      const endless = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulls += 1;
          // The second pull means that the first chunk is being sent.
          if (pulls === 2) aborter.abort();
          else controller.enqueue(new Uint8Array(10));
        },
        cancel: () => resolve(),
      });
      const upload = { operation: "up", method: "POST" as const, url: server.url, body: endless };
      client(open())
        .requestText({ ...upload, signal: aborter.signal })
        .catch(() => {});
    });
    await stopped;
  });

  it("reaches a server by its IPv6 address", async (context) => {
    const server: Server = createServer((_request, response) => response.end("six"));
    const bound = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(0, "::1", () => resolve(true));
    });
    if (!bound) return context.skip();
    const { port } = server.address() as AddressInfo;
    expect(await client(open()).requestText(get(`http://[::1]:${port}/`))).toBe("six");
    server.closeAllConnections();
    server.close();
  });

  it("refuses credentials in a URL and unsupported protocols, without a retry", async () => {
    for (const url of ["http://user:secret@127.0.0.1:1/", "ftp://127.0.0.1/"]) {
      const failure = await client(open())
        .requestText(get(url))
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ category: "validation", retryable: false });
      expect(String(failure)).not.toContain("secret");
    }
  });

  it("comes with a default client", async () => {
    const server = await serve((response, _request, n) => json(response, n === 1 ? 500 : 200, { n }));
    const ready = createNodeHttpClient({
      clientName: "ready",
      random: () => 0,
      defaultResilience: { baseBackoffMs: 0 },
    });
    expect(ready.getClientName()).toBe("ready");
    expect(await ready.requestJson(get(server.url))).toEqual({ n: 2 });
  });

  it("obeys a plain signal when it is used without the client", async () => {
    const server = await serve(() => {});
    const aborter = new AbortController();
    const send = open();
    const request = send(server.url, { method: "GET", headers: {}, signal: aborter.signal });
    const first = await server.request(1);
    const reason = new Error("enough");
    aborter.abort(reason);
    await expect(request).rejects.toBe(reason);
    await first.disconnected;
    await expect(send(server.url, { method: "GET", headers: {}, signal: aborter.signal })).rejects.toBe(
      reason,
    );
    expect(server.seen).toHaveLength(1);
  });

  it("leaves nothing behind that keeps the process alive", async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    const before = sockets();
    const server = await serve((response, request) => {
      if (request.path === "/open") response.write("open");
      else json(response, 200, {});
    });
    const busy = client(open());
    await Promise.all([busy.requestJson(get(server.url)), busy.requestText(get(server.url))]);
    const response = await busy.requestRaw(get(`${server.url}/open`));
    response.cancel?.();
    await server.close();
    // The client's sockets close in a later loop iteration; a leaked socket runs into the test's timeout.
    while (sockets() > before) await new Promise((resolve) => setImmediate(resolve));
  });

  it("frames a stream for methods whose bodies Node would send unframed", async () => {
    const server = await serve((response, seen) => json(response, 200, { body: seen.body }));
    const body = new Blob(["streamed"]).stream();
    const answer = await client(open()).requestJson({
      operation: "o",
      method: "DELETE",
      url: server.url,
      body,
    });
    expect(answer).toEqual({ body: "streamed" });
  });

  it("follows a redirect whose body does not end, and ends it when aborted on the way", async () => {
    const follower = client(open());
    const server = await serve((response, request) => {
      if (request.path === "/end") return json(response, 200, {});
      response.writeHead(302, { location: "/end" });
      if (request.path === "/endless") writeForever(response);
      else response.write("a little, and then nothing");
    });
    await follower.requestJson({ operation: "o", method: "GET", url: `${server.url}/endless` });
    await server.seen[0]?.disconnected;

    const aborter = new AbortController();
    const url = `${server.url}/stalled`;
    const request = follower.requestText({ operation: "o", method: "GET", url, signal: aborter.signal });
    const settled = request.catch((error: unknown) => error);
    const stalled = await server.request(3);
    aborter.abort();
    expect(await settled).toMatchObject({ category: "canceled" });
    await stalled.disconnected;
  });
});

describe("a Node response", () => {
  /** Opens a message whose body has started and will not end by itself. */
  async function openMessage(): Promise<{ message: IncomingMessage; response: NodeResponse }> {
    const server = await serve((response) => void response.writeHead(200).write("part"));
    const outgoing = request(server.url).on("error", () => {});
    outgoing.end();
    const message = await new Promise<IncomingMessage>((resolve) => outgoing.on("response", resolve));
    return { message, response: new NodeResponse(outgoing, message, new URL(server.url)) };
  }

  it("fails its reader when the message is destroyed without an error", async () => {
    const { message, response } = await openMessage();
    const reading = response.consume?.(() => void message.destroy());
    await expect(reading).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("fails a reader that starts after the message was cut off", async () => {
    const { message, response } = await openMessage();
    const closed = new Promise((resolve) => message.once("close", resolve));
    message.destroy();
    await closed;
    await expect(response.consume?.(() => {})).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});
