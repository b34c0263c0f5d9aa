import { text, toolCall } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { callServer, startTestServer } from "../../test-server.test-support.js";
import { connectClient, generations } from "./mcp-clients.test-support.js";
import { mcpFaceLimits } from "./mcp-face-limits.js";

const accept = { accept: "application/json, text/event-stream" };

function rpc(method: string, params: object = {}, id: number | string = 1) {
  return { jsonrpc: "2.0", id, method, params };
}

describe.each(generations)("Parley as an MCP server, to %s", (generation) => {
  it("sends a message, and finds, lists and reads the conversation", async () => {
    const server = await startTestServer();
    const client = await connectClient(server, generation);
    const sent = await client.call("send_message", { message: "the blue whale" });
    expect(sent).toMatchObject({ isError: false, text: "You said: the blue whale" });
    expect(sent.data).toMatchObject({ status: "done", reason: "stop", text: "You said: the blue whale" });
    const { conversationId } = sent.data;

    const again = await client.call("send_message", { message: "and the red fox", conversationId });
    expect(again.data).toMatchObject({ conversationId, text: "You said: and the red fox" });

    const found = await client.call("search_conversations", { query: "whale" });
    expect(found.data.hits).toContainEqual(expect.objectContaining({ conversationId, role: "user" }));
    expect(found.text).toContain(conversationId);

    const listed = await client.call("list_conversations", {});
    expect(listed.data.conversations).toMatchObject([{ id: conversationId, title: "the blue whale" }]);

    const read = await client.call("read_conversation", { id: conversationId });
    expect(read.data.entries.map(({ role, text: said }) => [role, said])).toEqual([
      ["user", "the blue whale"],
      ["assistant", "You said: the blue whale"],
      ["user", "and the red fox"],
      ["assistant", "You said: and the red fox"],
    ]);
    expect(read.data).toMatchObject({ earlier: false, later: false });
    const later = await client.call("read_conversation", { id: conversationId, sinceSeq: 1, limit: 2 });
    expect(later.data).toMatchObject({
      entries: [{ seq: 2 }, { seq: 3 }],
      latestSeq: 3,
      earlier: true,
      later: true,
    });
    expect(later.text).toContain("sinceSeq=3");
  });

  it("offers and allows what the scopes of the key reach", async () => {
    const server = await startTestServer({ auth: "keys" });
    const names = async (key: string) =>
      (await (await connectClient(server, generation, { key })).tools()).map(({ name }) => name);
    const reader = await server.key("ann", ["read"]);
    const reading = ["search_conversations", "list_conversations", "read_conversation"];
    expect(await names(reader)).toEqual(reading);
    expect(await names(await server.key("ann", ["write"]))).toEqual([
      ...reading,
      "send_message",
      "stop_turn",
    ]);
    const client = await connectClient(server, generation, { key: reader });
    expect((await client.tools()).every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    for (const [tool, input] of [
      ["send_message", { message: "hi" }],
      ["stop_turn", { conversationId: "c" }],
    ] as const) {
      const refused = await client.call(tool, input);
      expect(refused).toMatchObject({ isError: true, data: { error: { code: "forbidden" } } });
    }
    expect(server.provider.calls).toHaveLength(0);
    await expect(connectClient(server, generation)).rejects.toThrow();
    await expect(
      connectClient(server, generation, { key: await server.key("ann", ["approve"]) }),
    ).rejects.toThrow();
  });

  it("shows no owner the conversations of another", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [ann, bob] = await Promise.all(
      ["ann", "bob"].map(async (owner) =>
        connectClient(server, generation, { key: await server.key(owner) }),
      ),
    );
    const { data } =
      (await ann?.call("send_message", { message: "a secret word", conversationId: "shared" })) ?? {};
    expect(data).toMatchObject({ conversationId: "shared", status: "done" });
    expect(await bob?.call("read_conversation", { id: "shared" })).toMatchObject({
      isError: true,
      data: { error: { code: "conversation_not_found" } },
    });
    expect(await bob?.call("stop_turn", { conversationId: "shared" })).toMatchObject({ isError: true });
    expect((await bob?.call("search_conversations", { query: "secret" }))?.data.hits).toEqual([]);
    expect((await bob?.call("list_conversations", {}))?.data.conversations).toEqual([]);
    // The same id is another conversation for another owner.
    expect((await bob?.call("send_message", { message: "mine", conversationId: "shared" }))?.data.text).toBe(
      "You said: mine",
    );
    expect((await ann?.call("read_conversation", { id: "shared" }))?.text).not.toContain("mine");
  });

  it("waits with progress, gives the turn's id at the bound, and finds the answer under the same messageId", async () => {
    const server = await startTestServer({ pace: { mcpWaitMs: 300 } });
    const client = await connectClient(server, generation);
    const input = { message: "please wait", conversationId: "c", messageId: "m1" };
    const progress: number[] = [];
    const running = await client.call("send_message", input, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(running).toMatchObject({ isError: false, data: { status: "running", messageId: "m1" } });
    expect(running.text).toContain(running.data.turnId);
    await expect.poll(() => progress.length).toBeGreaterThan(0);
    const busy = await client.call("send_message", { message: "another", conversationId: "c" });
    expect(busy).toMatchObject({ isError: true, data: { error: { code: "turn_active" } } });
    const conflict = await client.call("send_message", { ...input, message: "other words" });
    expect(conflict.data).toMatchObject({ error: { code: "message_conflict" } });
    server.gate.open();
    await expect
      .poll(async () => (await client.call("send_message", input)).data)
      .toMatchObject({ status: "done", turnId: running.data.turnId });
    expect(server.provider.calls).toHaveLength(1);
  });

  it("ends the wait of a call that is canceled, and lets the turn continue", async () => {
    const server = await startTestServer();
    const client = await connectClient(server, generation);
    const cancel = new AbortController();
    const sent = client.call(
      "send_message",
      { message: "wait", conversationId: "c" },
      { signal: cancel.signal },
    );
    await expect.poll(() => server.runtime.status().runningTurns).toBe(1);
    cancel.abort();
    await expect(sent).rejects.toThrow();
    server.gate.open();
    const me = server.runtime.forOwner("local");
    expect(await me.last("c")).toMatchObject({ text: "One moment. You said: wait", reason: "stop" });
  });

  it("stops a turn and keeps what there is of it", async () => {
    const server = await startTestServer({ pace: { mcpWaitMs: 100 } });
    const client = await connectClient(server, generation);
    await client.call("send_message", { message: "wait", conversationId: "c", messageId: "m" });
    expect((await client.call("stop_turn", { conversationId: "c" })).data).toMatchObject({ stopped: true });
    await expect
      .poll(
        async () =>
          (await client.call("send_message", { message: "wait", conversationId: "c", messageId: "m" })).data,
      )
      .toMatchObject({ status: "done", reason: "aborted", text: "One moment. " });
    expect((await client.call("stop_turn", { conversationId: "c" })).data).toMatchObject({ stopped: false });
  });

  it("says what a turn waits for", async () => {
    const server = await startTestServer({
      tools: [{ name: "launch", approval: "always", execute: () => "launched" }],
      script: () => () => [text("First: "), toolCall("launch", { at: "noon" })],
    });
    const client = await connectClient(server, generation);
    const { text: said, data } = await client.call("send_message", { message: "go" });
    expect(data).toMatchObject({
      status: "waiting",
      text: "First: ",
      waitingFor: [{ kind: "approval", toolName: "launch", argumentsText: '{"at":"noon"}' }],
    });
    expect(said).toContain("launch");
  });

  it("says which store its conversations are in", async () => {
    const server = await startTestServer();
    const client = await connectClient(server, generation);
    const id = await server.runtime.identity();
    expect(client.capabilities?.experimental).toEqual({ "parley/store": { id } });
    expect(await server.runtime.identity()).toBe(id);
  });
});

describe("the MCP route", () => {
  it("takes POST alone, from known hosts and origins, within the bounds, and answers errors of JSON-RPC", async () => {
    const server = await startTestServer({ limits: { bodyBytes: 10_000 } });
    for (const method of ["GET", "DELETE"]) {
      const refused = await server.call(method, "/mcp", { headers: accept });
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
      expect(refused.json).toMatchObject({
        jsonrpc: "2.0",
        error: { data: { code: "invalid_request" } },
        id: null,
      });
    }
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      server.call("POST", "/mcp", { body, headers: { ...accept, ...headers } });
    expect((await post(rpc("ping"), { origin: "https://evil.example" })).status).toBe(403);
    expect((await post(rpc("tools/list", { pad: "x".repeat(20_000) }))).status).toBe(413);
    expect(
      (
        await server.call("POST", "/mcp", {
          raw: "{",
          headers: { ...accept, "content-type": "application/json" },
        })
      ).status,
    ).toBe(400);
    expect(
      (await server.call("POST", "/mcp", { raw: "{}", headers: { ...accept, "content-type": "text/plain" } }))
        .status,
    ).toBe(415);
    const document = (await server.call("GET", "/openapi.json")).json as { paths: object };
    expect(document.paths).toMatchObject({ "/mcp": { post: { "x-scope": "read" } } });
  });

  it("refuses hostile messages without an answer of 500 and without a turn", async () => {
    const server = await startTestServer();
    const deep = JSON.parse("[".repeat(90) + "]".repeat(90)) as unknown;
    const call = (name: unknown, input: unknown) => rpc("tools/call", { name, arguments: input });
    const messages = [
      [],
      [rpc("ping"), rpc("ping", {}, 2)],
      {},
      { jsonrpc: "1.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: {}, method: "ping" },
      { jsonrpc: "2.0", result: {}, id: 9 },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
      rpc("no/such"),
      rpc("initialize", {
        protocolVersion: "1900-01-01",
        capabilities: {},
        clientInfo: { name: "x", version: "1" },
      }),
      rpc("__proto__"),
      call("__proto__", {}),
      call("no_such_tool", {}),
      call(7, {}),
      call("send_message", {}),
      call("send_message", { message: "" }),
      call("send_message", { message: 7 }),
      call("send_message", { message: "x".repeat(mcpFaceLimits.messageCharacters + 1) }),
      call("send_message", { message: "hi", conversationId: "../../etc" }),
      call("send_message", { message: "hi", messageId: " " }),
      call("send_message", deep),
      call("read_conversation", { id: "c", sinceSeq: -1 }),
      call("read_conversation", { id: "c", limit: 1e12 }),
      call("list_conversations", { before: "not a cursor" }),
      call("search_conversations", { query: "   " }),
      call("search_conversations", { query: "\u0000" }),
      rpc("tools/call", { name: "send_message", arguments: { message: 1 }, _meta: { progressToken: "p" } }),
      rpc("subscriptions/listen", { notifications: {} }),
      rpc("tools/list", { cursor: "?" }),
    ];
    for (const body of messages) {
      const answer = await server.call("POST", "/mcp", { body, headers: accept });
      expect([answer.status < 500, JSON.stringify(body).slice(0, 80)]).toEqual([
        true,
        JSON.stringify(body).slice(0, 80),
      ]);
      expect(answer.text).not.toMatch(/\/src\/|node_modules|at async/);
    }
    expect(server.provider.calls).toHaveLength(0);
    expect((await server.call("POST", "/mcp", { body: rpc("ping"), headers: accept })).status).toBe(200);
  });

  it("cuts what is long and says so", async () => {
    const long = "long ".repeat(10_000);
    const server = await startTestServer({ script: () => () => [text(long.repeat(3))] });
    const client = await connectClient(server, "client 2");
    const sent = await client.call("send_message", { message: long, conversationId: "c" });
    expect(sent.text.length).toBeLessThan(mcpFaceLimits.answerCharacters + 200);
    expect(sent.text).toMatch(/\[cut: \d+ of 150000 characters are left out\]$/);
    for (let turn = 0; turn < 3; turn += 1)
      await client.call("send_message", { message: long, conversationId: "c" });
    const read = await client.call("read_conversation", { id: "c" });
    expect(read.text.length).toBeLessThan(mcpFaceLimits.answerCharacters + 2_000);
    expect(read.data.earlier).toBe(true);
    expect(read.text).toContain("Earlier entries are left out");
    const seqs: number[] = [];
    let sinceSeq = 0;
    for (let later = true; later; ) {
      const { data } = await client.call("read_conversation", { id: "c", sinceSeq });
      seqs.push(...data.entries.map(({ seq }) => seq));
      ({ latestSeq: sinceSeq, later } = data);
    }
    expect(seqs.length).toBeGreaterThanOrEqual(8);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  it("counts calls among the requests and the open connections of their key", async () => {
    const server = await startTestServer({
      auth: "keys",
      limits: { connectionsPerKey: 1, requestsPerSecond: 1, requestBurst: 4 },
    });
    const key = await server.key("ann");
    const post = (body: unknown) => server.call("POST", "/mcp", { body, key, headers: accept });
    const message = { name: "send_message", arguments: { message: "wait", conversationId: "c" } };
    const waiting = post(rpc("tools/call", message));
    await expect.poll(() => server.runtime.status().runningTurns).toBe(1);
    const full = await post(rpc("tools/list"));
    expect([full.status, full.json]).toMatchObject([429, { error: { data: { code: "limit_exceeded" } } }]);
    server.gate.open();
    expect((await waiting).status).toBe(200);
    expect((await post(rpc("tools/list"))).status).toBe(200);
    const rates = [await post(rpc("ping")), await post(rpc("ping"))].map(({ status }) => status);
    expect(rates).toContain(429);
  });

  it.each([{}, { _meta: { progressToken: "p" } }])(
    "ends the wait of a caller that leaves, with %j, and gives its place to others",
    async (more) => {
      const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
      const leave = new AbortController();
      const message = { name: "send_message", arguments: { message: "wait", conversationId: "c" }, ...more };
      const body = rpc("tools/call", message);
      const waiting = server.call("POST", "/mcp", { body, headers: accept, signal: leave.signal });
      await expect.poll(() => server.runtime.status().runningTurns).toBe(1);
      expect((await server.call("POST", "/mcp", { body: rpc("ping"), headers: accept })).status).toBe(429);
      leave.abort();
      await expect(waiting).rejects.toThrow();
      await expect
        .poll(async () => (await server.call("POST", "/mcp", { body: rpc("ping"), headers: accept })).status)
        .toBe(200);
      expect(server.runtime.status().runningTurns).toBe(1);
    },
  );

  it("breaks a wait off when the key is revoked", async () => {
    const server = await startTestServer({ auth: "keys", pace: { keyMs: 50 } });
    const key = await server.key("ann");
    await server.key("bob");
    const message = { name: "send_message", arguments: { message: "wait", conversationId: "c" } };
    const waiting = callServer(server.url, "POST", "/mcp", {
      body: rpc("tools/call", message),
      key,
      headers: accept,
    });
    await expect.poll(() => server.runtime.status().runningTurns).toBe(1);
    const record = (await server.runtime.keys.list()).find(({ owner }) => owner === "ann");
    await server.runtime.keys.remove(record?.id ?? "");
    expect((await waiting).status).toBe(401);
    server.gate.open();
  });

  it("refuses messages while the node drains, and still answers who reads", async () => {
    const server = await startTestServer();
    const client = await connectClient(server, "client 2");
    void server.runtime.drain({ deadlineMs: 0 });
    expect(await client.call("send_message", { message: "hi" })).toMatchObject({
      isError: true,
      data: { error: { code: "draining", retryable: true } },
    });
    expect((await client.call("list_conversations", {})).isError).toBe(false);
  });
});
