import type { Tool } from "@parley/core";
import { text, toolCall } from "@parley/testing";
import type { AgentEvent, PendingRequest, PendingResponse, Problem, ToolsResponse } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { problemOf, startTestServer, type TestServer } from "../test-server.test-support.js";

const paid: number[] = [];
const pay: Tool<{ amount: number }> = {
  name: "pay",
  description: "Pays",
  schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  approval: "always",
  execute: ({ amount }) => {
    paid.push(amount);
    return `paid ${amount}`;
  },
};

/** Starts a server whose model pays before it answers. */
function paying(options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  paid.length = 0;
  return startTestServer({
    script: () => [[toolCall("pay", '{"amount": 3.0}', { id: "k" })], [text("Done.")]],
    tools: [pay as Tool<never>],
    ...options,
  });
}

function eventsIn(body: string): AgentEvent[] {
  return body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AgentEvent);
}

async function pendingOf(server: TestServer, key?: string): Promise<readonly PendingRequest[]> {
  const { json } = await server.call("GET", "/pending", key === undefined ? {} : { key });
  return (json as PendingResponse).pending;
}

const message = { conversationId: "c1", messageId: "m1", message: "Pay" };

describe("a turn that waits, over HTTP", () => {
  it("ends the answer of POST /chat at once, and the same message leads back to it", async () => {
    const server = await paying();
    const first = eventsIn((await server.call("POST", "/chat", { body: message })).text);
    expect(first.at(-1)).toMatchObject({ type: "status", waiting: { count: 1, kinds: ["approval"] } });
    expect(first.map(({ type }) => type)).toContain("input-request");
    const again = eventsIn((await server.call("POST", "/chat", { body: message })).text);
    expect(again.map(({ type }) => type)).toEqual(first.map(({ type }) => type));
    const last = await server.call("GET", "/conversations/c1/last");
    expect(last.json).toMatchObject({ waiting: { count: 1 } });
    const [request] = await pendingOf(server);
    expect(request).toMatchObject({ kind: "approval", toolName: "pay", argumentsText: '{"amount": 3.0}' });
    const { requestId, argumentsHash } = request as PendingRequest;
    const path = `/conversations/c1/pending/${requestId}`;
    const answer = await server.call("POST", path, { body: { decision: "allow", argumentsHash } });
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { repeated: false, response: { decision: "allow", via: "http", by: { owner: "local" } } },
    ]);
    const end = eventsIn((await server.call("POST", "/chat", { body: message })).text);
    expect(end.at(-1)).toMatchObject({ type: "turn-sealed", reason: "stop" });
    expect(paid).toEqual([3]);
    const same = await server.call("POST", path, { body: { decision: "allow", argumentsHash } });
    expect(same.json).toMatchObject({ repeated: true });
    const other = await server.call("POST", path, { body: { decision: "deny" } });
    expect([other.status, other.json]).toMatchObject([
      409,
      { code: "already_decided", response: { decision: "allow" } },
    ]);
  });

  it("lists what waits in pages", async () => {
    const script = () => [
      [toolCall("pay", { amount: 1 }), toolCall("pay", { amount: 2 }), toolCall("pay", { amount: 3 })],
    ];
    const server = await paying({ script });
    await server.call("POST", "/chat", { body: message });
    const first = (await server.call("GET", "/pending?limit=2")).json as PendingResponse;
    const second = (await server.call("GET", `/pending?limit=2&after=${first.nextAfter}`))
      .json as PendingResponse;
    const shown = [...first.pending, ...second.pending].map(({ argumentsText }) => argumentsText);
    expect(shown).toEqual(['{"amount":1}', '{"amount":2}', '{"amount":3}']);
    expect(second.nextAfter).toBeUndefined();
    expect((await server.call("GET", "/pending?after=x")).status).toBe(400);
  });

  it("refuses what does not fit: an unknown request, another hash, a decision of another kind", async () => {
    const server = await paying();
    await server.call("POST", "/chat", { body: message });
    const [request] = await pendingOf(server);
    const { requestId = "" } = request ?? {};
    const respond = async (body: object, id = requestId) =>
      problemOf(await server.call("POST", `/conversations/c1/pending/${id}`, { body }));
    expect(await respond({ decision: "deny" }, "another")).toMatchObject({ status: 404 });
    expect(await respond({ decision: "allow" })).toMatchObject({ code: "invalid_request" });
    expect(await respond({ decision: "allow", argumentsHash: "00" })).toMatchObject({
      errors: [{ path: "argumentsHash" }],
    });
    expect(await respond({ decision: "answer", value: 1 })).toMatchObject({ errors: [{ path: "decision" }] });
    expect(await respond({ decision: "perhaps" })).toMatchObject({ code: "invalid_request" });
    const busy = problemOf(await server.call("POST", "/chat", { body: { ...message, messageId: "m2" } }));
    expect(busy as Problem).toMatchObject({
      code: "turn_active",
      requests: [{ requestId, kind: "approval", toolName: "pay" }],
    });
    expect(paid).toEqual([]);
  });

  it("hands the output of a caller's tool in, and lists tools and standing approvals", async () => {
    const server = await paying({ script: () => [[toolCall("page", { n: 1 })], [text("Done.")]] });
    const tools = [{ name: "page", description: "Shows", schema: { type: "object" } }];
    await server.call("POST", "/chat", { body: { ...message, tools } });
    const [request] = await pendingOf(server);
    const { requestId = "" } = request ?? {};
    const output = { decision: "output", value: { shown: true } };
    await server.call("POST", `/conversations/c1/pending/${requestId}`, { body: output });
    const end = eventsIn((await server.call("POST", "/chat", { body: { ...message, tools } })).text);
    expect(end.find(({ type }) => type === "tool-result")).toMatchObject({ content: '{"shown":true}' });
    const listed = (await server.call("GET", "/tools")).json as ToolsResponse;
    expect(listed.tools.map(({ name, approval, origin }) => [name, approval, origin])).toEqual([
      ["look", "never", "host"],
      ["pay", "always", "host"],
    ]);
    expect((await server.call("GET", "/grants")).json).toEqual({ grants: [] });
  });

  it("remembers an approval as the caller says, until it is revoked", async () => {
    const server = await paying();
    await server.call("POST", "/chat", { body: message });
    const [request] = await pendingOf(server);
    const { requestId = "", argumentsHash } = request ?? {};
    const scope = { in: "owner", where: { amount: 3 } };
    const body = { decision: "allow", argumentsHash, scope };
    await server.call("POST", `/conversations/c1/pending/${requestId}`, { body });
    const { grants } = (await server.call("GET", "/grants")).json as { grants: { id: string }[] };
    expect(grants).toMatchObject([{ toolName: "pay", scope, requestId }]);
    const path = `/grants/${grants[0]?.id}`;
    expect((await server.call("DELETE", path)).json).toMatchObject({ removed: true });
    expect((await server.call("DELETE", path)).json).toMatchObject({ removed: false });
  });
});

describe("the scope `approve`", () => {
  it("decides on approvals, which `write` does not, and on nothing else", async () => {
    const server = await paying({ auth: "keys" });
    const [writer, approver, reader] = [
      await server.key("ann", ["write"]),
      await server.key("ann", ["read", "approve"]),
      await server.key("ann", ["read"]),
    ];
    const stranger = await server.key("bob", ["admin"]);
    await server.call("POST", "/chat", { key: writer, body: message });
    const [request] = await pendingOf(server, approver);
    const { requestId = "", argumentsHash } = request ?? {};
    const path = `/conversations/c1/pending/${requestId}`;
    const body = { decision: "allow", argumentsHash };
    for (const key of [writer, reader]) {
      expect((await server.call("POST", path, { key, body })).status).toBe(403);
    }
    expect((await server.call("POST", path, { key: stranger, body })).status).toBe(404);
    expect(await pendingOf(server, stranger)).toEqual([]);
    const send = await server.call("POST", "/chat", { key: approver, body: { message: "x" } });
    expect(send.status).toBe(403);
    const allowed = await server.call("POST", path, { key: approver, body });
    expect(allowed.json).toMatchObject({ response: { by: { owner: "ann", label: approver.slice(0, 11) } } });
  });

  it("is not needed for the output of a caller's own tool, and does not suffice for it", async () => {
    const server = await paying({
      auth: "keys",
      script: () => [[toolCall("page", {})], [text("Done.")]],
    });
    const [writer, approver] = [await server.key("ann"), await server.key("ann", ["read", "approve"])];
    await server.call("POST", "/chat", { key: writer, body: { ...message, tools: [{ name: "page" }] } });
    const [request] = await pendingOf(server, writer);
    const path = `/conversations/c1/pending/${request?.requestId}`;
    const body = { decision: "output", value: "shown" };
    expect((await server.call("POST", path, { key: approver, body })).status).toBe(403);
    expect((await server.call("POST", path, { key: writer, body })).status).toBe(200);
  });
});

describe("chat.respond", () => {
  it("answers a request, and a later one with the decision in force", async () => {
    const server = await paying();
    const [one, two] = [await server.socket(), await server.socket()];
    one.send({ type: "chat.send", ...message });
    await one.next("chat.receipt");
    let waiting: unknown;
    while (waiting === undefined) {
      const { event } = await one.next("chat.delta");
      if (event.type === "status") waiting = event.waiting;
    }
    const [request] = await pendingOf(server);
    const { requestId = "", argumentsHash } = request ?? {};
    const respond = { type: "chat.respond", conversationId: "c1", requestId };
    one.send({ ...respond, decision: "allow", argumentsHash });
    expect(await one.next("chat.responded")).toMatchObject({
      requestId,
      repeated: false,
      response: { via: "socket" },
    });
    two.send({ ...respond, decision: "deny" });
    expect(await two.next("chat.error")).toMatchObject({
      code: "already_decided",
      requestId,
      response: { decision: "allow" },
    });
  });
});
