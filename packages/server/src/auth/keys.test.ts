import { createManualClock } from "@parley/testing";
import type { AgentEvent, CreateKeyResponse, KeyScope, KeysResponse } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { jsonLines, problemOf, startTestServer, type TestServer } from "../test-server.test-support.js";
import { createKey, hashSecret, looksLikeSecret, toKeyInfo } from "./api-key.js";

async function status(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await server.call("GET", path, { headers })).status;
}

describe("a key", () => {
  it("is 256 bits that are kept only as a hash", () => {
    const { secret, record } = createKey({ owner: "ann", scopes: ["read", "read", "admin"], createdAt: 7 });
    expect(looksLikeSecret(secret)).toBe(true);
    expect(Buffer.from(secret.slice(3), "base64url")).toHaveLength(32);
    expect(record).toMatchObject({ owner: "ann", scopes: ["read", "admin"], createdAt: 7 });
    expect(record.hash).toBe(hashSecret(secret));
    expect(JSON.stringify(record)).not.toContain(secret.slice(12));
    expect(createKey({ owner: "ann" }).secret).not.toBe(secret);
    expect(createKey({ owner: "ann" }).record.scopes).toEqual(["read", "write"]);
  });

  it("is returned without its hash, and its last use to the minute", () => {
    const { record } = createKey({ owner: "ann" });
    const info = toKeyInfo({ ...record, lastUsedAt: 120_500 });
    expect(info).not.toHaveProperty("hash");
    expect(info.lastUsedAt).toBe(120_000);
  });

  it("is made, listed and revoked over HTTP, and its secret is shown once", async () => {
    const server = await startTestServer({ auth: "keys" });
    const admin = await server.key("ann", ["admin"]);
    const made = await server.call("POST", "/keys", { key: admin, body: { owner: "bob", scopes: ["read"] } });
    const { key, secret } = made.json as CreateKeyResponse;
    expect((await server.call("GET", "/me", { key: secret })).json).toMatchObject({
      owner: "bob",
      scopes: ["read"],
      auth: "keys",
    });
    const listed = await server.call("GET", "/keys", { key: admin });
    expect((listed.json as KeysResponse).keys.map(({ owner }) => owner)).toEqual(["ann", "bob"]);
    expect(listed.text).not.toContain(secret);
    expect(listed.text).not.toContain(hashSecret(secret));
    const removed = await server.call("DELETE", `/keys/${key.id}`, { key: admin });
    expect(removed.json).toEqual({ id: key.id, removed: true });
    expect((await server.call("GET", "/me", { key: secret })).status).toBe(401);
    expect((await server.call("DELETE", `/keys/${key.id}`, { key: admin })).json).toEqual({
      id: key.id,
      removed: false,
    });
  });

  it("that another node revokes stops working within moments, and so do its connections", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ auth: "keys", clock });
    const key = await server.key("ann");
    const socket = await server.socket({ key });
    await socket.next("catalog");
    await server.runtime.forOwner("ann").create({ id: "c1" });
    const stream = await fetch(`${server.url}/conversations/c1/events`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const [record] = await server.runtime.keys.list();
    await server.runtime.keys.remove(record?.id ?? "");
    expect((await server.call("GET", "/me", { key })).status).toBe(200);
    await clock.advance(3_000);
    expect(await socket.closed).toEqual({
      code: 4401,
      reason: "the key was revoked, or the login has ended",
    });
    await stream.text();
    expect((await server.call("GET", "/me", { key })).status).toBe(401);
  });

  it("that this node revokes stops working at once, and so do its connections", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    const [admin, key] = [await server.key("ann", ["admin"]), await server.key("bob")];
    const socket = await server.socket({ key });
    await socket.next("catalog");
    const chat = server.call("POST", "/chat", { key, body: { message: "wait" } });
    await server.provider.called(1);
    const bobs = (await server.runtime.keys.list()).find(({ owner }) => owner === "bob");
    await server.call("DELETE", `/keys/${bobs?.id}`, { key: admin });
    expect((await server.call("GET", "/me", { key })).status).toBe(401);
    expect((await socket.closed).code).toBe(4401);
    const events = jsonLines<AgentEvent>((await chat).text);
    expect(events.at(-1)).toMatchObject({ type: "error", code: "unauthorized", retryable: false });
  });

  it("that is revoked gets no answer to what it still waits for", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    const [admin, key] = [await server.key("ann", ["admin"]), await server.key("bob")];
    await server.runtime.forOwner("bob").send({ conversationId: "c1", message: "wait" });
    await server.provider.called(1);
    const asked = server.faults.hold("get");
    const last = server.call("GET", "/conversations/c1/last", { key });
    await asked.reached;
    asked.open();
    const bobs = (await server.runtime.keys.list()).find(({ owner }) => owner === "bob");
    await server.call("DELETE", `/keys/${bobs?.id}`, { key: admin });
    server.gate.open();
    const answer = await last;
    expect([answer.status, problemOf(answer).code]).toEqual([401, "unauthorized"]);
    expect(answer.text).not.toContain("You said");
  });

  it("notes when it was last used, but not with each call", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ auth: "keys", clock });
    const key = await server.key("ann");
    for (let call = 0; call < 5; call += 1) await server.call("GET", "/me", { key });
    const [record] = await server.runtime.keys.list();
    expect(record?.lastUsedAt).toBe(clock.now());
    expect(server.faults.calls.filter(({ method }) => method === "keys.touch")).toHaveLength(1);
  });
});

describe("without keys", () => {
  it("this machine may do everything, until there is a key", async () => {
    const server = await startTestServer({ pace: { keyMs: 0 }, owner: "me" });
    expect((await server.call("GET", "/me")).json).toMatchObject({
      owner: "me",
      scopes: ["read", "write", "approve", "admin"],
      auth: "open",
    });
    const socket = await server.socket();
    await socket.next("catalog");
    const made = await server.call("POST", "/keys", { body: { scopes: ["admin"] } });
    const { secret, key } = made.json as CreateKeyResponse;
    expect(key.owner).toBe("me");
    expect(await status(server, "/me")).toBe(401);
    expect((await socket.closed).code).toBe(4401);
    expect(await status(server, "/me", { authorization: `Bearer ${secret}` })).toBe(200);
  });
});

describe("a socket's key", () => {
  it("comes in a subprotocol, in a header, or not at all, which closes it with 4401", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann");
    const byProtocol = await server.socket({ key });
    await byProtocol.next("catalog");
    const byHeader = await server.socket({ headers: { authorization: `Bearer ${key}` } });
    await byHeader.next("catalog");
    for (const wrong of [undefined, "pk_wrong", `pk_${"A".repeat(43)}`]) {
      const socket = await server.socket(wrong === undefined ? {} : { key: wrong });
      expect((await socket.closed).code).toBe(4401);
      expect(socket.messages).toEqual([]);
    }
  });

  it("reaches as far on a socket as it does over HTTP, and to its own owner alone", async () => {
    const server = await startTestServer({ auth: "keys" });
    await server.runtime.forOwner("ann").create({ id: "hers" });
    const messages: readonly (readonly [KeyScope, Record<string, unknown>])[] = [
      ["write", { type: "chat.send", conversationId: "hers", message: "hello" }],
      ["read", { type: "chat.subscribe", conversationId: "hers" }],
      ["read", { type: "chat.subscribe", conversationId: "hers", cursor: "0" }],
      ["write", { type: "chat.queue", conversationId: "hers", text: "hello" }],
      ["write", { type: "chat.stop", conversationId: "hers" }],
      ["write", { type: "chat.respond", conversationId: "hers", requestId: "r", decision: "deny" }],
      ["read", { type: "subscribe", surfaceId: "message-queue", conversationId: "hers" }],
    ];
    const reader = await server.socket({ key: await server.key("ann", ["read"]) });
    for (const [scope, message] of messages.filter(([scope]) => scope === "write")) {
      reader.send(message);
      const refusal = await reader.next("chat.error");
      expect([message.type, refusal.code]).toEqual([message.type, scope === "write" ? "forbidden" : "none"]);
    }
    const stranger = await server.socket({ key: await server.key("bob", ["admin"]) });
    // A call that creates a conversation creates one of the stranger's own.
    for (const [, message] of messages.filter(
      ([, { type }]) => type !== "chat.send" && type !== "chat.queue",
    )) {
      stranger.send(message);
      const refusal = await stranger.next(message.type === "subscribe" ? "error" : "chat.error");
      expect([message.type, refusal.code]).toEqual([message.type, "conversation_not_found"]);
    }
    await server.runtime.forOwner("ann").send({ conversationId: "hers", message: "private" });
    await server.runtime.forOwner("ann").last("hers");
    stranger.send({ type: "ping" });
    await stranger.next("pong");
    expect(JSON.stringify(stranger.messages)).not.toContain("private");
  });
});
