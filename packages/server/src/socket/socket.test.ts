import { connect } from "node:net";
import { createManualClock, FrameFold, pause, text, toolCall, usage } from "@parley/core/testing";
import type { WsServerMessage } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer, type TestSocket } from "../test-server.test-support.js";

const conversationId = "c1";

/** Everything from the first event of a turn to its seal, as types. */
async function turnOf(socket: TestSocket): Promise<string[]> {
  const types: string[] = [];
  for (;;) {
    const { event } = await socket.next("chat.delta");
    types.push(event.type);
    if (event.type === "turn-sealed") return types;
  }
}

async function idle(server: TestServer, id = conversationId): Promise<void> {
  await server.runtime.forOwner("local").create({ id });
}

describe("a socket", () => {
  it("begins with the catalog of surfaces", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    await socket.next("catalog");
    expect(socket.messages[0]).toEqual({
      type: "catalog",
      catalog: [{ id: "message-queue", region: "composer", title: "Queue", scope: "conversation" }],
    });
    expect(socket.raw.protocol).toBe("parley.v1");
  });

  it("answers ping", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    socket.send({ type: "ping" });
    expect(await socket.next("pong")).toEqual({ type: "pong" });
  });

  it("chooses the client's first protocol that it knows, and never repeats the key", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann");
    for (const [protocols, chosen] of [
      [["parley.v1"], "parley.v1"],
      [["parley.v1.batch", "parley.v1"], "parley.v1.batch"],
      [["other", "parley.v1"], "parley.v1"],
    ] as const) {
      const socket = await server.socket({ key, protocols });
      expect(socket.raw.protocol).toBe(chosen);
    }
  });
});

describe("chat.send", () => {
  it("subscribes the sender and tells the turn from its first event, also when it makes the conversation", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    for (const [id, messageId] of [
      ["made-now", "m1"],
      ["made-now", "m2"],
    ] as const) {
      socket.send({ type: "chat.send", conversationId: id, messageId, message: "hello" });
      const receipt = await socket.next("chat.receipt");
      expect(receipt).toMatchObject({ conversationId: id, messageId, outcome: "started" });
      const sealed = await socket.next("chat.delta", ({ event }) => event.type === "turn-sealed");
      expect(sealed.event).toMatchObject({ turnId: receipt.turnId });
    }
    const fold = new FrameFold();
    for (const message of socket.messages) {
      if (
        message.type === "chat.delta" ||
        message.type === "chat.chunks" ||
        message.type === "chat.snapshot"
      ) {
        fold.apply(message);
      }
    }
    const { chunks } = await server.runtime.forOwner("local").history({ conversationId: "made-now" });
    expect(fold.state.chunks).toEqual(chunks);
    expect(chunks).toHaveLength(4);
  });

  it("without a conversation subscribes to the one it makes", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    socket.send({ type: "chat.send", messageId: "m1", message: "hello" });
    const receipt = await socket.next("chat.receipt");
    const sealed = await socket.event("turn-sealed");
    expect(sealed.conversationId).toBe(receipt.conversationId);
  });

  it("again with the same id gives the same receipt", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    const send = { type: "chat.send", conversationId, messageId: "m1", message: "hello" };
    socket.send(send);
    const first = await socket.next("chat.receipt");
    socket.send(send);
    expect(await socket.next("chat.receipt")).toEqual(first);
    expect(server.provider.calls).toHaveLength(1);
  });

  it("while a turn runs is refused, and shows the sender that turn", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId, message: "wait" });
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId, messageId: "m2", message: "now" });
    const refusal = await socket.next("chat.error");
    expect(refusal).toMatchObject({ conversationId, messageId: "m2", code: "turn_active", retryable: true });
    server.gate.open();
    await socket.event("turn-sealed");
  });

  it("that is refused for another reason leaves no subscription behind", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId, message: "hello", model: "no/such" });
    expect(await socket.next("chat.error")).toMatchObject({ code: "model_unavailable" });
    socket.send({ type: "ping" });
    await socket.next("pong");
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "hello" });
    await me.last(conversationId);
    socket.send({ type: "ping" });
    await socket.next("pong");
    expect(socket.messages.some(({ type }) => type === "chat.delta")).toBe(false);
  });
});

describe("chat.subscribe", () => {
  it("without a cursor tells the running turn from its user-message, then what comes, across turns", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "wait" });
    await server.provider.called(1);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId });
    expect((await socket.next("chat.delta")).event.type).toBe("user-message");
    server.gate.open();
    expect((await turnOf(socket)).slice(-2)).toEqual(["done", "turn-sealed"]);
    await me.last(conversationId);
    await me.send({ conversationId, message: "again" });
    expect((await turnOf(socket)).includes("user-message")).toBe(true);
    expect(socket.messages.some(({ type }) => type === "chat.snapshot")).toBe(false);
  });

  it("with a cursor brings a snapshot and what is missing", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "hello" });
    await me.last(conversationId);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId, cursor: "1" });
    expect(await socket.next("chat.snapshot")).toMatchObject({
      conversationId,
      cursor: "1",
      queue: { messages: [] },
    });
    expect(await socket.next("chat.chunks")).toMatchObject({
      chunks: [{ seq: 2, role: "assistant" }],
      cursor: "2",
    });
  });

  it("twice is subscribing once", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId });
    socket.send({ type: "chat.subscribe", conversationId });
    socket.send({ type: "chat.send", conversationId, message: "hello" });
    const types = await turnOf(socket);
    expect(types.filter((type) => type === "user-message")).toHaveLength(1);
  });

  it("to nothing is refused, and so is a cursor that no server made", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId: "none" });
    expect(await socket.next("chat.error")).toMatchObject({
      conversationId: "none",
      code: "conversation_not_found",
    });
    socket.send({ type: "chat.subscribe", conversationId, cursor: "nonsense" });
    expect(await socket.next("chat.error")).toMatchObject({ conversationId, code: "invalid_request" });
  });

  it("beyond what one socket may follow is refused", async () => {
    const server = await startTestServer({ limits: { subscriptionsPerSocket: 2 } });
    const socket = await server.socket();
    for (const id of ["a", "b", "c"]) {
      await idle(server, id);
      socket.send({ type: "chat.subscribe", conversationId: id });
    }
    expect(await socket.next("chat.error")).toMatchObject({ conversationId: "c", code: "limit_exceeded" });
    socket.send({ type: "chat.unsubscribe", conversationId: "a" });
    socket.send({ type: "chat.subscribe", conversationId: "c" });
    socket.send({ type: "ping" });
    await socket.next("pong");
    await server.runtime.forOwner("local").send({ conversationId: "c", message: "hello" });
    expect((await socket.event("user-message")).conversationId).toBe("c");
  });

  it("ends with an error when the conversation is deleted", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await socket.next("chat.snapshot");
    await server.runtime.forOwner("local").remove(conversationId);
    await socket.next("chat.error", ({ code }) => code === "conversation_not_found");
    expect(socket.messages).toContainEqual({ type: "conversation.removed", conversationId });
  });
});

describe("leaving", () => {
  it("never touches a turn, by unsubscribing or by closing", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId, message: "wait" });
    await socket.event("text-delta");
    socket.send({ type: "chat.unsubscribe", conversationId });
    socket.send({ type: "ping" });
    await socket.next("pong");
    const seen = socket.messages.length;
    server.gate.open();
    const last = await server.runtime.forOwner("local").last(conversationId);
    expect(last.text).toBe("One moment. You said: wait");
    expect(socket.messages.slice(seen).some(({ type }) => type === "chat.delta")).toBe(false);
    socket.raw.close();
    await socket.closed;
    expect((await server.call("GET", "/metrics")).text).toContain("parley_ws_connections 0");
  });
});

describe("chat.queue and chat.stop", () => {
  it("queue behind a turn, or open one; a stop keeps what waits", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    socket.send({ type: "chat.queue", conversationId, text: "wait", messageId: "q1" });
    expect(await socket.next("chat.receipt")).toMatchObject({ messageId: "q1", outcome: "started" });
    for (const messageId of ["q2", "q3", "q4"]) {
      socket.send({ type: "chat.queue", conversationId, text: messageId, messageId, mode: "queue" });
    }
    for (const messageId of ["q2", "q3", "q4"]) {
      expect(await socket.next("chat.receipt")).toMatchObject({ messageId, outcome: "queued" });
    }
    const me = server.runtime.forOwner("local");
    const waiting = async () => (await me.queue.list(conversationId)).messages.map(({ id }) => id);
    expect(await waiting()).toEqual(["q2", "q3", "q4"]);
    socket.send({ type: "chat.subscribe", conversationId });
    socket.send({ type: "chat.stop", conversationId });
    expect(await socket.event("turn-sealed")).toMatchObject({ reason: "aborted" });
    expect(await waiting()).toEqual(["q2", "q3", "q4"]);
    socket.send({ type: "chat.stop", conversationId });
    socket.send({ type: "ping" });
    await socket.next("pong");
    expect(socket.messages.filter(({ type }) => type === "chat.error")).toEqual([]);
  });

  it("steer into the turn that runs", async () => {
    const server = await startTestServer({
      script: (gate) => [
        [text("Looking. "), pause(gate), toolCall("look"), usage(5, 5)],
        [text("Done."), usage(9, 2)],
      ],
    });
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId, message: "look" });
    await socket.event("text-delta");
    socket.send({ type: "chat.queue", conversationId, text: "closely", messageId: "s1" });
    await socket.next("chat.receipt", ({ messageId }) => messageId === "s1");
    server.gate.open();
    expect(await socket.event("steering")).toMatchObject({ messageIds: ["s1"], text: "closely" });
  });
});

describe("the queue's surface", () => {
  it("is shown when asked for, and again whenever it changes", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId, message: "wait" });
    const socket = await server.socket();
    const surface = { surfaceId: "message-queue", conversationId };
    socket.send({ type: "subscribe", ...surface });
    const shown = await socket.next("surface");
    expect(shown).toEqual({
      type: "surface",
      conversationId,
      spec: {
        id: "message-queue",
        region: "composer",
        title: "Queue",
        fields: [{ kind: "custom", rendererId: "message-queue", payload: { messages: [] } }],
      },
    });
    const ids = (message: WsServerMessage & { type: "update" }) =>
      message.spec.fields[0]?.payload.messages.map(({ id }) => id).join();
    socket.send({ type: "chat.queue", conversationId, text: "one", messageId: "q1", mode: "queue" });
    await socket.next("update", (message) => ids(message) === "q1");
    await server.call("POST", `/conversations/${conversationId}/queue`, {
      body: { text: "two", messageId: "q2", mode: "queue" },
    });
    await socket.next("update", (message) => ids(message) === "q1,q2");
    await server.call("DELETE", `/conversations/${conversationId}/queue/q1`);
    await socket.next("update", (message) => ids(message) === "q2");

    socket.send({ type: "unsubscribe", ...surface });
    socket.send({ type: "ping" });
    await socket.next("pong");
    const before = socket.messages.filter(({ type }) => type === "update").length;
    await server.call("DELETE", `/conversations/${conversationId}/queue/q2`);
    await socket.next("conversation.updated");
    expect(socket.messages.filter(({ type }) => type === "update")).toHaveLength(before);
  });

  it("is refused with its own error where there is none", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    for (const [message, expected] of [
      [
        { type: "subscribe", surfaceId: "weather" },
        { surfaceId: "weather", code: "invalid_request" },
      ],
      [{ type: "subscribe", surfaceId: "message-queue" }, { code: "invalid_request" }],
      [
        { type: "subscribe", surfaceId: "message-queue", conversationId: "none" },
        { surfaceId: "message-queue", conversationId: "none", code: "conversation_not_found" },
      ],
      [{ type: "unsubscribe", surfaceId: "weather" }, { code: "invalid_request" }],
      [{ type: "subscribe" }, { code: "invalid_request" }],
    ] as const) {
      socket.send(message);
      expect(await socket.next("error")).toMatchObject(expected);
    }
  });
});

describe("what every client of an owner hears", () => {
  it("are the changes of its conversations, and of nobody else's", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [anns, bobs] = [await server.key("ann"), await server.key("bob")];
    const ann = await server.socket({ key: anns });
    const bob = await server.socket({ key: bobs });
    await ann.next("catalog");
    await bob.next("catalog");
    const me = server.runtime.forOwner("ann");
    // A change is heard once the socket's watch has begun, which the first of these shows.
    await server.call("POST", "/conversations", { key: anns, body: { id: "hers", title: "First" } });
    await ann.next("conversation.updated");
    await server.call("PUT", "/conversations/hers/title", { key: anns, body: { title: "Second" } });
    await ann.next("conversation.updated", ({ meta }) => meta.title === "Second");
    await server.call("POST", "/conversations/hers/close", { key: anns });
    await ann.next("conversation.statusChanged", ({ status }) => status === "closed");
    await server.call("POST", "/conversations/hers/open", { key: anns });
    await ann.next("conversation.open");
    for (const word of ["one", "two", "three"]) {
      await me.send({ conversationId: "hers", message: word });
      await me.last("hers");
    }
    const compacted = await server.call("POST", "/conversations/hers/compact", {
      key: anns,
      body: { keepLastN: 1 },
    });
    expect(compacted.status).toBe(200);
    expect(await ann.next("conversation.compacted")).toMatchObject({
      conversationId: "hers",
      messagesKept: 1,
    });
    await server.call("DELETE", "/conversations/hers", { key: anns });
    await ann.next("conversation.removed", ({ conversationId: id }) => id === "hers");
    bob.send({ type: "ping" });
    await bob.next("pong");
    expect(bob.messages.map(({ type }) => type)).toEqual(["catalog", "pong"]);
  });
});

describe("two sockets", () => {
  it("hear the same turn, byte for byte", async () => {
    const server = await startTestServer();
    await idle(server);
    const sockets = [await server.socket(), await server.socket()];
    for (const socket of sockets) {
      socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
      await socket.next("chat.snapshot");
    }
    const [first, second] = sockets;
    first?.send({ type: "chat.send", conversationId, message: "hello" });
    const heard = await Promise.all(
      sockets.map(async (socket) => {
        await socket.event("turn-sealed");
        return socket.messages.filter(({ type }) => type === "chat.delta" || type === "chat.chunks");
      }),
    );
    expect(heard[0]?.length).toBeGreaterThan(4);
    expect(JSON.stringify(heard[0])).toBe(JSON.stringify(heard[1]));
    expect(second?.messages.some(({ type }) => type === "chat.receipt")).toBe(false);
  });
});

describe("the batch protocol", () => {
  it("puts what a tick brings into one frame, always as an array, and takes arrays", async () => {
    const server = await startTestServer({
      script: () => [text("a b c d e f g h", { size: 2 }), usage(3, 3)],
    });
    const plain = await server.socket();
    const batch = await server.socket({ protocols: ["parley.v1.batch"] });
    await idle(server);
    plain.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await plain.next("chat.snapshot");
    batch.send(JSON.stringify([{ type: "ping" }, { type: "chat.subscribe", conversationId, cursor: "0" }]));
    await batch.next("pong");
    await batch.next("chat.snapshot");
    batch.send([{ type: "chat.send", conversationId, message: "hello" }]);
    await batch.event("turn-sealed");
    await plain.event("turn-sealed");
    const chat = (socket: TestSocket) =>
      socket.messages.filter(({ type }) => type === "chat.delta" || type === "chat.chunks");
    expect(chat(batch)).toEqual(chat(plain));
    expect(Math.max(...batch.frames)).toBeGreaterThan(1);
    expect(Math.max(...plain.frames)).toBe(1);
  });
});

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
    await clock.advance(30_000);
    await Promise.all([pinged, deadPinged]);
    // The pong of the one that lives is on its way before this is answered.
    alive.send({ type: "ping" });
    await alive.next("pong");
    await clock.advance(30_000);
    expect((await dead.closed).code).toBe(1006);
    alive.send({ type: "ping" });
    await alive.next("pong");
  });

  it("reads too slowly is closed with 1013 and resumes by cursor, while others go on", async () => {
    const piece = "x".repeat(200_000);
    const server = await startTestServer({
      limits: { bufferedBytes: 100_000 },
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

describe("shutting down", () => {
  it("tells sockets with 1012, and takes no new ones", async () => {
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

describe("a connection that is no socket", () => {
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
