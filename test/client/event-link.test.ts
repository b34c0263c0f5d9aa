import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApp } from "@parley/server";
import { gate } from "@parley/testing";
import { describe, expect, it, vi } from "vitest";
import type { ClientOptions } from "../../packages/client/src/client.js";
import type { ConversationState } from "../../packages/client/src/state/conversation-state.js";
import { afterwards, isIdle, lastText, liveServer, testClient, until } from "./live-server.js";

/** Creates a client of an app in the same process, whose calls can be made to fail. */
async function inProcess(more: Partial<ClientOptions> = {}) {
  const live = await liveServer();
  const app = createApp(live.runtime, { auth: "open" });
  afterwards(() => app.close());
  const faults = { isDown: false };
  const streams = new Set<AbortController>();
  /** The ids of the messages that were sent, in order, arrived or not. */
  const posted: string[] = [];
  const client = testClient("http://parley.local", {
    WebSocket: null,
    ...more,
    fetch: async (input, init) => {
      if (init?.method === "POST") posted.push(JSON.parse(String(init.body)).messageId);
      if (faults.isDown) throw new TypeError("fetch failed");
      const stream = new AbortController();
      streams.add(stream);
      const given = init?.signal;
      given?.addEventListener("abort", () => stream.abort());
      const response = await app.fetch(new Request(String(input), { ...init, signal: stream.signal }));
      if (response.body === null) return response;
      // Cutting a stream off breaks the reading of it.
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      response.body.pipeTo(writable, { signal: stream.signal }).catch(() => {});
      return new Response(readable, response);
    },
  });
  const cut = () => {
    for (const stream of streams) stream.abort();
    streams.clear();
  };
  return { live, client, faults, cut, posted };
}

/** Creates a client as the guide has it, whose event streams can be held back, and report their end. */
async function listened() {
  const live = await liveServer();
  const app = createApp(live.runtime, { auth: "open" });
  afterwards(() => app.close());
  const answers = gate();
  const ended = gate();
  const client = testClient("http://parley.local", {
    WebSocket: null,
    fetch: async (input, init) => {
      const response = await app.fetch(new Request(input, init));
      if (!String(input).includes("/events") || response.body === null) return response;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      response.body.pipeTo(writable).then(ended.open, ended.open);
      await answers.wait();
      return new Response(readable, response);
    },
  });
  await client.request("POST /conversations", { body: { id: "c1" } });
  return { client, answers, ended };
}

describe("a client without a socket", () => {
  it("follows by server-sent events through fetch alone", async () => {
    const { live, client } = await inProcess();
    const connection = client.connect();
    expect(connection.getState().phase).toBe("open");
    const handle = connection.conversation("c1");
    const outcome = await handle.send("wait a bit", { messageId: "m1" });
    expect(outcome).toMatchObject({ conversationId: "c1", messageId: "m1", outcome: "started" });
    expect(outcome.turnId).toBeDefined();
    await until(handle, (state) => lastText(state).includes("One moment"));
    await expect(handle.send("And?")).rejects.toMatchObject({ code: "turn_active" });
    live.at.open();
    const state = await until(handle, ({ status, phase }) => status === "idle" && phase === "ready");
    expect(state.messages.map(({ role, status }) => [role, status])).toEqual([
      ["user", "committed"],
      ["assistant", "committed"],
      ["user", "failed"],
    ]);
    expect(Object.values(state.turns)).toMatchObject([{ reason: "stop" }]);
  });

  it("sends what may wait, and shows the queue as it changes, by whomever", async () => {
    const { live, client } = await inProcess();
    const handle = client.connect().conversation("c1");
    await handle.send("wait");
    await until(handle, (state) => lastText(state).includes("One moment") && state.cursor !== undefined);
    const receipt = await handle.send("Second", { ifBusy: "queue", messageId: "q1" });
    expect(receipt).toEqual({ conversationId: "c1", messageId: "q1", outcome: "queued" });
    const idsOf = () => handle.getState().queue.messages.map(({ id }) => id);
    await until(handle, ({ queue, pending }) => queue.messages.length === 1 && pending.length === 0);
    const me = live.runtime.forOwner("local");
    await me.queue.add({ conversationId: "c1", messageId: "q2", message: "Third", mode: "queue" });
    await until(handle, ({ queue }) => queue.messages.length === 2);
    expect(idsOf()).toEqual(["q1", "q2"]);
    await handle.editQueued("q2", { text: "Third!", before: "q1" });
    await until(handle, ({ queue }) => queue.messages[0]?.text === "Third!");
    await handle.removeQueued("q1");
    await until(handle, ({ queue }) => queue.messages.length === 1);
    live.at.open();
    const isOver = ({ queue, status }: ConversationState) => queue.messages.length === 0 && status === "idle";
    const state = await until(handle, (each) => isOver(each) && lastText(each) === "You said: Third!");
    expect(state.messages.map(({ id }) => id)).toContain("q2");
  });

  it("comes back by cursor when a stream is cut, and sends what it could not", async () => {
    const { live, client, faults, cut } = await inProcess();
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await handle.send("wait");
    await until(handle, (state) => lastText(state).includes("One moment") && state.cursor !== undefined);
    faults.isDown = true;
    cut();
    const waiting = await until(connection, ({ phase }) => phase === "waiting");
    expect(waiting).toMatchObject({ everOpen: true, retryAt: expect.any(Number) });
    live.at.open();
    await live.runtime.forOwner("local").last("c1");
    const sent = handle.send("Hello", { messageId: "m2" });
    faults.isDown = false;
    connection.retryNow();
    expect(await sent).toMatchObject({ messageId: "m2", outcome: "started" });
    const state = await until(
      handle,
      (each) => isIdle(each) && lastText(each) === "You said: Hello" && each.messages.length === 4,
    );
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(connection.getState().phase).toBe("open");
  });

  it("sends a message again when the answer is cut right after its headers", async () => {
    const live = await liveServer();
    const cutting = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
      response.socket?.end();
    });
    await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
    afterwards(() => void cutting.close());
    const { port } = cutting.address() as AddressInfo;
    let posts = 0;
    const client = testClient(live.url, {
      WebSocket: null,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method !== "POST") return response;
        posts += 1;
        if (posts > 1) return response;
        // The message arrives, and nothing more comes back.
        await response.body?.cancel();
        return fetch(`http://127.0.0.1:${port}`);
      },
    });
    const handle = client.connect().conversation("c1");
    expect(await handle.send("Hello", { messageId: "m1" })).toMatchObject({ outcome: "started" });
    const state = await until(handle, isIdle);
    expect(posts).toBe(2);
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("sends a message no more that was canceled", async () => {
    const { client, faults, posted } = await inProcess({ random: () => 0 });
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await handle.send("Hello");
    await until(handle, isIdle);
    faults.isDown = true;
    const forgotten = handle.send("never mind", { messageId: "m2" });
    await vi.waitUntil(() => posted.filter((id) => id === "m2").length > 1, 30_000);
    handle.cancel("m2");
    await expect(forgotten).rejects.toMatchObject({ code: "canceled" });
    const attempts = posted.length;
    faults.isDown = false;
    await handle.send("go on", { messageId: "m3" });
    const state = await until(handle, (each) => isIdle(each) && lastText(each) === "You said: go on");
    expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(posted.slice(attempts)).toEqual(["m3"]);
  });

  it("sends a refused message again as soon as it is refused", async () => {
    const { client, posted } = await inProcess({ schedule: (flush) => flush() });
    const handle = client.connect().conversation("c1");
    let retried: Promise<unknown> | undefined;
    handle.subscribe(() => {
      if (retried === undefined && handle.getState().messages[0]?.status === "failed")
        retried = handle.retry("m1");
    });
    await expect(handle.send("   ", { messageId: "m1" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(retried).rejects.toMatchObject({ code: "invalid_request" });
    expect(posted).toEqual(["m1", "m1"]);
  });

  it("sends a message at once when a caller tries again, and never twice at a time", async () => {
    const hour = 3_600_000;
    const { client, faults, posted } = await inProcess({ pace: { retryMinMs: hour, retryMaxMs: hour } });
    const connection = client.connect();
    const handle = connection.conversation("c1");
    faults.isDown = true;
    const sent = handle.send("Hello", { messageId: "m1" });
    await vi.waitUntil(() => {
      connection.retryNow();
      return posted.length > 1;
    }, 30_000);
    faults.isDown = false;
    const attempts = posted.length;
    for (let times = 0; times < 5; times += 1) connection.retryNow();
    expect(posted.length).toBe(attempts);
    expect(await sent).toMatchObject({ messageId: "m1", outcome: "started" });
    expect(posted.length).toBeLessThanOrEqual(attempts + 1);
  });

  it("ends its event streams when no caller follows any more, with an app in the same process", async () => {
    const { client, answers, ended } = await listened();
    answers.open();
    const connection = client.connect();
    const handle = connection.conversation("c1");
    await until(handle, ({ cursor }) => cursor !== undefined);
    handle.release();
    await ended.wait();
    expect(connection.getState().phase).toBe("open");
  });

  it("stays closed when an event stream is answered afterwards, and ends that", async () => {
    const { client, answers, ended } = await listened();
    const connection = client.connect();
    connection.conversation("c1");
    await answers.reached;
    connection.close();
    answers.open();
    await ended.wait();
    expect(connection.getState().phase).toBe("closed");
  });

  it("ends what it follows when the signal aborts, with an app in the same process", async () => {
    const live = await liveServer();
    const app = createApp(live.runtime, { auth: "open" });
    afterwards(() => app.close());
    const client = testClient("http://parley.local", {
      WebSocket: null,
      fetch: async (input, init) => app.fetch(new Request(input, init)),
    });
    await client.request("POST /conversations", { body: { id: "c1" } });
    const abort = new AbortController();
    const types: string[] = [];
    for await (const { type } of client.follow("c1", { cursor: "0", signal: abort.signal })) {
      types.push(type);
      abort.abort();
    }
    expect(types).toEqual(["chat.snapshot"]);

    const talk = new AbortController();
    const chat = async () => {
      for await (const { type } of client.chat(
        { conversationId: "c1", message: "wait" },
        { signal: talk.signal },
      ))
        if (type === "text-delta") talk.abort();
    };
    await expect(chat()).rejects.toMatchObject({ code: "canceled" });
  });

  it("says so when a conversation is not there, and stops when it is closed", async () => {
    const { client } = await inProcess();
    const connection = client.connect();
    const handle = connection.conversation("nowhere");
    expect((await until(handle, ({ phase }) => phase !== "loading")).phase).toBe("missing");
    connection.close();
    expect(connection.getState().phase).toBe("closed");
    expect(client.connect()).not.toBe(connection);
  });
});
