import { createOpenAI } from "@ai-sdk/openai";
import { InMemoryMemoryStore } from "@parley/core";
import { ParleyError } from "@parley/core/errors";
import { type CanonicalMessage, interruptedResultText } from "@parley/core/messages";
import type { Tool } from "@parley/core/turn";
import { checkEventOrder } from "@parley/testing";
import { called, finish, hangingAfter, mockModel, said } from "@parley/testing/ai-sdk";
import { responsesEvents, startOpenAIHttpServer } from "@parley/testing/openai";
import type { AgentEvent } from "@parley/wire";
import { modelMessageSchema } from "ai";
import { describe, expect, it } from "vitest";
import { toAiSdkMessages } from "../request/to-model-messages.js";
import { Agent } from "./agent.js";
import type { AgentStream } from "./agent-stream.js";
import { createPlainMemoryStore, type PlainMemoryStore } from "./plain-memory-store.test-support.js";

const add: Tool<never> = {
  name: "add",
  schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
};

async function rows(store: PlainMemoryStore, threadId = "t1") {
  return store.listMessages({ threadId });
}

const shape = async (store: PlainMemoryStore) =>
  (await rows(store)).map(({ role, content }) => [role, ...content.parts.map(({ type }) => type)].join(" "));

async function read(stream: AgentStream): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function failure(promise: Promise<unknown>): Promise<ParleyError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ParleyError)) throw new Error(`no ParleyError: ${String(error)}`);
  return error;
}

describe("a turn of an agent", () => {
  it("creates the thread, stores the input before it calls the model, and the answer after it", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel([...said("t", "Hello ", "there"), finish()]);
    const agent = new Agent({ model, store });
    const stream = await agent.stream({ threadId: "t1", messages: "Hi", resourceId: "me" });
    expect(await shape(store)).toEqual(["user text"]);
    expect(store.threads.get("t1")).toMatchObject({ id: "t1", resourceId: "me" });
    const result = await stream.final;
    expect(result).toMatchObject({
      threadId: "t1",
      reason: "stop",
      text: "Hello there",
      usage: { inputTokens: 12 },
    });
    const stored = await rows(store);
    expect(stored.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(stored[1]).toEqual({ ...result.messages[0] });
    expect(stored[1]).toMatchObject({
      resourceId: "me",
      content: { metadata: { origin: { provider: "mock", model: "mock-1" } } },
    });
  });

  it("publishes its events in order, as often as wanted, and its text as it arrives", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel(
      [...said("t", "Let me."), ...called("c1", "add", '{"a":1,', '"b":2}'), finish("tool-calls")],
      [...said("t", "It is ", "3."), finish()],
    );
    const agent = new Agent({ model, store, tools: [add] });
    const stream = await agent.stream({ threadId: "t1", messages: "1+2?" });
    const text: string[] = [];
    const [events] = await Promise.all([
      read(stream),
      (async () => {
        for await (const piece of stream.textStream) text.push(piece);
      })(),
    ]);
    expect(text).toEqual(["Let me.", "It is ", "3."]);
    expect(checkEventOrder(events, { lastEvent: "done" })).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "stop" });
    expect(await read(stream)).toEqual(events);
    expect(await shape(store)).toEqual([
      "user text",
      "assistant text tool-invocation",
      "tool tool-invocation",
      "assistant text",
    ]);
  });

  it("runs without a database, and returns tool parts with their values", async () => {
    const store = new InMemoryMemoryStore();
    const model = mockModel(
      [...called("c1", "add", '{"a":1,', '"b":2}'), finish("tool-calls")],
      [...said("t", "3"), finish()],
      [...said("t", "Again 3"), finish()],
    );
    const agent = new Agent({ model, store, tools: [add] });
    const first = await (await agent.stream({ threadId: "t1", messages: "1+2?", resourceId: "me" })).final;
    const values = (messages: readonly CanonicalMessage[]) =>
      messages.flatMap(({ content }) =>
        content.parts.flatMap((part) =>
          part.type === "tool-invocation"
            ? [{ args: part.args, argsText: part.argsText, result: part.result, resultText: part.resultText }]
            : [],
        ),
      );
    const expected = [
      { args: { a: 1, b: 2 }, argsText: '{"a":1,"b":2}' },
      { result: { sum: 3 }, resultText: '{"sum":3}' },
    ];
    expect(values(first.messages)).toEqual(expected);
    expect(values(await store.listMessages({ threadId: "t1" }))).toEqual(expected);
    const second = await (await agent.stream({ threadId: "t1", messages: "Again?" })).final;
    expect(second.text).toBe("Again 3");
    expect(await store.getThreadById({ threadId: "t1" })).toMatchObject({ resourceId: "me" });
  });

  it("refuses a stored message that names no thread, with a clear error", async () => {
    const agent = new Agent({ model: mockModel([finish()]), store: new InMemoryMemoryStore() });
    const lost = { id: "lost", role: "user", type: "text", content: { format: 2, parts: [] } };
    const error = await failure(agent.stream({ threadId: "t1", messages: [lost as never] }));
    expect(error).toMatchObject({ code: "invalid_request" });
    expect(error.message).toContain('Message "lost" has no threadId');
  });

  it("shows the model earlier messages, its instructions and its results", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel(
      [...called("c1", "add", '{"a":1,"b":2}'), finish("tool-calls")],
      [...said("t", "3"), finish()],
      [...said("t", "You are welcome"), finish()],
    );
    const agent = new Agent({ model, store, tools: [add], instructions: "Be brief." });
    await (await agent.stream({ threadId: "t1", messages: "1+2?" })).final;
    await (await agent.stream({ threadId: "t1", messages: [{ content: "Thanks" }] })).final;
    expect(model.doStreamCalls[2]?.prompt).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ text: "1+2?" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", input: { a: 1, b: 2 } }] },
      { role: "tool", content: [{ toolCallId: "c1", output: { type: "json", value: { sum: 3 } } }] },
      { role: "assistant", content: [{ text: "3" }] },
      { role: "user", content: [{ text: "Thanks" }] },
    ]);
  });

  it("commits a call before its tool starts, and the result before the next step", async () => {
    const store = createPlainMemoryStore();
    const seen: string[][] = [];
    const watching: Tool<never> = {
      name: "look",
      execute: async () => {
        seen.push(await shape(store));
        return "ok";
      },
    };
    const model = mockModel([...called("c1", "look", "{}"), finish("tool-calls")], (_signal) => {
      return new ReadableStream({
        async start(controller) {
          seen.push(await shape(store));
          for (const part of [...said("t", "done"), finish()]) controller.enqueue(part);
          controller.close();
        },
      });
    });
    await (await new Agent({ model, store, tools: [watching] }).stream({ threadId: "t1", messages: "go" }))
      .final;
    expect(seen).toEqual([
      ["user text", "assistant tool-invocation"],
      ["user text", "assistant tool-invocation", "tool tool-invocation"],
    ]);
  });

  it("shows only the newest messages if limited, with no result without its call", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel(
      [...called("c1", "add", '{"a":1,"b":2}'), finish("tool-calls")],
      [...said("t", "3"), finish()],
    );
    const agent = new Agent({ model, store, tools: [add], historyLimit: 2 });
    await (await agent.stream({ threadId: "t1", messages: "1+2?" })).final;
    await (await agent.stream({ threadId: "t1", messages: "Thanks" })).final;
    expect(model.doStreamCalls[2]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("continues without a reader, or when a reader leaves", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel([...said("t", "a", "b", "c"), finish()]);
    const stream = await new Agent({ model, store }).stream({ threadId: "t1", messages: "go" });
    for await (const event of stream) if (event.type === "text-delta") break;
    expect((await stream.final).text).toBe("abc");
    expect(await shape(store)).toEqual(["user text", "assistant text"]);
  });

  it("stores a message with an id once, however often it is sent", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel([...said("t", "x"), finish()]);
    const agent = new Agent({ model, store });
    const messages = [{ id: "mine", content: "Hi" }];
    await (await agent.stream({ threadId: "t1", messages })).final;
    await (await agent.stream({ threadId: "t1", messages })).final;
    expect((await rows(store)).filter(({ role }) => role === "user")).toHaveLength(1);
    const sent = model.doStreamCalls[1]?.prompt ?? [];
    expect(sent.filter(({ role }) => role === "user").length).toBe(2);
    expect(sent.at(-1)).toMatchObject({ role: "user", content: [{ text: "Hi" }] });
  });

  it("accepts stored messages, and refuses those of another thread, none at all, and another owner's thread", async () => {
    const store = createPlainMemoryStore();
    const agent = new Agent({ model: mockModel([...said("t", "x"), finish()]), store });
    const message = {
      id: "u1",
      threadId: "t1",
      role: "user" as const,
      type: "text" as const,
      createdAt: new Date(),
      content: { format: 2 as const, parts: [{ type: "text" as const, text: "Hi" }] },
    };
    await (await agent.stream({ threadId: "t1", messages: [message], resourceId: "me" })).final;
    expect((await failure(agent.stream({ threadId: "t2", messages: [message] }))).code).toBe(
      "invalid_request",
    );
    expect((await failure(agent.stream({ threadId: "t1", messages: [] }))).code).toBe("invalid_request");
    const other = await failure(agent.stream({ threadId: "t1", messages: "Hi", resourceId: "you" }));
    expect(other.code).toBe("conversation_not_found");
    // A refused turn does not block the thread.
    await (await agent.stream({ threadId: "t1", messages: "again", resourceId: "me" })).final;
  });

  it("is the only one of its thread at a time", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel(hangingAfter(said("t", "x").slice(0, 2)), [...said("t", "y"), finish()]);
    const agent = new Agent({ model, store });
    const stream = await agent.stream({ threadId: "t1", messages: "go" });
    expect((await failure(agent.stream({ threadId: "t1", messages: "me too" }))).code).toBe("turn_active");
    for await (const event of stream) if (event.type === "text-delta") break;
    stream.stop();
    await stream.final;
    expect((await (await agent.stream({ threadId: "t1", messages: "now" })).final).text).toBe("y");
  });
});

describe("a turn that fails", () => {
  it("keeps what had arrived when it is stopped, and resolves", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel(hangingAfter(said("t", "par", "tial").slice(0, 3)));
    const abort = new AbortController();
    const agent = new Agent({ model, store });
    const stream = await agent.stream({ threadId: "t1", messages: "go", signal: abort.signal });
    let pieces = 0;
    for await (const event of stream) {
      if (event.type === "text-delta") pieces += 1;
      if (pieces === 2) abort.abort("with a reason");
    }
    expect(await stream.final).toMatchObject({ reason: "aborted", text: "partial" });
    expect((await rows(store)).at(-1)?.content.parts).toEqual([{ type: "text", text: "partial" }]);
  });

  it("answers the calls that were in progress when it is stopped", async () => {
    const store = createPlainMemoryStore();
    const model = mockModel([...called("c1", "wait", "{}"), finish("tool-calls")]);
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const wait: Tool<never> = {
      name: "wait",
      execute: () => {
        started();
        return new Promise(() => {});
      },
    };
    const stream = await new Agent({ model, store, tools: [wait] }).stream({
      threadId: "t1",
      messages: "go",
    });
    await running;
    stream.stop();
    expect((await stream.final).reason).toBe("aborted");
    expect((await rows(store)).at(-1)?.content.parts).toMatchObject([
      { toolCallId: "c1", state: "result", resultText: interruptedResultText, isError: true },
    ]);
  });

  it("keeps what had arrived when the model fails, answers its calls, and rejects with the failure it published", async () => {
    const store = createPlainMemoryStore();
    const failing = [
      ...said("t", "par"),
      ...called("c1", "add", "{}"),
      { type: "error", error: { code: "rate_limit_exceeded", message: "slow" } },
    ] as const;
    const model = mockModel([...failing, finish("error")], [...said("t", "better"), finish()]);
    const agent = new Agent({ model, store, tools: [add] });
    const stream = await agent.stream({ threadId: "t1", messages: "go" });
    const events = await read(stream);
    const error = await failure(stream.final);
    expect(error.code).toBe("rate_limited");
    expect(events.filter(({ type }) => type === "error")).toMatchObject([{ code: "rate_limited" }]);
    expect(events.at(-1)).toMatchObject({ type: "done", reason: "error" });
    expect(await shape(store)).toEqual([
      "user text",
      "assistant text tool-invocation",
      "tool tool-invocation",
      "assistant error",
    ]);
    // And the thread can be continued.
    expect((await (await agent.stream({ threadId: "t1", messages: "again" })).final).text).toBe("better");
    for (const message of toAiSdkMessages(await rows(store))) {
      expect(modelMessageSchema.safeParse(message).success).toBe(true);
    }
  });

  it("rejects at once if its input cannot be stored", async () => {
    const store = createPlainMemoryStore();
    store.beforeSave = () => {
      throw new Error("disk full");
    };
    const model = mockModel([...said("t", "x"), finish()]);
    const error = await failure(new Agent({ model, store }).stream({ threadId: "t1", messages: "go" }));
    expect(error.code).toBe("store_unavailable");
    expect(model.doStreamCalls).toHaveLength(0);
  });

  it("fails, and reports it once, if its answer cannot be stored", async () => {
    const store = createPlainMemoryStore();
    store.beforeSave = (messages) => {
      if (messages.some(({ role }) => role !== "user")) throw new Error("disk full");
    };
    for (const answer of [
      [...said("t", "x"), finish()],
      [...called("c1", "add", '{"a":1,"b":2}'), finish("tool-calls")],
    ]) {
      const agent = new Agent({ model: mockModel(answer), store, tools: [add] });
      const stream = await agent.stream({ threadId: "t1", messages: "go" });
      const events = await read(stream);
      expect((await failure(stream.final)).code).toBe("store_unavailable");
      expect(events.filter(({ type }) => type === "error")).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ type: "done", reason: "error" });
    }
  });
});

describe("an agent on @ai-sdk/openai", () => {
  it("carries reasoning through a step with tools and into the next turn", async () => {
    const server = await startOpenAIHttpServer((answer, _call, n) => {
      const items =
        n === 1
          ? ([
              { type: "reasoning", summary: ["I should add."], encrypted: "E1" },
              { type: "function_call", name: "add", arguments: '{"a": 1, "b": 2}' },
            ] as const)
          : ([{ type: "message", text: "It is 3." }] as const);
      void answer.send(responsesEvents(items)).then(answer.end);
    });
    try {
      const store = createPlainMemoryStore();
      const model = createOpenAI({ apiKey: "sk-test", baseURL: server.url }).responses("gpt-5.5");
      const agent = new Agent({ model, store, tools: [add], reasoningEffort: "low" });
      await (await agent.stream({ threadId: "t1", messages: "1+2?" })).final;
      await (await agent.stream({ threadId: "t1", messages: "Sure?" })).final;
      const [, second, third] = server.seen.map(({ body }) => body.input as unknown[]);
      expect(second).toMatchObject([
        { role: "user" },
        { type: "reasoning", id: "rs_0", encrypted_content: "E1" },
        { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1,"b":2}' },
        { type: "function_call_output", call_id: "call_1", output: '{"sum":3}' },
      ]);
      // Messages that were sent once are sent again unchanged, so a cache finds its prefix.
      expect(JSON.stringify(third?.slice(0, second?.length))).toBe(JSON.stringify(second));
    } finally {
      await server.close();
    }
  });
});
