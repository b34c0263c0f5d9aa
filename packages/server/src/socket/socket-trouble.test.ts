import { connect } from "node:net";
import type { OwnerRuntime } from "@parley/core/runtime";
import { createManualClock, FrameFold, text } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.test-support.js";
import { ChatSubscriptions } from "./chat-subscriptions.js";

const conversationId = "c1";

async function idle(server: TestServer): Promise<void> {
  await server.runtime.forOwner("local").create({ id: conversationId });
}

describe("a malformed message", () => {
  it("is answered with what is wrong, and the socket stays open", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    for (const [frame, names] of [
      ["{", "JSON"],
      ["null", "type"],
      ["7", "type"],
      ['"text"', "type"],
      ["{}", "type"],
      ['{"type":7}', "type"],
      ['{"type":"chat.shout"}', "type"],
      ['{"type":"__proto__"}', "type"],
      ['{"type":"chat.send"}', "message"],
      ['{"type":"chat.send","message":""}', "message"],
      ['{"type":"chat.send","message":"x","conversationId":"no spaces"}', "conversationId"],
      ['{"type":"chat.send","message":"x","reasoningEffort":"much"}', "reasoningEffort"],
      ['{"type":"chat.subscribe"}', "conversationId"],
      ['{"type":"chat.subscribe","conversationId":["c1"]}', "conversationId"],
      ['{"type":"chat.unsubscribe"}', "conversationId"],
      ['{"type":"chat.queue","conversationId":"c1"}', "text"],
      ['{"type":"chat.queue","conversationId":"c1","text":"x","mode":"soon"}', "mode"],
      ['{"type":"chat.stop"}', "conversationId"],
      [`{"type":"chat.send","message":${"[".repeat(500)}${"]".repeat(500)}}`, "nested"],
      [JSON.stringify(Array.from({ length: 101 }, () => ({ type: "ping" }))), "at most 100"],
    ] as const) {
      socket.send(frame);
      const refusal = await socket.next("chat.error");
      expect([frame, refusal.code, refusal.message.includes(names)]).toEqual([
        frame,
        "invalid_request",
        true,
      ]);
    }
    socket.raw.send(Buffer.from('{"type":"ping"}'), { binary: true });
    expect(await socket.next("chat.error")).toMatchObject({ code: "invalid_request" });
    socket.send({ type: "ping", and: "more" });
    await socket.next("pong");
    expect(socket.messages.filter(({ type }) => type === "pong")).toHaveLength(1);
  });

  it("that is too large closes the socket with 1009, and nothing else", async () => {
    const server = await startTestServer({ limits: { frameBytes: 1_000 } });
    const [large, other] = [await server.socket(), await server.socket()];
    large.send({ type: "chat.send", message: "x".repeat(1_000) });
    expect((await large.closed).code).toBe(1009);
    other.send({ type: "ping" });
    await other.next("pong");
  });
});

describe("a peer that", () => {
  it("does not answer pings is gone by the next one", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ clock });
    const alive = await server.socket();
    const dead = await server.socket({ autoPong: false });
    await dead.next("catalog");
    const pinged = new Promise((resolve) => alive.raw.once("ping", resolve));
    const deadPinged = new Promise((resolve) => dead.raw.once("ping", resolve));
    await clock.advance(45_000);
    await Promise.all([pinged, deadPinged]);
    // The pong of the live one is on its way before this is answered.
    alive.send({ type: "ping" });
    await alive.next("pong");
    await clock.advance(45_000);
    expect((await dead.closed).code).toBe(1006);
    alive.send({ type: "ping" });
    await alive.next("pong");
  });

  it("reads too slowly is closed with 1013 and resumes by cursor, while others continue", async () => {
    const piece = "x".repeat(200_000);
    const server = await startTestServer({
      limits: { bufferedBytes: 100_000 },
      runtimeLimits: { answerBytes: 20_000_000 },
      script: () => Array.from({ length: 70 }, () => text(piece)),
    });
    await idle(server);
    const slow = await server.socket();
    slow.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await slow.next("chat.snapshot");
    slow.raw.pause();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "A lot, please" });
    await me.last(conversationId);
    expect((await server.call("GET", "/metrics")).text).toContain("parley_ws_connections 0");
    slow.raw.resume();
    expect((await slow.closed).code).toBe(1013);

    const fold = new FrameFold();
    let cursor = "0";
    for (const message of slow.messages) {
      if (message.type !== "chat.delta" && message.type !== "chat.chunks") continue;
      fold.apply(message);
      cursor = message.cursor;
    }
    const again = await server.socket();
    again.send({ type: "chat.subscribe", conversationId, cursor });
    const rest = await again.next("chat.chunks", ({ chunks }) => chunks.some(({ seq }) => seq === 2));
    fold.apply(rest);
    expect(fold.state.chunks.at(-1)?.chunk).toEqual({ type: "text", text: piece.repeat(70) });
  }, 60_000);

  it("sends faster than it is answered is made to wait, and loses nothing", async () => {
    const server = await startTestServer({ limits: { requestBurst: 10_000 } });
    await idle(server);
    const held = server.faults.hold("queue");
    const socket = await server.socket();
    socket.send({ type: "subscribe", surfaceId: "message-queue", conversationId });
    await held.reached;
    for (let count = 0; count < 500; count += 1) socket.send({ type: "ping" });
    held.open();
    for (let count = 0; count < 500; count += 1) await socket.next("pong");
  });
});

describe("a client that leaves in the middle of what it asked for", () => {
  it("is asked for nothing more, and follows nothing", async () => {
    const server = await startTestServer();
    const held = server.faults.hold("admit");
    const socket = await server.socket();
    const send = (id: string) => ({ type: "chat.send", conversationId: id, message: "hello" });
    socket.raw.send(JSON.stringify([send("first"), send("second")]));
    await held.reached;
    socket.raw.terminate();
    const figures = async () => (await server.call("GET", "/metrics")).text;
    await expect.poll(figures).toContain("parley_ws_connections 0");
    held.open();
    const me = server.runtime.forOwner("local");
    await expect
      .poll(() =>
        me.last("first").then(
          ({ text: said }) => said,
          () => "",
        ),
      )
      .toBe("You said: hello");
    expect(server.faults.calls.filter(({ method }) => method === "admit")).toHaveLength(1);
  });

  it("is not followed for, though what it asked for comes to its end behind that", () => {
    const attached: string[] = [];
    const attach = (conversationId: string) => {
      attached.push(conversationId);
      return () => attached.splice(attached.indexOf(conversationId), 1);
    };
    const me = { attach } as unknown as OwnerRuntime;
    const chats = new ChatSubscriptions(me, { onFrame: () => {}, onEnd: () => {} });
    chats.join("first", undefined);
    expect(attached).toEqual(["first"]);
    chats.close();
    chats.join("second", "0");
    expect([attached, chats.size]).toEqual([[], 0]);
  });
});

describe("a client that sends much at once", () => {
  it("is made to wait, so that it does not fill the server", async () => {
    const server = await startTestServer();
    await idle(server);
    const held = server.faults.hold("queue");
    const socket = await server.socket();
    socket.send({ type: "subscribe", surfaceId: "message-queue", conversationId });
    await held.reached;
    const large = JSON.stringify({ type: "ping", padding: "x".repeat(2_000_000) });
    const sent = 40;
    for (let count = 0; count < sent; count += 1) socket.raw.send(large);
    // The server answers what it reads, with nothing waiting before it: by then it has read everything it will.
    const other = await server.socket();
    for (let count = 0; count < 20; count += 1) {
      other.send({ type: "ping" });
      await other.next("pong");
    }
    expect(socket.raw.bufferedAmount).toBeGreaterThan((sent / 2) * large.length);
    held.open();
    for (let count = 0; count < sent; count += 1) await socket.next("pong");
  }, 30_000);
});

describe("shutting down", () => {
  it("closes sockets with 1012, and takes no new ones", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId, message: "wait" });
    await socket.event("text-delta");
    const closing = server.server.close({ deadlineMs: 1_000 });
    expect((await socket.closed).code).toBe(1012);
    await expect(server.socket()).rejects.toThrow();
    await closing;
  });

  it("refuses work on sockets of a runtime that drains, and still lets them watch and stop", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await socket.next("chat.snapshot");
    await server.runtime.drain({ deadlineMs: 0 });
    socket.send({ type: "chat.send", conversationId, messageId: "m1", message: "hello" });
    expect(await socket.next("chat.error")).toMatchObject({
      messageId: "m1",
      code: "draining",
      retryable: true,
    });
    socket.send({ type: "chat.queue", conversationId, messageId: "q1", text: "hello" });
    expect(await socket.next("chat.error")).toMatchObject({ messageId: "q1", code: "draining" });
    socket.send({ type: "chat.stop", conversationId });
    socket.send({ type: "ping" });
    await socket.next("pong");
    await expect(server.socket()).rejects.toThrow("503");
  });
});

describe("while the store is away", () => {
  it("every message that needs it is answered so, and the socket stays open", async () => {
    const server = await startTestServer({ auth: "open" });
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "subscribe", surfaceId: "message-queue", conversationId });
    await socket.next("surface");
    server.faults.cutOff();
    for (const message of [
      { type: "chat.send", conversationId, message: "hello" },
      { type: "chat.queue", conversationId, text: "hello" },
      { type: "chat.stop", conversationId },
      { type: "chat.subscribe", conversationId, cursor: "0" },
    ]) {
      socket.send(message);
      const refusal = await socket.next("chat.error");
      expect([message.type, refusal]).toMatchObject([
        message.type,
        { code: "store_unavailable", retryable: true },
      ]);
    }
    socket.send({ type: "subscribe", surfaceId: "message-queue", conversationId });
    expect(await socket.next("error")).toMatchObject({ code: "store_unavailable" });
    server.faults.heal();
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await socket.next("chat.snapshot");
  });
});

describe("a connection that is not a socket", () => {
  it("is refused at the handshake when it has no key that may read", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann", []);
    await expect(server.socket({ key })).rejects.toThrow("403");
  });

  it("does not disturb the server, whatever bytes it sends", async () => {
    const server = await startTestServer();
    const raw = connect(server.server.port, "127.0.0.1");
    raw.on("error", () => {});
    raw.write(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    );
    await new Promise((resolve) => raw.once("data", resolve));
    // An unmasked frame with reserved bits and a length that never comes.
    raw.write(Buffer.from([0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
    await new Promise((resolve) => raw.once("close", resolve));
    expect((await server.call("GET", "/health")).status).toBe(200);
  });
});
