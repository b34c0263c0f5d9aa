import type { Tool } from "@parley/core";
import { type Gate, pause, reasoning, type ScriptSource, text, toolCall, usage } from "@parley/testing";
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

/** What the model does, by the last word of the user. */
function script(at: Gate): ScriptSource {
  return ({ messages }) => {
    const asked = messages
      .findLast(({ role }) => role === "user")
      ?.content.findLast((part) => part.type === "text");
    const said = asked?.type === "text" ? asked.text : "";
    const isFirst = messages.at(-1)?.role === "user";
    const answer = [text(`You said: ${said}`, { size: 3 }), usage(20, 8)];
    if (said.includes("wait")) return [text("One moment. "), pause(at), ...answer];
    if (!isFirst) return answer;
    if (said.includes("look"))
      return [reasoning("Let me see.", { size: 4 }), text("Looking. "), toolCall("look", {})];
    if (said.includes("pay")) return [text("I need to pay. "), toolCall("pay", { sum: 3 })];
    if (said.includes("page")) return [toolCall("page", { place: "here" })];
    return answer;
  };
}

function start(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer({ script, tools: [pay], ...options });
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
    expect(chat.messages.at(-1)?.metadata).toMatchObject({ reason: "error", error: { code: "provider_rejected" } });
    expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
  });
});
