import type { Tool } from "@parley/core";
import { type Gate, gate, pause, reasoning, type ScriptSource, text, toolCall, usage } from "@parley/testing";
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ParleyChatTransport } from "../../packages/client/src/ai-sdk/index.js";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { type ChatSdk, comparable, createChat, cutAfter, lastWhole, type PageChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

/** Plan of one generated answer. */
interface Plan {
  /** The steps that call a tool, before the last one. */
  readonly steps: readonly { readonly thinks: boolean; readonly speaks: boolean; readonly calls: number }[];
  readonly size: number;
}

const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(
    fc.record({ thinks: fc.boolean(), speaks: fc.boolean(), calls: fc.integer({ min: 1, max: 2 }) }),
    { maxLength: 2 },
  ),
  size: fc.integer({ min: 2, max: 9 }),
});

/** Prints while it works. */
const echo: Tool = {
  name: "echo",
  execute: (_, { output }) => {
    output?.("half ");
    return "echoed";
  },
};

function scriptOf(plan: Plan, at: Gate): ScriptSource {
  return ({ messages }) => {
    const since = messages.length - 1 - messages.findLastIndex(({ role }) => role === "user");
    const done = messages.slice(messages.length - since).filter(({ role }) => role === "assistant").length;
    const step = plan.steps[done];
    if (step === undefined)
      return [pause(at), text("And this is the end of it.", { size: plan.size }), usage(9, 3)];
    return [
      ...(step.thinks ? [reasoning("Thinking about it", { size: plan.size })] : []),
      ...(step.speaks ? [text(`This is step ${done}. `, { size: plan.size })] : []),
      ...Array.from({ length: step.calls }, (_, index) => toolCall("echo", { index })),
    ];
  };
}

async function history(server: TestServer): Promise<UIMessage[]> {
  return (await server.call("GET", "/api/chat/chat/messages")).json as UIMessage[];
}

/** Creates a transport whose first stream breaks off after a number of chunks. */
function breaking(
  transport: ChatTransport<UIMessage>,
  count: number,
  onBroken: () => void,
): ChatTransport<UIMessage> {
  let isFirst = true;
  const cut = (stream: ReadableStream<UIMessageChunk>) => {
    if (!isFirst) return stream;
    isFirst = false;
    return cutAfter(stream, count, onBroken);
  };
  return {
    ...(transport.resumeStreamIsReplay === undefined
      ? {}
      : { resumeStreamIsReplay: transport.resumeStreamIsReplay }),
    sendMessages: async (options) => cut(await transport.sendMessages(options)),
    reconnectToStream: (options) => transport.reconnectToStream(options),
  };
}

/** Counts the chunks of the whole answer, so that every cut can be tried. */
async function chunksOf(sdk: ChatSdk, plan: Plan): Promise<number> {
  const at = gate();
  at.open();
  const server = await startTestServer({ script: () => scriptOf(plan, at), tools: [echo] });
  let count = 0;
  const inner = new sdk.DefaultChatTransport({ api: `${server.url}/api/chat` });
  const counting: ChatTransport<UIMessage> = {
    sendMessages: async (options) =>
      (await inner.sendMessages(options)).pipeThrough(
        new TransformStream({
          transform(chunk, controller) {
            count += 1;
            controller.enqueue(chunk);
          },
        }),
      ),
    reconnectToStream: (options) => inner.reconnectToStream(options),
  };
  await createChat(sdk, { id: "chat", transport: counting }).sendMessage({ text: "go" });
  return count;
}

/** Sends, breaks the page's stream off, and reconnects the page in each of the possible ways. */
async function cutAndReturn(sdk: ChatSdk, plan: Plan, cut: number, isLate: boolean): Promise<void> {
  const at = gate();
  const server = await startTestServer({ script: () => scriptOf(plan, at), tools: [echo] });
  if (isLate) at.open();
  const api = `${server.url}/api/chat`;
  const transport = () => new sdk.DefaultChatTransport({ api });
  const broken = gate();
  const resumable = new sdk.DefaultChatTransport({
    api,
    // The last complete message: the server may have sent all of the answer, and assume that the page has it.
    prepareReconnectToStreamRequest: () => ({ api: `${api}/chat/stream?have=${lastWhole(page)}` }),
  });
  let isBroken = false;
  const onBroken = () => {
    isBroken = true;
    broken.open();
  };
  const page: PageChat = createChat(sdk, { id: "chat", transport: breaking(resumable, cut, onBroken) });
  const sending = page.sendMessage({ text: "go" });
  await Promise.race([broken.opened, sending, isLate ? sending : at.reached]);
  // A reload, and another tab: both read the messages, then resume.
  const tabs = await Promise.all(
    ["reload", "tab"].map(async () =>
      createChat(sdk, { id: "chat", messages: await history(server), transport: transport() }),
    ),
  );
  const resuming = tabs.map((tab) => tab.resumeStream());
  // The page that lost its connection resumes in place, during the answer or after its end.
  const isEarly = isBroken && !isLate;
  if (isEarly) resuming.push(sending.then(() => page.resumeStream()));
  at.open();
  await Promise.all([sending, ...resuming]);
  if (page.status === "error") {
    page.clearError();
    await page.resumeStream();
  }
  await server.runtime.forOwner("local").last("chat");
  const expected = comparable(await history(server));
  expect(expected).toHaveLength(2);
  for (const [name, chat] of [
    ["page", page],
    ["reload", tabs[0]],
    ["tab", tabs[1]],
  ] as const) {
    expect([name, cut, comparable((chat as PageChat).messages)]).toEqual([name, cut, expected]);
  }
}

/** Breaks the connection of Parley's own transport off repeatedly; the page must not notice. */
async function cutOwnTransport(sdk: ChatSdk, plan: Plan, every: number): Promise<void> {
  const at = gate();
  at.open();
  const server = await startTestServer({ script: () => scriptOf(plan, at), tools: [echo] });
  let connections = 0;
  const transport = new ParleyChatTransport({
    api: `${server.url}/api/chat`,
    maxDelayMs: 1,
    attempts: 1_000,
    fetch: async (input, init) => {
      connections += 1;
      const response = await fetch(input, init);
      if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
        return response;
      }
      return new Response(cutBytes(response.body, every * connections), response);
    },
  });
  const chat = createChat(sdk, { id: "chat", transport: transport as never });
  await chat.sendMessage({ text: "go" });
  expect([chat.status, chat.error]).toEqual(["ready", undefined]);
  expect(connections).toBeGreaterThan(1);
  expect(comparable(chat.messages)).toEqual(comparable(await history(server)));
}

/** Breaks a body off after `most` bytes. */
function cutBytes(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  let left = most;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        controller.enqueue(bytes.subarray(0, left));
        left -= bytes.length;
        if (left < 0) controller.error(new TypeError("network error"));
      },
    }),
  );
}

describe.each(sdks)("the state of version $version", ({ sdk }) => {
  it("has one copy of every message, equal to history, wherever the stream was cut", async () => {
    const plan: Plan = { steps: [{ thinks: true, speaks: true, calls: 2 }], size: 5 };
    const count = await chunksOf(sdk, plan);
    expect(count).toBeGreaterThan(15);
    for (let cut = 0; cut <= count; cut += 1) await cutAndReturn(sdk, plan, cut, cut % 2 === 0);
  });

  it("has one copy of every message for any answer and any cut", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.nat(40), fc.boolean(), (plan, cut, isLate) =>
        cutAndReturn(sdk, plan, cut, isLate),
      ),
      { numRuns: 12 },
    );
  });

  it("does not show that the connection of Parley's transport was cut, however often", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 40, max: 400 }), (plan, every) =>
        cutOwnTransport(sdk, plan, every),
      ),
      { numRuns: 8 },
    );
  });
});
