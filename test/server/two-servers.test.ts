import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SubscriptionFrame } from "@parley/core/runtime";
import { createKey } from "@parley/server";
import { openPostgres } from "@parley/store/postgres";
import { FrameFold } from "@parley/testing";
import type { HistoryResponse } from "@parley/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  callServer,
  openTestSocket,
  type TestSocket,
} from "../../packages/server/src/test-server.test-support.js";
import { describeOnPostgres, type TestDatabase } from "../harness/postgres.js";

const lease = { ttlMs: 2_000, renewMs: 500, claimMs: 300, pollMs: 200, stopMs: 2_000 };

interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Lets its model continue. */
  goOn(): void;
  close(): Promise<void>;
}

async function startServer(name: string, url: string): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL("./server-process.mjs", import.meta.url)), {
    env: { ...process.env, PARLEY_SERVER: JSON.stringify({ name, url, lease }) },
    // Not this process's conditions: a process of its own uses what was built.
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${name} ended with ${String(code)} before it was ready`);
  });
  failed.catch(() => {});
  const [ready] = (await Promise.race([once(child, "message"), failed])) as [{ url: string }];
  return {
    url: ready.url,
    child,
    goOn: () => void child.send("go on"),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.send("close");
      await gone;
    },
  };
}

/** Folds the frames of a conversation that a socket received. */
function folded(socket: TestSocket, conversationId: string) {
  const fold = new FrameFold();
  for (const message of socket.messages) {
    if (!/^chat\.(delta|chunks|reset|snapshot)$/.test(message.type)) continue;
    const frame = message as SubscriptionFrame;
    const id = frame.type === "chat.delta" ? frame.event.conversationId : frame.conversationId;
    if (id === conversationId) fold.apply(frame);
  }
  return fold.state;
}

describeOnPostgres(
  "two servers on one database",
  (postgres) => {
    let database: TestDatabase;
    let key: string;
    let a: ServerProcess;
    let b: ServerProcess;

    beforeAll(async () => {
      database = await postgres.createDatabase();
      const { store, wake } = openPostgres({ url: database.url });
      await store.migrate();
      const made = createKey({ owner: "ann", scopes: ["admin"] });
      await store.keys.add(made.record);
      await store.close();
      await wake?.close?.();
      key = made.secret;
      [a, b] = await Promise.all([startServer("a", database.url), startServer("b", database.url)]);
    });
    afterAll(async () => {
      await Promise.all([a?.close(), b?.close()]);
      await database?.drop();
    });

    const call = (server: ServerProcess, method: string, path: string, body?: unknown) =>
      callServer(server.url, method, path, { key, ...(body === undefined ? {} : { body }) });
    const watch = async (server: ServerProcess, conversationId: string) => {
      const socket = await openTestSocket(server.url, { key });
      socket.send({ type: "chat.subscribe", conversationId, cursor: "0" });
      await socket.next("chat.snapshot");
      return socket;
    };
    const history = async (server: ServerProcess, id: string) =>
      (await call(server, "GET", `/conversations/${id}`)).json as HistoryResponse;

    it("one is sent to, the other is watched, steered and queried; both report the same", async () => {
      await call(a, "POST", "/conversations", { id: "c1" });
      const sockets = await Promise.all([watch(a, "c1"), watch(b, "c1")]);
      const [atA, atB] = sockets;
      atA.send({ type: "chat.send", conversationId: "c1", messageId: "m1", message: "look at it" });
      await atA.next("chat.receipt");
      await atB.next("chat.delta", ({ event }) => event.type === "text-delta");
      const steered = await call(b, "POST", "/conversations/c1/queue", { text: "closely", messageId: "s1" });
      expect(steered.json).toMatchObject({ startedTurn: false });
      a.goOn();
      for (const socket of sockets) {
        // A reader with a cursor receives the steered message as a row.
        await socket.next("chat.chunks", ({ chunks }) => chunks.some(({ messageId }) => messageId === "s1"));
        await socket.event("turn-sealed");
      }
      expect((await call(b, "GET", "/conversations/c1/last")).json).toMatchObject({
        text: "a received: closely",
      });
      const logs = await Promise.all([history(a, "c1"), history(b, "c1")]);
      expect(logs[0]).toEqual(logs[1]);
      for (const socket of sockets) {
        await socket.next("chat.delta", ({ event }) => event.type === "status" && event.status === "idle");
        expect(folded(socket, "c1").chunks).toEqual(logs[0]?.chunks);
        socket.raw.close();
      }
    });

    it("a turn of one is stopped through the other, and what waits is resumed there", async () => {
      await call(b, "POST", "/conversations", { id: "c2" });
      const [atA, atB] = await Promise.all([watch(a, "c2"), watch(b, "c2")]);
      atB.send({ type: "chat.send", conversationId: "c2", message: "wait for it" });
      await atB.next("chat.receipt");
      await atA.next(
        "chat.delta",
        ({ event }) => event.type === "text-delta" && event.delta.startsWith("b waits"),
      );
      const queued = await call(a, "POST", "/conversations/c2/queue", { text: "next", mode: "queue" });
      expect(queued.json).toMatchObject({ startedTurn: false, queue: { messages: [{ text: "next" }] } });
      const stopped = await call(a, "POST", "/conversations/c2/stop");
      expect(stopped.json).toEqual({ conversationId: "c2", abortedTurn: true });
      for (const socket of [atA, atB]) {
        const sealed = await socket.next(
          "chat.delta",
          ({ event }) => event.type === "turn-sealed" && event.reason === "aborted",
        );
        expect(sealed.event).toMatchObject({ conversationId: "c2" });
      }
      expect((await call(b, "GET", "/conversations/c2/queue")).json).toMatchObject({
        queue: { paused: true },
      });
      const resumed = await call(a, "POST", "/conversations/c2/queue/resume");
      expect(resumed.json).toMatchObject({ startedTurn: true });
      await atB.next("chat.delta", ({ event }) => event.type === "turn-sealed" && event.reason === "stop");
      expect(await history(a, "c2")).toEqual(await history(b, "c2"));
      for (const socket of [atA, atB]) socket.raw.close();
    });

    it("what changes on one, every client of the owner receives on the other", async () => {
      const atB = await openTestSocket(b.url, { key });
      await atB.next("catalog");
      await call(a, "POST", "/conversations", { id: "c3", title: "First" });
      await atB.next("conversation.updated", ({ conversationId }) => conversationId === "c3");
      await call(a, "PUT", "/conversations/c3/title", { title: "Second" });
      await atB.next("conversation.updated", ({ meta }) => meta.title === "Second");
      await call(a, "POST", "/conversations/c3/open");
      await atB.next("conversation.open", ({ conversationId }) => conversationId === "c3");
      await call(a, "DELETE", "/conversations/c3");
      await atB.next("conversation.removed", ({ conversationId }) => conversationId === "c3");
      atB.raw.close();
    });

    it("a key that one makes works on the other, and one that it revokes stops working there", async () => {
      const made = (await call(a, "POST", "/keys", { owner: "ann", scopes: ["read"] })).json as {
        key: { id: string };
        secret: string;
      };
      const atB = await openTestSocket(b.url, { key: made.secret });
      await atB.next("catalog");
      await call(a, "DELETE", `/keys/${made.key.id}`);
      expect((await atB.closed).code).toBe(4401);
      expect((await callServer(b.url, "GET", "/me", { key: made.secret })).status).toBe(401);
    });

    // Runs last, since it leaves one server.
    it("one is killed in the middle of a turn, and the watcher on the other sees it end", async () => {
      const doomed = await startServer("doomed", database.url);
      await call(b, "POST", "/conversations", { id: "c9" });
      const atB = await watch(b, "c9");
      const chat = callServer(doomed.url, "POST", "/chat", {
        key,
        body: { conversationId: "c9", messageId: "m9", message: "wait until the end" },
      }).catch(() => undefined);
      await atB.next("chat.delta", ({ event }) => event.type === "text-delta");
      const gone = once(doomed.child, "exit");
      doomed.child.kill("SIGKILL");
      await gone;
      await chat;
      const sealed = await atB.event("turn-sealed");
      expect(sealed).toMatchObject({ conversationId: "c9", reason: "interrupted" });
      await atB.next("chat.delta", ({ event }) => event.type === "status" && event.status === "idle");
      const { chunks } = await history(b, "c9");
      expect(folded(atB, "c9").chunks).toEqual(chunks);
      expect(chunks.at(-1)).toMatchObject({
        role: "assistant",
        chunk: { type: "text", text: "doomed waits. " },
      });
      // The sender reconnects to the other one with the same message, and finds its turn.
      const again = await call(b, "POST", "/chat", {
        conversationId: "c9",
        messageId: "m9",
        message: "wait until the end",
      });
      expect(again.text).toContain('"reason":"interrupted"');
      atB.raw.close();
    });
  },
  "preferred",
);
