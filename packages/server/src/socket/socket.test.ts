import { FrameFold, pause, text, toolCall, usage } from "@parley/testing";
import type { WsServerMessage } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer, type TestSocket } from "../test-server.test-support.js";

const conversationId = "c1";

/** Returns everything from the first event of a turn to its seal, as types. */
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
  it("subscribes the sender and sends the turn from its first event, also when it makes the conversation", async () => {
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

  it("with a cursor follows from there: all of a conversation that it makes, with the state around it", async () => {
    const server = await startTestServer();
    const socket = await server.socket();
    const send = { type: "chat.send", conversationId, messageId: "m1", message: "hello" };
    socket.send({ ...send, cursor: "nonsense" });
    expect(await socket.next("chat.error")).toMatchObject({ messageId: "m1", code: "invalid_request" });
    socket.send({ ...send, cursor: "0" });
    const { turnId } = await socket.next("chat.receipt");
    expect(await socket.next("chat.snapshot")).toMatchObject({ cursor: "0", meta: { id: conversationId } });
    const sealed = await socket.event("turn-sealed");
    expect(sealed).toMatchObject({ turnId, reason: "stop" });
    const fold = new FrameFold();
    const frames = socket.messages.filter((message) => "cursor" in message);
    for (const message of frames) fold.apply(message as Parameters<FrameFold["apply"]>[0]);
    const { chunks } = await server.runtime.forOwner("local").history({ conversationId });
    expect(fold.state.chunks).toEqual(chunks);
    // A conversation that is already followed is not sent again.
    socket.send({ ...send, messageId: "m2", cursor: "0" });
    await socket.next("chat.receipt");
    await socket.event("turn-sealed");
    expect(socket.messages.filter(({ type }) => type === "chat.snapshot")).toHaveLength(1);
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

  it("again once its turn is sealed gives the receipt alone; a cursor reads the turn", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    const sent = { conversationId, messageId: "m1", message: "hello" };
    const { turnId } = await me.send(sent);
    await me.last(conversationId);
    // Another turn runs meanwhile: a client that follows it must not receive an earlier one in between.
    await me.send({ conversationId, message: "wait" });
    await server.provider.called(2);
    const socket = await server.socket();
    socket.send({ type: "chat.send", ...sent });
    expect(await socket.next("chat.receipt")).toMatchObject({ messageId: "m1", outcome: "started", turnId });
    server.gate.open();
    await socket.event("turn-sealed");
    const events = socket.messages.flatMap((message) =>
      message.type === "chat.delta" ? [message.event] : [],
    );
    expect(events.some((event) => "turnId" in event && event.turnId === turnId)).toBe(false);
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    const { chunks } = await socket.next("chat.chunks");
    expect(chunks[0]).toMatchObject({ messageId: "m1", turnId });
  });

  it("while a turn runs waits in the queue as it says, and sends the turn that runs", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "wait" });
    const socket = await server.socket();
    for (const ifBusy of ["queue", "steer"] as const) {
      socket.send({ type: "chat.send", conversationId, messageId: ifBusy, message: "more", ifBusy });
      const { type: _, ...receipt } = await socket.next("chat.receipt");
      expect(receipt).toEqual({ conversationId, messageId: ifBusy, outcome: "queued" });
    }
    const { messages } = await me.queue.list(conversationId);
    expect(messages.map(({ mode }) => mode)).toEqual(["queue", "steer"]);
    server.gate.open();
    expect((await socket.event("turn-sealed")).conversationId).toBe(conversationId);
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
  it("without a cursor sends the running turn from its user-message, then what comes, across turns", async () => {
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
      cursor: expect.stringMatching(/^2\.[0-9a-z]+$/),
    });
  });

  it("with a cursor of a log that is no more starts over", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId, message: "hello" });
    await me.last(conversationId);
    const { cursor } = await me.meta(conversationId);
    await me.remove(conversationId);
    await me.send({ conversationId, message: "hello again" });
    await me.last(conversationId);
    const socket = await server.socket();
    for (const old of [cursor, "99"]) {
      socket.send({ type: "chat.subscribe", conversationId, cursor: old });
      expect(await socket.next("chat.snapshot")).toMatchObject({ conversationId, cursor: "0" });
      expect(await socket.next("chat.reset")).toEqual({ type: "chat.reset", conversationId, cursor: "0" });
      expect((await socket.next("chat.chunks")).chunks.map(({ seq }) => seq)).toEqual([1, 2]);
    }
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

  it("counts what a send makes and follows, and never what is followed already", async () => {
    const server = await startTestServer({ limits: { subscriptionsPerSocket: 2 } });
    const socket = await server.socket();
    const surface = { type: "subscribe", surfaceId: "message-queue", conversationId };
    await idle(server);
    socket.send({ type: "chat.subscribe", conversationId });
    socket.send(surface);
    await socket.next("surface");
    socket.send({ type: "chat.send", messageId: "m1", message: "hello" });
    expect(await socket.next("chat.error")).toMatchObject({ messageId: "m1", code: "limit_exceeded" });
    socket.send({ type: "chat.send", conversationId: "other", messageId: "m2", message: "hello" });
    expect(await socket.next("chat.error")).toMatchObject({ messageId: "m2", code: "limit_exceeded" });
    expect(server.provider.calls).toHaveLength(0);

    socket.send(surface);
    await socket.next("surface");
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await socket.next("chat.snapshot");
    socket.send({ type: "chat.send", conversationId, messageId: "m3", message: "hello" });
    expect(await socket.next("chat.receipt")).toMatchObject({ messageId: "m3", outcome: "started" });
    await socket.event("turn-sealed");
  });

  it("ends with an error when the conversation is deleted", async () => {
    const server = await startTestServer();
    await idle(server);
    const socket = await server.socket();
    socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
    await socket.next("chat.snapshot");
    await server.runtime.forOwner("local").remove(conversationId);
    await socket.next("chat.error", ({ code }) => code === "conversation_not_found");
    expect(await socket.next("conversation.removed")).toEqual({
      type: "conversation.removed",
      conversationId,
    });
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

describe("what every client of an owner receives", () => {
  it("are the changes of its conversations, and of no other owner's", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [anns, bobs] = [await server.key("ann"), await server.key("bob")];
    const ann = await server.socket({ key: anns });
    const bob = await server.socket({ key: bobs });
    await ann.next("catalog");
    await bob.next("catalog");
    const me = server.runtime.forOwner("ann");
    // A change is received once the socket's watch has started, which the first of these shows.
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
  it("receive the same turn, byte for byte", async () => {
    const server = await startTestServer();
    await idle(server);
    const sockets = [await server.socket(), await server.socket()];
    for (const socket of sockets) {
      socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
      await socket.next("chat.snapshot");
    }
    const [first, second] = sockets;
    first?.send({ type: "chat.send", conversationId, message: "hello" });
    const received = await Promise.all(
      sockets.map(async (socket) => {
        await socket.event("turn-sealed");
        return socket.messages.filter(({ type }) => type === "chat.delta" || type === "chat.chunks");
      }),
    );
    expect(received[0]?.length).toBeGreaterThan(4);
    expect(JSON.stringify(received[0])).toBe(JSON.stringify(received[1]));
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
