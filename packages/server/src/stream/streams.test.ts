import { type IncomingMessage, request } from "node:http";
import { systemClock } from "@parley/core";
import { createModelCatalog, createRuntime, type SubscriptionFrame } from "@parley/core/runtime";
import {
  checkEventOrder,
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  FrameFold,
  pause,
  reasoning,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import type { AgentEvent, SseQueueChanged } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { createApp } from "../app.js";
import { createLogger } from "../telemetry/logging.js";
import {
  jsonLines,
  problemOf,
  readSse,
  type SseEvent,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "../test-server.test-support.js";

function follow(server: TestServer, id: string, headers: Record<string, string> = {}, query = "") {
  return fetch(`${server.url}/conversations/${id}/events${query}`, { headers });
}

/** Reads until an event ends the turn, or `most` frames. */
async function readFrames(response: Response, most = Number.POSITIVE_INFINITY): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of readSse(response)) {
    if (event.event === undefined) continue;
    events.push(event);
    if (events.length >= most || event.data?.includes('"type":"turn-sealed"')) break;
  }
  return events;
}

function apply(fold: FrameFold, events: readonly SseEvent[]): void {
  for (const { data } of events) fold.apply(JSON.parse(data ?? "") as SubscriptionFrame);
}

/** Returns what the page shows at the end, in a form that does not depend on how it came about. */
function shown(fold: FrameFold) {
  const { chunks, messages, sealed } = fold.state;
  return { chunks, messages, sealed: [...sealed] };
}

describe("POST /chat", () => {
  it("sends a turn from its first event to its seal, a line each", async () => {
    const server = await startTestServer();
    const answer = await server.call("POST", "/chat", { body: { message: "hello", messageId: "m1" } });
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-cache, no-transform");
    const events = jsonLines<AgentEvent>(answer.text);
    checkEventOrder(events);
    expect(events[0]).toMatchObject({ type: "user-message", text: "hello", messageId: "m1" });
    expect(events.at(-1)).toMatchObject({ type: "turn-sealed", reason: "stop" });
    const id = answer.headers.get("x-conversation-id");
    expect(events.every((event) => event.conversationId === id)).toBe(true);
  });

  it("ends with an error that is not worth a repetition when the conversation is deleted", async () => {
    const server = await startTestServer();
    const body = { conversationId: "c1", messageId: "m1", message: "hello" };
    await server.call("POST", "/chat", { body });
    const asked = server.faults.hold("readTurn");
    const again = server.call("POST", "/chat", { body });
    await asked.reached;
    await server.runtime.forOwner("local").remove("c1");
    asked.open();
    expect(jsonLines<AgentEvent>((await again).text).at(-1)).toMatchObject({
      type: "error",
      code: "conversation_not_found",
      retryable: false,
    });
  });

  it("with a known message id follows the same turn, running or sealed, and starts none", async () => {
    const server = await startTestServer();
    const body = { conversationId: "c1", messageId: "m1", message: "please wait" };
    const first = await fetch(`${server.url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const second = server.call("POST", "/chat", { body });
    server.gate.open();
    const live = jsonLines<AgentEvent>(await first.text());
    const joined = jsonLines<AgentEvent>((await second).text);
    const replayed = jsonLines<AgentEvent>((await server.call("POST", "/chat", { body })).text);
    const textOf = (events: AgentEvent[]) =>
      events.map((event) => (event.type === "text-delta" ? event.delta : "")).join("");
    for (const events of [joined, replayed]) {
      checkEventOrder(events);
      expect(textOf(events)).toBe(textOf(live));
      expect(events.at(-1)).toEqual(live.at(-1));
    }
    expect(replayed.filter(({ type }) => type === "text-delta")).toHaveLength(1);
    expect(server.provider.calls).toHaveLength(1);
  });

  it("without a conversation makes one that a retry finds again", async () => {
    const server = await startTestServer();
    const ids = new Set<string | null>();
    for (let time = 0; time < 3; time += 1) {
      const { headers } = await server.call("POST", "/chat", { body: { message: "hi", messageId: "m1" } });
      ids.add(headers.get("x-conversation-id"));
    }
    expect(ids.size).toBe(1);
    expect(server.provider.calls).toHaveLength(1);
  });

  it("refuses another body under a known id, and anything while a turn runs", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId: "c1", messageId: "m1", message: "wait" });
    const send = (messageId: string) =>
      server.call("POST", "/chat", { body: { conversationId: "c1", messageId, message: "other" } });
    const conflict = await send("m1");
    expect([conflict.status, problemOf(conflict).code]).toEqual([409, "message_conflict"]);
    const busy = await send("m2");
    expect([busy.status, problemOf(busy)]).toMatchObject([409, { code: "turn_active", retryable: true }]);
  });

  it("of a message that waits says so", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "wait" });
    await me.queue.add({ conversationId: "c1", messageId: "q1", message: "next", mode: "queue" });
    const answer = await server.call("POST", "/chat", {
      body: { conversationId: "c1", messageId: "q1", message: "next" },
    });
    expect([answer.status, problemOf(answer).code]).toEqual([409, "turn_active"]);
  });

  it("queues what says so while a turn runs, and answers with its receipt", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "wait" });
    const send = (messageId: string, ifBusy?: string) =>
      server.call("POST", "/chat", { body: { conversationId: "c1", messageId, message: messageId, ifBusy } });
    for (const mode of ["queue", "steer"]) {
      const answer = await send(mode, mode);
      expect([answer.status, answer.json]).toEqual([
        202,
        { conversationId: "c1", messageId: mode, outcome: "queued" },
      ]);
      expect(answer.headers.get("x-conversation-id")).toBe("c1");
      expect(answer.headers.get("x-message-id")).toBe(mode);
    }
    const { messages } = await me.queue.list("c1");
    expect(messages.map(({ id, mode }) => [id, mode])).toEqual([
      ["queue", "queue"],
      ["steer", "steer"],
    ]);
    expect((await send("queue", "steer")).status).toBe(202);
    expect((await send("other", "reject")).status).toBe(409);

    server.gate.open();
    await me.last("c1");
    await expect.poll(async () => (await me.meta("c1")).status).toBe("idle");
    const [again, attached] = [await send("queue", "queue"), await send("queue")];
    expect([again.status, again.json]).toMatchObject([202, { outcome: "queued", turnId: expect.anything() }]);
    expect(attached.status).toBe(200);
    expect(jsonLines<AgentEvent>(attached.text)[0]).toMatchObject({
      type: "user-message",
      messageId: "queue",
    });
  });

  it.each(["reject", "queue", "steer"])(
    "opens a turn in an idle conversation, also with %s",
    async (ifBusy) => {
      const server = await startTestServer();
      const answer = await server.call("POST", "/chat", {
        body: { messageId: "m1", message: "hello", ifBusy },
      });
      expect(answer.status).toBe(200);
      expect(jsonLines<AgentEvent>(answer.text).at(-1)).toMatchObject({
        type: "turn-sealed",
        reason: "stop",
      });
    },
  );

  it("refuses what is no way to wait", async () => {
    const server = await startTestServer();
    const answer = await server.call("POST", "/chat", { body: { message: "hello", ifBusy: "wait" } });
    expect([answer.status, problemOf(answer).code]).toEqual([400, "invalid_request"]);
  });

  it("continues without its client", async () => {
    const server = await startTestServer();
    const leaving = new AbortController();
    const response = await fetch(`${server.url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ conversationId: "c1", message: "wait" }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    server.gate.open();
    const last = await server.call("GET", "/conversations/c1/last");
    expect(last.json).toMatchObject({ text: "One moment. You said: wait", reason: "stop" });
  });

  it("ends with an error that says to come back, when the node goes away", async () => {
    const server = await startTestServer();
    const response = await fetch(`${server.url}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ conversationId: "c1", message: "wait" }),
    });
    const body = response.text();
    await server.provider.called(1);
    await server.runtime.close();
    const last = jsonLines<AgentEvent>(await body).at(-1);
    const isEnd = last?.type === "turn-sealed" || (last?.type === "error" && last.retryable);
    expect(isEnd).toBe(true);
  });
});

/** Sends a message and reads only the head of the answer, until it is resumed. */
function chatUnread(
  server: TestServer,
  body: { conversationId: string; messageId: string; message: string },
  key?: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    request(`${server.url}/chat`, { method: "POST", headers }, (response) => {
      response.pause();
      resolve(response);
    })
      .once("error", reject)
      .end(JSON.stringify(body));
  });
}

async function restOf(response: IncomingMessage): Promise<AgentEvent[]> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return jsonLines<AgentEvent>(String(Buffer.concat(pieces)));
}

describe("POST /chat of a turn that is larger than what a reader may be behind", () => {
  const piece = "x".repeat(400_000);
  const body = { conversationId: "c1", messageId: "m1", message: "A lot, please" };

  /** Starts a server with a sealed turn of several long texts, each of them one event in a replay. */
  async function startWithLongTurn(parts: number, options: TestServerOptions = {}): Promise<TestServer> {
    const server = await startTestServer({
      limits: { bufferedBytes: 300_000 },
      script: () => Array.from({ length: parts }, () => [reasoning("And so on:"), text(piece)]).flat(),
      ...options,
    });
    const me = server.runtime.forOwner("local");
    await me.send(body);
    await me.last("c1");
    return server;
  }

  it("sends it to its seal, again and again, at the reader's pace", async () => {
    const server = await startWithLongTurn(8);
    for (let time = 0; time < 2; time += 1) {
      const events = jsonLines<AgentEvent>((await server.call("POST", "/chat", { body })).text);
      checkEventOrder(events);
      expect(events.filter((event) => event.type === "text-delta" && event.delta === piece)).toHaveLength(8);
      expect(events.at(-1)).toMatchObject({ type: "turn-sealed", reason: "stop" });
    }
    // No other reader has to be quick either: held back output continues when it is read.
    const slow = await chatUnread(server, body);
    await server.call("POST", "/chat", { body });
    expect((await restOf(slow)).at(-1)).toMatchObject({ type: "turn-sealed" });
  }, 30_000);

  it("sends it to its seal within the process, too", async () => {
    const server = await startWithLongTurn(4);
    const app = createApp(server.runtime, { limits: { bufferedBytes: 300_000 } });
    try {
      const answer = await app.fetch(
        new Request("http://localhost/chat", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      // A client need not read at once.
      await server.call("GET", "/health");
      expect(jsonLines<AgentEvent>(await answer.text()).at(-1)).toMatchObject({ type: "turn-sealed" });
    } finally {
      await app.close();
    }
  }, 30_000);

  it("says so when it is broken off, however much waits to be read", async () => {
    // More than the connection buffers for a reader that does not read.
    const server = await startWithLongTurn(40);
    const key = await server.key("local", ["write"]);
    const admin = await server.key("admin", ["admin"]);
    const unread = await chatUnread(server, body, key);
    const keys = await server.runtime.keys.list();
    const id = keys.find(({ owner }) => owner === "local")?.id;
    expect((await server.call("DELETE", `/keys/${id}`, { key: admin })).status).toBe(200);
    expect((await restOf(unread)).at(-1)).toMatchObject({ type: "error", code: "unauthorized" });
  }, 30_000);

  it("counts as a connection until it is read, also when everything was said", async () => {
    let onLogged = () => {};
    const logged = new Promise<void>((resolve) => {
      onLogged = resolve;
    });
    const server = await startWithLongTurn(40, {
      // All of it waits for the reader.
      limits: { bufferedBytes: 100_000_000, connectionsPerKey: 1 },
      // A stream is logged when it is over.
      logger: createLogger({ level: "info" }, { write: onLogged }),
    });
    const unread = await chatUnread(server, body);
    await logged;
    expect((await server.call("GET", "/conversations/c1/last")).status).toBe(429);
    expect((await restOf(unread)).at(-1)).toMatchObject({ type: "turn-sealed" });
    expect((await server.call("GET", "/conversations/c1/last")).status).toBe(200);
  }, 30_000);

  it("says so when the reader is left behind by a turn that runs", async () => {
    const server = await startTestServer({
      limits: { bufferedBytes: 300_000 },
      runtimeLimits: { subscriberFrames: 40, answerBytes: 50_000_000 },
      script: (gate) => [text("Now."), pause(gate), ...Array.from({ length: 100 }, () => text(piece))],
    });
    const unread = await chatUnread(server, body);
    server.gate.open();
    await server.runtime.forOwner("local").last("c1");
    expect((await restOf(unread)).at(-1)).toMatchObject({
      type: "error",
      code: "limit_exceeded",
      retryable: true,
    });
  }, 30_000);
});

describe("GET /conversations/:id/events", () => {
  it("is not held back by anyone on the way", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").create({ id: "c1" });
    const response = await follow(server, "c1");
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("content-encoding")).toBeNull();
    const first = await readSse(response).next();
    expect(first.value).toEqual({ retry: "2000" });
  });

  it("keeps the connection alive with comments, by the clock", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ clock });
    await server.runtime.forOwner("local").create({ id: "c1" });
    const events = readSse(await follow(server, "c1"));
    expect((await events.next()).value).toEqual({ retry: "2000" });
    for (let beat = 0; beat < 3; beat += 1) {
      const next = events.next();
      await clock.advance(15_000);
      expect((await next).value).toEqual({ comment: "here" });
    }
    await events.return(undefined);
  });

  it("answers 404 for a conversation that is not there", async () => {
    const server = await startTestServer();
    expect((await follow(server, "none")).status).toBe(404);
  });

  it("answers HEAD without following anything", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").create({ id: "c1" });
    const head = await server.call("HEAD", "/conversations/c1/events");
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await server.call("GET", "/metrics")).text).toContain("parley_sse_connections 0");
  });

  it("sends a client with a cursor the changes of the queue, after the snapshot", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "wait" });
    const response = await follow(server, "c1", {}, "?cursor=0");
    const bare = await follow(server, "c1");
    const add = (messageId: string) =>
      me.queue.add({ conversationId: "c1", messageId, message: "later", mode: "queue" });
    await add("q1");
    const queues: string[][] = [];
    let hasSnapshot = false;
    for await (const { event, id, data } of readSse(response)) {
      if (event === "snapshot") {
        hasSnapshot = true;
        await add("q2");
        await me.create({ id: "c2" });
      }
      if (event !== "queue") continue;
      expect([hasSnapshot, id]).toEqual([true, undefined]);
      const change = JSON.parse(data ?? "") as SseQueueChanged;
      expect(change).toMatchObject({ type: "queue.changed", conversationId: "c1" });
      queues.push(change.queue.messages.map((message) => message.id));
      if (queues.at(-1)?.length === 2) break;
    }
    // The first one is in the snapshot, or was published.
    expect(queues.at(-1)).toEqual(["q1", "q2"]);
    expect(new Set(queues.map(String)).size).toBe(queues.length);

    server.gate.open();
    await me.last("c1");
    const names = (await readFrames(bare)).map(({ event }) => event);
    expect(names).not.toContain("queue");
  });

  it("resumes after a cut at any event, to what a reader sees that was never cut off", async () => {
    const server = await startTestServer({
      script: (gate) => [
        [reasoning("Let me see.", { size: 4 }), toolCall("look", { at: "it" }), usage(9, 4)],
        [text("It is fine, all of it.", { size: 3 }), pause(gate), text(" Really."), usage(12, 6)],
      ],
    });
    const me = server.runtime.forOwner("local");
    await me.create({ id: "c1" });
    const whole = follow(server, "c1", {}, "?cursor=0").then(readFrames);
    await me.send({ conversationId: "c1", message: "How is it?", messageId: "m1" });
    await server.provider.called(2);
    // Half of the readers are cut off while the turn runs and reconnect when it is over, the others repeatedly.
    const early: SseEvent[][] = [];
    for (let cut = 1; cut <= 3; cut += 1) {
      early.push(await readFrames(await follow(server, "c1", {}, "?cursor=0"), cut));
    }
    server.gate.open();
    const reference = new FrameFold();
    const all = await whole;
    apply(reference, all);
    expect(shown(reference).messages.length).toBeGreaterThan(2);

    const heads = [...early, ...all.map((_, index) => all.slice(0, index))];
    for (const head of heads) {
      const fold = new FrameFold();
      apply(fold, head);
      const id = head.findLast((event) => event.id !== undefined)?.id ?? "0";
      const response = await follow(server, "c1", { "last-event-id": id }, "?cursor=0");
      const lastSeq = reference.state.chunks.length;
      const rest: SseEvent[] = [];
      for await (const event of readSse(response)) {
        if (event.event === undefined) continue;
        rest.push(event);
        apply(fold, [event]);
        const { chunks, sealed } = fold.state;
        if (chunks.length === lastSeq && (sealed.size > 0 || id === "0" || !id.includes("~"))) break;
      }
      expect(shown(fold).chunks, `after ${head.length} frames`).toEqual(shown(reference).chunks);
      expect(shown(fold).messages).toEqual(shown(reference).messages);
    }
  });

  it("takes Last-Event-ID before the cursor in the address", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "hello" });
    await me.last("c1");
    const [snapshot] = await readFrames(await follow(server, "c1", { "last-event-id": "2" }, "?cursor=0"), 1);
    expect(snapshot).toMatchObject({ event: "snapshot", id: "2" });
  });

  it("ends when the conversation is deleted", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    await me.create({ id: "c1" });
    const response = await follow(server, "c1");
    const events = readSse(response);
    await events.next();
    await me.remove("c1");
    expect((await events.next()).value).toEqual({ comment: "conversation_not_found" });
    expect((await events.next()).done).toBe(true);
  });

  it("holds nothing for a reader that has left before the stream began", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    await server.runtime.forOwner("local").create({ id: "c1" });
    const asked = server.faults.hold("get");
    const leaving = request(`${server.url}/conversations/c1/events`).on("error", () => {});
    leaving.end();
    await asked.reached;
    leaving.destroy();
    // Later requests are answered, so the server has noticed it.
    for (let count = 0; count < 5; count += 1) await server.call("GET", "/health");
    asked.open();
    const opened = () =>
      follow(server, "c1").then((response) => response.body?.cancel().then(() => response.status));
    await expect.poll(opened).toBe(200);
    await expect
      .poll(async () => (await server.call("GET", "/metrics")).text)
      .toContain("parley_sse_connections 0");
  });

  it("cuts off a reader that stays too far behind, who then resumes where it was", async () => {
    const piece = "x".repeat(200_000);
    const server = await startTestServer({
      limits: { bufferedBytes: 100_000 },
      runtimeLimits: { answerBytes: 20_000_000 },
      script: () => Array.from({ length: 70 }, () => text(piece)),
    });
    const me = server.runtime.forOwner("local");
    await me.create({ id: "c1" });
    // A reader that does not read: its side of the connection fills up, and then ours.
    const slow = await new Promise<IncomingMessage>((resolve) => {
      request(`${server.url}/conversations/c1/events?cursor=0`, resolve).end();
    });
    slow.pause();
    await me.send({ conversationId: "c1", message: "A lot, please" });
    await me.last("c1");
    expect((await server.call("GET", "/metrics")).text).toContain("parley_sse_connections 0");

    let received = "";
    slow.setEncoding("utf8");
    for await (const bytes of slow) received += bytes;
    const ids = [...received.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? "");
    expect(ids.length).toBeGreaterThan(1);
    expect(received).not.toContain("turn-sealed");
    const rest = await readFrames(await follow(server, "c1", { "last-event-id": ids.at(-1) ?? "" }));
    const fold = new FrameFold();
    apply(fold, rest);
    expect(fold.state.chunks.at(-1)?.chunk).toEqual({ type: "text", text: piece.repeat(70) });
  }, 60_000);
});

describe("within the process", () => {
  it("both streams work without a socket", async () => {
    const runtime = await createRuntime({
      store: createMemoryLogStore({ clock: systemClock }),
      models: createModelCatalog([
        {
          name: "scripted/one",
          provider: createScriptedProvider([text("Hello!", { size: 2 }), usage(3, 2)]),
          providerName: "scripted",
          model: "one",
          contextWindow: 1_000,
        },
      ]),
    });
    const app = createApp(runtime);
    try {
      const chat = await app.fetch(
        new Request("http://parley.internal/chat", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ conversationId: "c1", message: "hi" }),
        }),
      );
      const events = jsonLines<AgentEvent>(await chat.text());
      checkEventOrder(events);
      expect(events.at(-1)?.type).toBe("turn-sealed");
      const stream = await app.fetch(new Request("http://parley.internal/conversations/c1/events?cursor=0"));
      const frames = await readFrames(stream, 2);
      expect(frames.map(({ event }) => event)).toEqual(["snapshot", "chunks"]);
    } finally {
      await app.close();
      await runtime.close();
    }
  });
});
