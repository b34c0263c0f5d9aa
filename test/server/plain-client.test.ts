import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { PlainClient } from "./plain-client.js";

interface Listed {
  readonly conversations: readonly { readonly id: string; readonly title: string; readonly status: string }[];
}

let server: TestServer;
let page: PlainClient;
const pages: PlainClient[] = [];

const open = async () => {
  const client = await PlainClient.open(server.url);
  pages.push(client);
  return client;
};

beforeEach(async () => {
  server = await startTestServer();
  page = await open();
});
afterEach(() => {
  for (const client of pages.splice(0)) client.close();
});

describe("a client that knows the wire's document alone", () => {
  it("lists conversations by several statuses", async () => {
    const [running, idle, closed] = [page.draft(), page.draft(), page.draft()];
    for (const id of [idle, closed]) {
      page.send(id, "hello");
      await page.sealed(id);
    }
    await server.call("POST", `/conversations/${closed}/close`);
    page.send(running, "wait");
    await page.until(() => page.lines(running).length > 0);
    const ids = async (query: string) =>
      (await page.get<Listed>(`/conversations${query}`)).conversations.map(({ id }) => id).toSorted();
    expect(await ids("?status=active,idle")).toEqual([running, idle].toSorted());
    expect(await ids("?status=closed")).toEqual([closed]);
    expect(await ids("")).toHaveLength(3);
    const refused = await server.call("GET", "/conversations?status=active,asleep");
    expect([refused.status, refused.json]).toMatchObject([400, { code: "invalid_request" }]);
    expect(JSON.stringify(refused.json)).toContain("status");
    server.gate.open();
    await page.sealed(running);
  });

  it("reads an empty log of a draft, sends, and sees the whole turn", async () => {
    const id = page.draft();
    expect(await page.history(id)).toEqual({ chunks: [], latestSeq: 0 });
    expect(await page.get<Listed>("/conversations")).toEqual({ conversations: [] });
    page.send(id, "hello there");
    await page.sealed(id);
    expect(page.lines(id)).toEqual(["user: hello there", "assistant: You said: hello there"]);
    const { chunks, latestSeq } = await page.history(id);
    expect([chunks.map(({ seq, role }) => [seq, role]), latestSeq]).toEqual([
      [
        [1, "user"],
        [2, "assistant"],
      ],
      2,
    ]);
    expect(await page.history(id, 2)).toEqual({ chunks: [], latestSeq: 2 });
    // Without a seq it is not a client that follows, and an unknown id is unknown.
    expect((await server.call("GET", `/conversations/${page.draft()}`)).status).toBe(404);
  });

  it("sets up a conversation before its first message", async () => {
    const settings = [
      ["title", { title: "My own" }],
      ["model", { model: "scripted/two" }],
      ["reasoning-effort", { reasoningEffort: "low" }],
      ["instructions", { instructions: "Be brief." }],
      ["compact-threshold", { compactThreshold: 1_000 }],
    ] as const;
    for (const [name, body] of settings) {
      const id = page.draft();
      expect(await page.put(`/conversations/${id}/${name}`, body)).toMatchObject(body);
      expect(await page.get(`/conversations/${id}/${name}`)).toMatchObject(body);
    }
    const id = page.draft();
    await page.put(`/conversations/${id}/reasoning-effort`, { reasoningEffort: null });
    expect(await page.get(`/conversations/${id}/reasoning-effort`)).toMatchObject({ effective: "high" });
    await page.put(`/conversations/${id}/model`, { model: "scripted/two" });
    page.send(id, "hello");
    await page.sealed(id);
    expect(server.provider.calls.at(-1)?.params.metadata?.model).toBe("two");
    // Two that set at once make one conversation.
    const both = page.draft();
    await Promise.all([
      page.put(`/conversations/${both}/title`, { title: "Mine" }),
      page.put(`/conversations/${both}/model`, { model: "scripted/two" }),
    ]);
    expect(await page.get(`/conversations/${both}/meta`)).toMatchObject({
      title: "Mine",
      model: "scripted/two",
    });
    const unknown = await server.call("PUT", `/conversations/${page.draft()}/model`, {
      body: { model: "no/model" },
    });
    expect([unknown.status, unknown.json]).toMatchObject([400, { code: "model_unavailable" }]);
  });

  it("follows the queue by its surface", async () => {
    const id = page.draft();
    page.send(id, "wait");
    await page.until(() => page.lines(id).length > 0);
    const other = await open();
    other.watchQueue(id);
    await other.until(() => other.queues.has(id));
    page.queue(id, "afterwards");
    await other.until(() => other.queues.get(id)?.length === 1);
    expect(other.queues.get(id)).toEqual(["afterwards"]);
    server.gate.open();
    await other.until(() => other.queues.get(id)?.length === 0);
    await page.sealed(id, 2);
    expect(page.lines(id)).toEqual([
      "user: wait",
      "assistant: One moment. You said: wait",
      "user: afterwards",
      "assistant: You said: afterwards",
    ]);
  });

  it("reads the last answer by `content`", async () => {
    const id = page.draft();
    page.send(id, "hello");
    await page.sealed(id);
    expect(await page.get(`/conversations/${id}/last`)).toMatchObject({ content: "You said: hello" });
  });

  it("queues on an idle conversation, new or not, and receives the turn that it begins", async () => {
    const id = page.draft();
    page.queue(id, "first");
    await page.sealed(id);
    const other = await open();
    other.queue(id, "second");
    await other.sealed(id);
    await page.sealed(id, 2);
    expect(other.lines(id)).toEqual(["user: second", "assistant: You said: second"]);
    expect(page.lines(id)).toEqual(["user: first", "assistant: You said: first", ...other.lines(id)]);
  });

  it("subscribes again on one socket, and shows everything once", async () => {
    const id = page.draft();
    page.send(id, "wait");
    await page.until(() => page.lines(id).at(-1)?.endsWith("One moment. ") === true);
    const late = await open();
    late.subscribe(id);
    late.subscribe(id);
    await late.until(() => late.lines(id).at(-1)?.endsWith("One moment. ") === true);
    late.subscribe(id);
    page.subscribe(id);
    server.gate.open();
    await Promise.all([page.sealed(id), late.sealed(id)]);
    const whole = ["user: wait", "assistant: One moment. You said: wait"];
    expect([page.lines(id), late.lines(id)]).toEqual([whole, whole]);
  });
});
