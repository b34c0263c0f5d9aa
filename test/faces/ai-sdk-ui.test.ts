import type { Tool } from "@parley/core";
import { type Gate, part, pause, reasoning, type ScriptSource, text, toolCall, usage } from "@parley/testing";
import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { ParleyChatTransport } from "../../packages/client/src/ai-sdk/index.js";
import {
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from "../../packages/server/src/test-server.test-support.js";
import { type ChatSdk, comparable, createChat, type PageChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

/** Approves and runs. */
const pay: Tool = { name: "pay", approval: "always", execute: () => "paid" };

/** Asks while it runs. */
const survey: Tool = {
  name: "survey",
  async execute(_, { ask }) {
    await ask?.({ message: "Tea or coffee?" });
    return "noted";
  },
};

/** Returns the model's script, selected by the last word of the user. */
function script(at: Gate): ScriptSource {
  return ({ messages }) => {
    const asked = messages
      .findLast(({ role }) => role === "user")
      ?.content.findLast(({ type }) => type === "text");
    const said = asked?.type === "text" ? asked.text : "";
    const isFirst = messages.at(-1)?.role === "user";
    const answer = [text(`You said: ${said}`, { size: 3 }), usage(20, 8)];
    if (said.includes("wait")) return [text("One moment. "), pause(at), ...answer];
    if (said.includes("cite")) {
      const sources = [
        part({ type: "source", url: "https://example.org/a", title: "A" }),
        part({ type: "source", id: "s2", url: "https://example.org/b" }),
        part({ type: "source", title: "a book" }),
      ];
      return [text("As is known. "), ...sources, ...answer];
    }
    if (!isFirst) return answer;
    if (said.includes("look"))
      return [reasoning("Let me see.", { size: 4 }), text("Looking. "), toolCall("look", {})];
    if (said.includes("pay")) return [text("I need to pay. "), toolCall("pay", { sum: 3 })];
    if (said.includes("survey")) return [toolCall("survey", {})];
    if (said.includes("page")) return [toolCall("page", { place: "here" })];
    return answer;
  };
}

function start(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer({ script, tools: [pay, survey], ...options });
}

async function history(server: TestServer, id = "chat"): Promise<UIMessage[]> {
  return (await server.call("GET", `/api/chat/${id}/messages`)).json as UIMessage[];
}

const transports = ["default", "own"] as const;

function transportOf(sdk: ChatSdk, kind: (typeof transports)[number], server: TestServer, body: object = {}) {
  const api = `${server.url}/api/chat`;
  return kind === "own"
    ? (new ParleyChatTransport({ api, body }) as never)
    : new sdk.DefaultChatTransport({ api, body });
}

const cases = sdks.flatMap(({ version, sdk }) => transports.map((kind) => ({ version, sdk, kind })));

describe.each(cases)("useChat of version $version with the $kind transport", ({ sdk, kind }) => {
  function open(
    server: TestServer,
    init: Partial<Parameters<typeof createChat>[1]> & { body?: object } = {},
  ): PageChat {
    const { body, ...rest } = init;
    return createChat(sdk, { id: "chat", transport: transportOf(sdk, kind, server, body), ...rest });
  }

  it("sends messages and shows the answers as history has them", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ text: "hello" });
    await chat.sendMessage({ text: "please look" });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    const parts = chat.messages.at(-1)?.parts.map(({ type }) => type);
    expect(parts).toEqual(["step-start", "reasoning", "text", "dynamic-tool", "step-start", "text"]);
    expect(chat.messages.at(-1)?.metadata).toMatchObject({ model: "scripted/one", reason: "stop" });
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
  });

  it("shows the sources that an answer names, live and in history", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ text: "cite" });
    expect(chat.messages.at(-1)?.parts.filter(({ type }) => type === "source-url")).toMatchObject([
      { url: "https://example.org/a", title: "A" },
      { sourceId: "s2", url: "https://example.org/b" },
    ]);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
  });

  it("resumes a running answer after a reload, also in a second tab", async () => {
    const server = await start();
    const first = open(server);
    const sending = first.sendMessage({ text: "wait" });
    await expect.poll(() => JSON.stringify(first.messages)).toContain("One moment");
    const shown = await history(server);
    expect(shown.map(({ role }) => role)).toEqual(["user"]);
    const second = open(server, { messages: shown });
    const resuming = second.resumeStream();
    await expect.poll(() => JSON.stringify(second.messages)).toContain("One moment");
    server.gate.open();
    await Promise.all([sending, resuming]);
    const messages = comparable(await history(server));
    expect(comparable(first.messages)).toEqual(messages);
    expect(comparable(second.messages)).toEqual(messages);
    await second.resumeStream();
    expect([second.status, comparable(second.messages)]).toEqual(["ready", messages]);
  });

  it("edits and regenerates behind one chat id", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ text: "one" });
    await chat.sendMessage({ text: "two" });
    const before = chat.messages.at(-1)?.id;
    await chat.regenerate();
    expect(chat.messages).toHaveLength(4);
    expect(chat.messages.at(-1)?.id).not.toBe(before);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    const [question] = chat.messages;
    await chat.sendMessage({ text: "three", messageId: question?.id ?? "" });
    expect(JSON.stringify(chat.messages)).toContain("You said: three");
    expect(chat.messages).toHaveLength(2);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    await chat.sendMessage({ text: "four" });
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    expect((await server.runtime.forOwner("local").list()).conversations).toHaveLength(3);
  });

  it("stops on the server, with what there was", async () => {
    const server = await start();
    const chat = open(server);
    const sending = chat.sendMessage({ text: "wait" });
    await expect.poll(() => JSON.stringify(chat.messages)).toContain("One moment");
    const stopped = await server.call("POST", "/api/chat/chat/stop");
    expect([stopped.status, stopped.json]).toMatchObject([200, { abortedTurn: true }]);
    await sending;
    expect([chat.status, chat.messages.at(-1)?.metadata]).toMatchObject(["ready", { reason: "aborted" }]);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    expect((await server.call("POST", "/api/chat/chat/stop")).json).toMatchObject({ abortedTurn: false });
    expect((await server.call("POST", "/api/chat/none/stop")).status).toBe(200);
  });

  it.each([true, false])("lets the page decide on a call: %s", async (approved) => {
    const server = await start();
    const chat = open(server, {
      sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    await chat.sendMessage({ text: "pay" });
    expect(chat.messages).toHaveLength(2);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    const reloaded = open(server, {
      messages: await history(server),
      sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    const part = reloaded.messages.at(-1)?.parts.findLast(({ type }) => type === "dynamic-tool");
    expect(part).toMatchObject({ state: "approval-requested", toolName: "pay", input: { sum: 3 } });
    const { id } = (part as { approval: { id: string } }).approval;
    await reloaded.addToolApprovalResponse({ id, approved, reason: "because" });
    await expect.poll(() => reloaded.status).toBe("ready");
    await expect.poll(() => JSON.stringify(reloaded.messages)).toContain("You said: pay");
    await expect.poll(() => reloaded.messages.at(-1)?.metadata).toMatchObject({ reason: "stop" });
    const messages = await history(server);
    expect(comparable(reloaded.messages)).toEqual(comparable(messages));
    const decided = messages.at(-1)?.parts.find(({ type }) => type === "dynamic-tool");
    expect(decided).toMatchObject({
      state: approved ? "output-available" : "output-denied",
      approval: { id, approved, reason: "because" },
    });
  });

  it("runs tools of the page, once", async () => {
    const server = await start();
    let runs = 0;
    const tools = { page: { description: "Shows", parameters: { type: "object" } } };
    const chat: PageChat = open(server, {
      body: { tools },
      sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: call }) => {
        runs += 1;
        void chat.addToolOutput({
          tool: call.toolName,
          toolCallId: call.toolCallId,
          output: { shown: true },
        });
      },
    });
    await chat.sendMessage({ text: "page" });
    await expect.poll(() => JSON.stringify(chat.messages)).toContain("You said: page");
    await expect.poll(() => chat.messages.at(-1)?.metadata).toMatchObject({ reason: "stop" });
    expect([runs, chat.messages.length]).toEqual([1, 2]);
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
    const part = chat.messages.at(-1)?.parts.find(({ type }) => type === "dynamic-tool");
    expect(part).toMatchObject({ state: "output-available", output: { shown: true } });
  });

  it("shows what a running tool asks, and how it was answered", async () => {
    const server = await start();
    const chat = open(server);
    const sending = chat.sendMessage({ text: "survey" });
    const question = () => chat.messages.at(-1)?.parts.find(({ type }) => type === "data-parley-question");
    await expect.poll(question).toMatchObject({ data: { toolName: "survey", reason: "Tea or coffee?" } });
    const { requestId } = (question() as unknown as { data: { requestId: string } }).data;
    const path = `/conversations/chat/pending/${encodeURIComponent(requestId)}`;
    const body = { decision: "answer", value: "tea" };
    expect((await server.call("POST", path, { body })).status).toBe(200);
    await sending;
    expect(question()).toMatchObject({ data: { decision: "answer" } });
    const call = chat.messages.at(-1)?.parts.find(({ type }) => type === "dynamic-tool");
    expect(call).toMatchObject({ output: "noted", providerExecuted: true });
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
  });

  it("denies what waits when another message is sent", async () => {
    const server = await start();
    const chat = open(server);
    await chat.sendMessage({ text: "pay" });
    await chat.sendMessage({ text: "never mind" });
    const messages = await history(server);
    expect(messages).toHaveLength(4);
    expect(JSON.stringify(messages[1])).toContain("output-denied");
    expect(comparable(chat.messages.slice(2))).toEqual(comparable(messages.slice(2)));
  });

  it("queues a message and shows its own answer", async () => {
    const server = await start();
    const first = open(server);
    const sending = first.sendMessage({ text: "wait" });
    await expect.poll(() => JSON.stringify(first.messages)).toContain("One moment");
    const queue: unknown[] = [];
    const second = open(server, {
      messages: await history(server),
      body: { ifBusy: "queue" },
      onData: (part) => queue.push(part),
    });
    const queued = second.sendMessage({ text: "next" });
    await expect.poll(() => JSON.stringify(queue)).toContain('"text":"next"');
    server.gate.open();
    await Promise.all([sending, queued]);
    expect(second.messages.map(({ role }) => role)).toEqual(["user", "user", "assistant"]);
    expect(comparable(second.messages.slice(-2))).toEqual(comparable((await history(server)).slice(-2)));
  });

  it("shows a failed turn as failed, here and in history", async () => {
    const server = await start({
      script: () => () => {
        throw new Error("no such script");
      },
    });
    const chat = open(server);
    await chat.sendMessage({ text: "hello" });
    expect(chat.status).toBe("error");
    expect(chat.messages.at(-1)?.metadata).toMatchObject({
      reason: "error",
      error: { code: "provider_rejected" },
    });
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
  });
});

describe("a page that has only a part of an answer which was sealed meanwhile", () => {
  const send = (server: TestServer, init: RequestInit = {}) =>
    fetch(`${server.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: "chat",
        messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "wait" }] }],
      }),
      ...init,
    });
  const resume = (server: TestServer, query = "") => server.call("GET", `/api/chat/chat/stream${query}`);
  const sealed = (server: TestServer) => server.runtime.forOwner("local").last("chat");

  it("is sent all of it, because it read the messages before", async () => {
    const server = await start();
    const answer = await send(server);
    expect(await history(server)).toHaveLength(1);
    server.gate.open();
    expect(await answer.text()).toContain('"type":"finish"');
    const replay = await resume(server);
    expect([replay.status, replay.text]).toMatchObject([200, expect.stringContaining("You said: wait")]);
    expect(replay.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("is sent all of it, because its stream was cut", async () => {
    const server = await start();
    const leaving = new AbortController();
    await send(server, { signal: leaving.signal });
    const open = /^parley_sse_connections (\d+)$/m;
    const streams = async () => open.exec((await server.call("GET", "/metrics")).text)?.[1];
    expect(await streams()).toBe("1");
    leaving.abort();
    await expect.poll(streams).toBe("0");
    server.gate.open();
    await sealed(server);
    expect((await resume(server)).status).toBe(200);
  });

  it("is sent nothing where no page has a part of it, unless it says what it has", async () => {
    const server = await start();
    server.gate.open();
    await (await send(server)).text();
    expect((await resume(server)).status).toBe(204);
    expect((await resume(server, "?have=u1")).status).toBe(200);
    const [, answer] = await history(server);
    expect((await resume(server, `?have=${answer?.id}`)).status).toBe(204);
    expect((await server.call("GET", "/api/chat/unknown/stream")).status).toBe(204);
  });
});

describe("a request to the face", () => {
  const post = (server: TestServer, body: object) => server.call("POST", "/api/chat", { body });
  const user = (parts: readonly object[], id = "u1") => ({ id, role: "user", parts });
  const said = (text: string, id?: string) => user([{ type: "text", text }], id);

  it.each([
    [
      "a file of an address on the web",
      { messages: [user([{ type: "file", mediaType: "image/png", url: "https://example.org/a.png" }])] },
      "not fetched",
    ],
    ["no text", { messages: [user([{ type: "text", text: " " }])] }, "neither text nor files"],
    ["no message", { messages: [] }, "must not be empty"],
    ["a system message", { messages: [{ ...said("x"), role: "system" }] }, "messages.0.role"],
    [
      "an unknown answer",
      { messages: [{ ...said("x", "a1"), role: "assistant" }] },
      "no answer of this chat",
    ],
    ["a bad chat id", { id: "a/b", messages: [said("x")] }, "id: 1 to 128"],
  ])("with %s is refused, and says why", async (_, body, why) => {
    const server = await start();
    const answer = await post(server, { id: "chat", ...body });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(why)]);
    expect(await history(server)).toEqual([]);
  });

  it("is answered with headers and frames that clients and proxies know", async () => {
    const server = await start();
    const answer = await post(server, { id: "chat", messages: [said("hello")] });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": expect.stringContaining("text/event-stream"),
      "x-vercel-ai-ui-message-stream": "v1",
      "x-accel-buffering": "no",
      "x-conversation-id": "chat",
    });
    const frames = answer.text.split("\n\n").filter((frame) => frame.startsWith("data: "));
    expect(frames[0]).toContain(`"messageId":"${answer.headers.get("x-resumable-stream-id")}"`);
    expect(frames.at(-1)).toBe("data: [DONE]");
  });

  it("while a turn runs is refused, by a new message, an edit and a regeneration of an earlier one", async () => {
    const server = await start();
    await post(server, { id: "chat", messages: [said("one")] });
    await server.runtime.forOwner("local").send({ conversationId: "chat", message: "wait" });
    const regenerate = { id: "chat", trigger: "regenerate-message", messages: [said("one")] };
    for (const body of [
      { id: "chat", messages: [said("two", "u2")] },
      { id: "chat", messageId: "u1", messages: [said("other")] },
      regenerate,
    ]) {
      const answer = await post(server, body);
      expect([answer.status, answer.json]).toMatchObject([409, { code: "turn_active" }]);
    }
  });

  it("that repeats the newest message is answered with the same turn, and one that repeats an older one is refused", async () => {
    const server = await start();
    const [first, again] = [
      await post(server, { id: "chat", messages: [said("one")] }),
      await post(server, { id: "chat", messages: [said("one")] }),
    ];
    expect(again.headers.get("x-resumable-stream-id")).toBe(first.headers.get("x-resumable-stream-id"));
    await post(server, { id: "chat", messages: [said("two", "u2")] });
    const late = await post(server, { id: "chat", messages: [said("one")] });
    expect([late.status, late.json]).toMatchObject([409, { code: "message_conflict" }]);
    expect(await history(server)).toHaveLength(4);
  });

  it("keeps data parts and metadata of the user's message, and never shows them to the model", async () => {
    const server = await start();
    const place = { type: "data-place", id: "p1", data: { x: 1 } };
    const message = { ...user([{ type: "text", text: "hello" }, place]), metadata: { from: "phone" } };
    await post(server, { id: "chat", messages: [message] });
    expect((await history(server))[0]).toEqual(message);
    const [call] = server.provider.calls;
    expect(JSON.stringify(call?.params)).not.toMatch(/phone|data-place/);
  });

  it("may name model, effort and instructions, also as assistant-ui does", async () => {
    const server = await start();
    const body = { model: "scripted/two", reasoningEffort: "low", system: "Be brief." };
    await post(server, { id: "chat", messages: [said("hello")], ...body, callSettings: {}, config: {} });
    expect((await history(server)).at(-1)?.metadata).toMatchObject({ model: "scripted/two" });
    expect(JSON.stringify(server.provider.calls[0])).toContain("Be brief.");
  });

  it("that decides needs the scope for it", async () => {
    const server = await start({ auth: "keys" });
    const [writer, approver] = [
      await server.key("ann", ["write"]),
      await server.key("ann", ["write", "approve"]),
    ];
    const call = (key: string, message: object) =>
      server.call("POST", "/api/chat", { key, body: { id: "chat", messages: [message] } });
    await call(writer, said("pay"));
    const read = await server.call("GET", "/api/chat/chat/messages", { key: writer });
    const answer = (read.json as UIMessage[]).at(-1) as UIMessage;
    const parts = answer.parts.map((part) =>
      "approval" in part && part.approval !== undefined
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
        : part,
    );
    const refused = await call(writer, { ...answer, parts });
    expect([refused.status, refused.json]).toMatchObject([403, { code: "forbidden" }]);
    expect((await call(approver, { ...answer, parts })).text).toContain('"output":"paid"');
    const late = await call(approver, {
      ...answer,
      parts: parts.map((part) =>
        "approval" in part ? { ...part, approval: { ...part.approval, approved: false } } : part,
      ),
    });
    expect(late.text, "a late contrary decision gets what is in force").toContain('"output":"paid"');
  });

  it("is cut, not ended, when its key is revoked", async () => {
    const server = await start({ auth: "keys", pace: { keyMs: 20 } });
    const key = await server.key("ann");
    const answer = await fetch(`${server.url}/api/chat`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ id: "chat", messages: [said("wait")] }),
    });
    const reading = answer.text();
    for (const { id } of await server.runtime.keys.list()) await server.runtime.keys.remove(id);
    await expect(reading).rejects.toThrow();
  });
});
