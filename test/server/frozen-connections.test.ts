import { createModelCatalog, createRuntime, type LeasePace } from "@parley/core/runtime";
import { serve } from "@parley/server";
import { openPostgres, type PostgresTimeouts } from "@parley/store/postgres";
import { createScriptedProvider, gate, pause, text, usage } from "@parley/testing";
import type { HistoryResponse, ReadyResponse } from "@parley/wire";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { callServer } from "../../packages/server/src/test-server.test-support.js";
import { describeOnPostgres, type TestDatabase } from "../harness/postgres.js";
import { TcpProxy } from "../harness/tcp-proxy.js";

const timeouts: Partial<PostgresTimeouts> = {
  connectTimeoutMs: 1_000,
  statementTimeoutMs: 1_500,
  answerGraceMs: 300,
  briefTimeoutMs: 1_000,
  closeTimeoutMs: 500,
  wakeProbeMs: 200,
};
const patience = { timeout: 60_000, interval: 50 };

/** Starts a node whose connections to the database lead through a proxy of its own. */
async function startNode(name: string, url: string, lease?: Partial<LeasePace>) {
  const proxy = await TcpProxy.start(url);
  const { store, wake } = openPostgres({ url: proxy.through(url), ...timeouts });
  await store.migrate();
  const at = gate();
  const provider = createScriptedProvider(({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user")?.content.at(-1);
    const said = last?.type === "text" ? last.text : "";
    const answer = [text(`Received: ${said}`), usage(10, 3)];
    return said.startsWith("wait") ? [text("One moment. "), pause(at), ...answer] : answer;
  });
  const runtime = await createRuntime({
    store,
    wake,
    node: name,
    models: createModelCatalog([
      { name: "scripted/one", provider, providerName: "scripted", model: "one", contextWindow: 100_000 },
    ]),
    ...(lease === undefined ? {} : { lease }),
  });
  const server = await serve(runtime, { port: 0, auth: "open" });
  onTestFinished(async () => {
    at.open();
    await server.close({ deadlineMs: 0 });
    await runtime.close();
    await wake.close?.();
    await store.close();
    await proxy.close();
  });
  const call = (method: string, path: string, body?: unknown) =>
    callServer(server.url, method, path, body === undefined ? {} : { body });
  return {
    proxy,
    call,
    /** Lets the model of a message that waits continue. */
    goOn: () => at.open(),
    ready: async () => {
      const { status, json } = await call("GET", "/ready");
      return { status, ...(json as ReadyResponse) };
    },
    /** Sends again as long as the server reports a retryable error. */
    async send(conversationId: string, message: string): Promise<string> {
      const messageId = crypto.randomUUID();
      const body = { text: message, messageId };
      await vi.waitFor(async () => {
        const answer = await call("POST", `/conversations/${conversationId}/queue`, body);
        if (answer.status !== 503) return expect(answer.status).toBe(200);
        throw new Error(answer.text);
      }, patience);
      return messageId;
    },
    /** Returns the texts of a conversation once nothing runs in it. */
    async texts(conversationId: string): Promise<string[]> {
      return vi.waitFor(async () => {
        const meta = await call("GET", `/conversations/${conversationId}/meta`);
        expect(meta.json).toMatchObject({ status: "idle" });
        const answer = await call("GET", `/conversations/${conversationId}`);
        expect(answer.status).toBe(200);
        const { chunks } = answer.json as HistoryResponse;
        return chunks.map(
          ({ role, chunk }) => `${role}: ${"text" in chunk ? String(chunk.text) : chunk.type}`,
        );
      }, patience);
    },
  };
}

describeOnPostgres(
  "a node whose database connections go silent",
  (postgres) => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await postgres.createDatabase();
    });
    afterAll(() => database.drop());

    it("answers, takes sends and keeps its turn on new connections", async () => {
      const node = await startNode("one", database.url);
      await node.call("POST", "/conversations", { id: "c1" });
      await node.call("POST", "/conversations", { id: "c2" });
      await node.send("c1", "wait for it");
      node.proxy.freeze();
      await node.send("c2", "hello");
      await vi.waitFor(
        async () => expect(await node.ready()).toMatchObject({ status: 200, ready: true }),
        patience,
      );
      node.proxy.freeze();
      node.goOn();
      expect(await node.texts("c1")).toEqual([
        "user: wait for it",
        "assistant: One moment. Received: wait for it",
      ]);
      node.proxy.freeze();
      expect(await node.texts("c2")).toEqual(["user: hello", "assistant: Received: hello"]);
      // The bytes that waited in the proxy reach the server now, and change nothing.
      node.proxy.thaw();
      expect(await node.texts("c1")).toHaveLength(2);
      expect(await node.texts("c2")).toHaveLength(2);
    });

    it("says that it is not ready while new connections hang as well, and is again when they do not", async () => {
      const node = await startNode("alone", database.url);
      expect(await node.ready()).toMatchObject({ status: 200 });
      node.proxy.freeze({ andNew: true });
      await vi.waitFor(
        async () =>
          expect(await node.ready()).toMatchObject({ status: 503, store: false, reason: expect.any(String) }),
        patience,
      );
      node.proxy.thaw();
      await vi.waitFor(async () => expect(await node.ready()).toMatchObject({ status: 200 }), patience);
    });

    it("loses its turn to another node when it cannot reach the database for longer than its lease", async () => {
      const lease = { ttlMs: 3_000, renewMs: 500, claimMs: 200, pollMs: 200, stopMs: 2_000 };
      const [a, b] = await Promise.all([
        startNode("a", database.url, lease),
        startNode("b", database.url, lease),
      ]);
      await a.call("POST", "/conversations", { id: "c3" });
      await a.send("c3", "wait for me");
      // The node that takes the turn over may start it again, and must not wait.
      b.goOn();
      a.proxy.freeze({ andNew: true });
      const texts = await b.texts("c3");
      expect(texts[0]).toBe("user: wait for me");
      await b.send("c3", "and now");
      const after = await b.texts("c3");
      expect(after.slice(0, texts.length)).toEqual(texts);
      expect(after.slice(texts.length)).toEqual(["user: and now", "assistant: Received: and now"]);
      expect(await a.ready()).toMatchObject({ status: 503 });
      a.goOn();
      a.proxy.thaw();
      await vi.waitFor(async () => expect(await a.ready()).toMatchObject({ status: 200 }), patience);
      expect(await a.texts("c3")).toEqual(after);
    });
  },
  "preferred",
);
