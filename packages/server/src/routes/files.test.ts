import { createHash } from "node:crypto";
import { connect } from "node:net";
import type { FileAddress, HistoryResponse, UploadInfo } from "@parley/wire";
import { describe, expect, it } from "vitest";
import {
  type CallOptions,
  problemOf,
  startTestServer,
  type TestServer,
} from "../test-server.test-support.js";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** Returns bytes with a period that is not a power of two. */
const patterned = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, index) => index % 251));

async function upload(
  server: TestServer,
  raw: string | Uint8Array,
  name: string,
  options: CallOptions = {},
): Promise<UploadInfo> {
  const path = `/files?name=${encodeURIComponent(name)}`;
  const answer = await server.call("POST", path, { raw, ...options });
  expect(answer.status, answer.text).toBe(201);
  return answer.json as UploadInfo;
}

/** Reads an address as bytes. */
async function fetchBytes(server: TestServer, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

async function send(
  server: TestServer,
  info: UploadInfo,
  conversationId = "c1",
  key?: string,
): Promise<void> {
  const body = { conversationId, message: "Look:", parts: [{ type: "file", uploadId: info.id }] };
  const answer = await server.call("POST", "/chat", { body, ...(key === undefined ? {} : { key }) });
  expect(answer.status, answer.text).toBe(200);
}

describe("a form of a file over HTTP", () => {
  it("is derived, read by ranges, and found by a signed address", async () => {
    const server = await startTestServer();
    const info = await upload(server, png, "cat.png");
    await send(server, info);
    const { json } = await server.call("GET", "/conversations/c1/files/2/address");
    for (const path of [`/files/${info.id}`, "/conversations/c1/files/2", (json as FileAddress).path]) {
      const small = await fetchBytes(server, `${path}?variant=thumbnail`);
      expect(small.status, path).toBe(200);
      expect(small.headers.get("content-type")).toBe("image/webp");
      expect(small.headers.get("x-content-type-options")).toBe("nosniff");
      expect(small.bytes.subarray(8, 12).toString()).toBe("WEBP");
      const part = await fetchBytes(server, `${path}?variant=thumbnail`, { range: "bytes=8-11" });
      expect(part.bytes.toString(), path).toBe("WEBP");
    }
  });

  it("that there is none of, or that is unknown, is refused", async () => {
    const server = await startTestServer();
    const { id } = await upload(server, "just text", "a.txt");
    const none = await server.call("GET", `/files/${id}?variant=thumbnail`);
    expect(problemOf(none)).toMatchObject({ status: 404, detail: "There is no thumbnail of this file" });
    expect((await server.call("GET", `/files/${id}?variant=icon`)).status).toBe(400);
  });
});

describe("an upload over HTTP", () => {
  it("gives back its bytes, and says what they are, not what was declared", async () => {
    const server = await startTestServer();
    const info = await upload(server, png, "../cat.html", { headers: { "content-type": "text/html" } });
    expect(info).toMatchObject({
      name: "cat.html",
      mediaType: "image/png",
      size: png.byteLength,
      hash: createHash("sha256").update(png).digest("hex"),
    });
    const { status, headers, bytes } = await fetchBytes(server, `/files/${info.id}`);
    expect(status).toBe(200);
    expect(bytes.equals(png)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(png.byteLength),
      "content-disposition": expect.stringMatching(/^inline; filename="cat.html"/),
      "content-security-policy": expect.stringContaining("sandbox"),
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "accept-ranges": "bytes",
      etag: `"${info.hash}"`,
    });
  });

  it.each([
    ["page.txt", "<html><script>alert(1)</script>"],
    ["drawing.png", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ["both.gif", "<!DOCTYPE html>GIF89a"],
  ])("of something that a browser would run is sent as bytes to be saved: %s", async (name, content) => {
    const server = await startTestServer();
    const { id } = await upload(server, content, name);
    const { headers } = await fetchBytes(server, `/files/${id}`);
    expect(headers.get("content-type")).toBe("application/octet-stream");
    expect(headers.get("content-disposition")).toMatch(/^attachment;/);
  });

  it("that is larger than a file may be is refused, whether it says so or not, and leaves nothing behind", async () => {
    const server = await startTestServer({ fileLimits: { fileBytes: 300_000 } });
    const declared = await server.call("POST", "/files?name=a", { raw: patterned(300_001) });
    expect([declared.status, problemOf(declared).code]).toEqual([413, "too_large"]);
    async function* pieces() {
      for (let sent = 0; sent < 10; sent += 1) yield patterned(50_000);
    }
    const chunked = await fetch(`${server.url}/files?name=a`, {
      method: "POST",
      body: pieces() as unknown as BodyInit,
      duplex: "half",
    } as RequestInit);
    expect(chunked.status).toBe(413);
    await upload(server, patterned(300_000), "a");
    const whole = await server.call("POST", "/files?name=b", { raw: patterned(300_000) });
    expect(whole.status).toBe(201);
  });

  it("beyond the owner's share is refused", async () => {
    const server = await startTestServer({ fileLimits: { ownerBytes: 1_000 } });
    await upload(server, patterned(900), "a");
    const answer = await server.call("POST", "/files?name=b", { raw: patterned(901) });
    expect([answer.status, problemOf(answer).code]).toEqual([429, "limit_exceeded"]);
  });

  it("that breaks off leaves nothing behind", async () => {
    const server = await startTestServer({ fileLimits: { ownerBytes: 600_000 } });
    const { port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`POST /files?name=a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 600000\r\n\r\n`);
    socket.write(patterned(500_000));
    const usage = () => server.runtime.forOwner("local").files.usage();
    await expect.poll(usage).toEqual({ bytes: 262_144 });
    socket.destroy();
    await expect.poll(usage).toEqual({ bytes: 0 });
  });

  it("breaks off when its key is revoked, and leaves nothing behind", async () => {
    const server = await startTestServer({ auth: "keys", pace: { keyMs: 10 } });
    const key = await server.key("me");
    const { port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    const answer = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    socket.write(
      `POST /files?name=a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Length: 9000000\r\n\r\n`,
    );
    socket.write(patterned(300_000));
    const usage = () => server.runtime.forOwner("me").files.usage();
    await expect.poll(usage).toEqual({ bytes: 262_144 });
    const [record] = await server.runtime.keys.list();
    await server.runtime.keys.remove(record?.id ?? "");
    const sending = setInterval(() => socket.write(patterned(1_000)), 5);
    expect(await answer).toMatch(/^HTTP\/1.1 401 /);
    clearInterval(sending);
    socket.destroy();
    await expect.poll(usage).toEqual({ bytes: 0 });
  });

  it("may be the file of a form, among other fields, under its own name or a given one", async () => {
    const server = await startTestServer();
    const content = patterned(700_000);
    const form = new FormData();
    form.set("purpose", "assistants");
    form.set("file", new Blob([content]), "größe & 漢字.bin");
    form.set("after", "x");
    for (const [query, name] of [
      ["", "größe & 漢字.bin"],
      ["?name=other.bin", "other.bin"],
    ]) {
      const answer = await fetch(`${server.url}/files${query}`, { method: "POST", body: form });
      const info = (await answer.json()) as UploadInfo;
      expect(answer.status, JSON.stringify(info)).toBe(201);
      expect(info).toMatchObject({ name, size: content.byteLength });
      expect(Buffer.compare((await fetchBytes(server, `/files/${info.id}`)).bytes, content)).toBe(0);
    }
  });

  it.each([
    ["without a file", "--b\r\ncontent-disposition: form-data; name=a\r\n\r\nx\r\n--b--\r\n", /no file/],
    [
      "that ends too early",
      "--b\r\ncontent-disposition: form-data; name=a; filename=a\r\n\r\nx",
      /cannot be read/,
    ],
    ["that is none", "nothing of a form", /./],
  ])("of a form %s is refused, and leaves nothing behind", async (_, raw, why) => {
    const server = await startTestServer();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const answer = await server.call("POST", "/files", { raw, headers });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toMatch(why);
    expect(await server.runtime.forOwner("local").files.usage()).toEqual({ bytes: 0 });
  });

  it("of a form with several files, without a boundary, or with too large a file is refused", async () => {
    const server = await startTestServer({ fileLimits: { fileBytes: 1_000 } });
    const several = new FormData();
    several.append("file", new Blob(["x"]), "a");
    several.append("file", new Blob(["y"]), "b");
    const large = new FormData();
    large.append("file", new Blob([patterned(1_001)]), "a");
    const post = async (body: FormData) =>
      (await fetch(`${server.url}/files`, { method: "POST", body })).status;
    expect([await post(several), await post(large)]).toEqual([400, 413]);
    const headers = { "content-type": "multipart/form-data" };
    expect((await server.call("POST", "/files", { raw: "x", headers })).status).toBe(400);
    expect(await server.runtime.forOwner("local").files.usage()).toEqual({ bytes: 0 });
  });

  it("can be dropped, once", async () => {
    const server = await startTestServer();
    const { id } = await upload(server, "x", "a");
    expect((await server.call("DELETE", `/files/${id}`)).json).toEqual({ id, removed: true });
    expect((await server.call("DELETE", `/files/${id}`)).json).toEqual({ id, removed: false });
    expect((await server.call("GET", `/files/${id}`)).status).toBe(404);
  });

  it("needs a key that may write, and belongs to its owner alone", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [mine, theirs, reading] = [
      await server.key("me"),
      await server.key("them"),
      await server.key("me", ["read"]),
    ];
    expect((await server.call("POST", "/files?name=a", { raw: "x" })).status).toBe(401);
    expect((await server.call("POST", "/files?name=a", { raw: "x", key: reading })).status).toBe(403);
    const info = await upload(server, "mine alone", "a.txt", { key: mine });
    expect((await server.call("GET", `/files/${info.id}`, { key: reading })).text).toBe("mine alone");
    await send(server, info, "c1", mine);
    for (const [method, path] of [
      ["GET", `/files/${info.id}`],
      ["GET", `/files/${info.hash}`],
      ["GET", `/files/${info.id}/address`],
      ["GET", "/conversations/c1/files/2"],
      ["GET", "/conversations/c1/files/2/address"],
    ] as const) {
      const [known, never] = [
        await server.call(method, path, { key: theirs }),
        await server.call(method, path.replace(info.id, "up_never").replace("/2", "/9"), {
          key: theirs,
        }),
      ];
      expect(known.status, path).toBe(404);
      expect({ ...problemOf(known), requestId: "" }).toEqual({ ...problemOf(never), requestId: "" });
    }
    const parts = [{ type: "file", uploadId: info.id }];
    const stolen = await server.call("POST", "/chat", { key: theirs, body: { message: "Mine?", parts } });
    expect(stolen.status).toBe(400);
  });
});

describe("a file of a message", () => {
  it("is read by the seq of its chunk, and goes with its conversation", async () => {
    const server = await startTestServer();
    await send(server, await upload(server, png, "cat.png"));
    const { chunks } = (await server.call("GET", "/conversations/c1")).json as HistoryResponse;
    const file = chunks[1]?.chunk.type === "text" ? chunks[1].chunk.file : undefined;
    expect(file).toMatchObject({ seq: 2, name: "cat.png", mediaType: "image/png", size: png.byteLength });
    const read = await fetchBytes(server, `/conversations/c1/files/${file?.seq}`);
    expect(read.bytes.equals(png)).toBe(true);
    expect((await server.call("GET", "/conversations/c1/files/1")).status).toBe(404);
    await server.call("DELETE", "/conversations/c1");
    expect((await server.call("GET", "/conversations/c1/files/2")).status).toBe(404);
  });

  it("comes with messages over the socket, through the queue and in a fork", async () => {
    const server = await startTestServer();
    const parts = [{ type: "file", uploadId: (await upload(server, "x", "a.txt")).id }];
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId: "c1", message: "Socket", parts });
    await socket.next("chat.receipt");
    const me = server.runtime.forOwner("local");
    await me.last("c1");
    const queued = await server.call("POST", "/conversations/c2/queue", { body: { text: "", parts } });
    expect(queued.json).toMatchObject({ startedTurn: true });
    const of = [{ type: "file", conversationId: "c1", seq: 2 }];
    const body = { atSeq: 0, id: "c3", message: "Fork", parts: of };
    expect((await server.call("POST", "/conversations/c1/fork", { body })).status).toBe(200);
    for (const [id, seq] of [
      ["c1", 2],
      ["c2", 1],
      ["c3", 2],
    ] as const) {
      await me.last(id);
      expect((await server.call("GET", `/conversations/${id}/files/${seq}`)).text, id).toBe("x");
    }
    const empty = await server.call("POST", "/conversations/c1/fork", { body: { atSeq: 0, message: "" } });
    expect(empty.status).toBe(400);
  });

  it("is read by any one range, over the pieces in which it is stored", async () => {
    const server = await startTestServer();
    const bytes = patterned(600_000);
    await send(server, await upload(server, bytes, "a.bin"));
    const path = "/conversations/c1/files/2";
    const part = await fetchBytes(server, path, { range: "bytes=262140-524300" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 262140-524300/600000"]);
    expect(part.bytes.equals(bytes.subarray(262_140, 524_301))).toBe(true);
    const tail = await fetchBytes(server, path, { range: "bytes=-5" });
    expect(tail.bytes.equals(bytes.subarray(-5))).toBe(true);
    const behind = await fetchBytes(server, path, { range: "bytes=600000-" });
    expect([behind.status, behind.headers.get("content-range")]).toEqual([416, "bytes */600000"]);
    const several = await fetchBytes(server, path, { range: "bytes=0-1,5-6" });
    expect([several.status, several.bytes.byteLength]).toEqual([200, 600_000]);
    const changed = await fetchBytes(server, path, { range: "bytes=0-1", "if-range": '"other"' });
    expect(changed.status).toBe(200);
    const etag = part.headers.get("etag") ?? "";
    expect((await fetchBytes(server, path, { range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await fetchBytes(server, path, { "if-none-match": etag })).status).toBe(304);
    const head = await fetch(server.url + path, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "600000"]);
  });
});

describe("a signed address", () => {
  it("needs no key, gives one file, and expires", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("me");
    const info = await upload(server, png, "cat.png", { key });
    await send(server, info, "c1", key);
    const answer = await server.call("GET", "/conversations/c1/files/2/address", { key });
    const { path } = answer.json as FileAddress;
    const read = await fetchBytes(server, path);
    expect(read.bytes.equals(png)).toBe(true);
    expect(read.headers.get("content-security-policy")).toContain("sandbox");
    const [payload = "", signature = ""] = (path.split("/").at(-1) ?? "").split(".");
    const claim = JSON.parse(Buffer.from(payload, "base64url").toString()) as unknown[];
    for (const other of [
      ["me", claim[1], "c1", 3],
      ["me", Number(claim[1]) + 1_000, "c1", 2],
      ["them", claim[1], "c1", 2],
      ["me", claim[1], info.id],
    ]) {
      const forged = `${Buffer.from(JSON.stringify(other)).toString("base64url")}.${signature}`;
      expect((await fetchBytes(server, `/signed-files/${forged}`)).status, JSON.stringify(other)).toBe(404);
    }
    const brief = await server.call("GET", `/files/${info.id}/address?forMs=1`, { key });
    const { path: briefPath, expiresAt } = brief.json as FileAddress;
    await expect.poll(() => Date.now()).toBeGreaterThan(expiresAt);
    expect((await fetchBytes(server, briefPath)).status).toBe(404);
  });
});
