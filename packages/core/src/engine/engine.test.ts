import {
  crash,
  createCountingIds,
  createScriptedProvider,
  cut,
  fail,
  finish,
  gate,
  hang,
  pause,
  reasoning,
  refuse,
  type ScriptEntry,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../clock.js";
import { ParleyError } from "../errors.js";
import { BudgetedHistoryBuilder } from "../history/budgeted-history-builder.js";
import type { HistoryBuilder, HistoryBuildRequest } from "../history/history-builder.js";
import { RecentNTurnsHistoryBuilder } from "../history/recent-n-turns.js";
import { type Conversation, type ConversationMessage, textOf } from "../messages/message.js";
import type { MessageContentPart } from "../messages/part.js";
import { TextDelta } from "../messages/provider/provider-stream.js";
import type {
  ConversationStore,
  ConversationTurn,
  ProviderAdapter,
  ProviderStream,
  ProviderStreamEvent,
} from "../ports.js";
import type { Tool } from "../turn/tools/tool.js";
import {
  DefaultConversationEngine,
  type DefaultConversationEngineOptions,
  type StreamingTurn,
  type StreamingTurnEvent,
  type TurnInput,
} from "./engine.js";
import { InMemoryConversationStore } from "./in-memory-conversation-store.js";

const conversationId = "c1";

/** Advances by a millisecond with each read. */
function tickingClock(): Clock {
  let now = 1_000;
  return { now: () => ++now, monotonic: () => ++now, after: () => () => {} };
}

async function setUp(options: Partial<DefaultConversationEngineOptions> = {}) {
  const store = options.store ?? new InMemoryConversationStore();
  await store.createConversation({ id: conversationId });
  const historyBuilder = options.historyBuilder ?? new RecentNTurnsHistoryBuilder({ maxTurns: 10 });
  const engine = new DefaultConversationEngine({
    ids: createCountingIds("id"),
    ...options,
    store,
    historyBuilder,
  });
  return { engine, store };
}

let messages = 0;
function user(content: string, more: Partial<ConversationMessage> = {}): ConversationMessage {
  messages += 1;
  return {
    id: `user-${messages}`,
    conversationId,
    role: "user",
    createdAt: new Date(messages),
    content: [{ type: "text", text: content }],
    ...more,
  };
}

function input(provider: ProviderAdapter, more: Partial<TurnInput> = {}): TurnInput {
  return {
    conversationId,
    userMessages: [user("hi")],
    provider,
    providerParams: { metadata: { provider: "test", model: "m" } },
    ...more,
  };
}

async function read(turn: StreamingTurn): Promise<StreamingTurnEvent[]> {
  const events: StreamingTurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}

const kinds = (list: readonly ConversationMessage[]) =>
  list.map((each) => [each.role, ...each.content.map((part) => part.type)].join(" "));

function weather(
  execute: Tool["execute"] = ({ city }: { city: string }) => `${city}: cold` as never,
): Tool<never> {
  return {
    name: "weather",
    schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute,
  };
}

describe("DefaultConversationEngine.runTurn", () => {
  it("goes through the steps in order", async () => {
    const steps: string[] = [];
    const inner = new InMemoryConversationStore();
    const store = new Proxy(inner, {
      get(target, name: keyof InMemoryConversationStore) {
        const method = target[name];
        if (typeof method !== "function") return method;
        return (...given: unknown[]) => {
          const roles =
            name === "appendMessages"
              ? ` ${(given[0] as ConversationMessage[]).map((each) => each.role)}`
              : "";
          steps.push(`${name}${roles}`);
          return (method as (...args: unknown[]) => unknown).apply(target, given);
        };
      },
    });
    const historyBuilder: HistoryBuilder = {
      async buildHistory(request) {
        steps.push("buildHistory");
        return { messages: request.newUserMessages, truncated: false };
      },
    };
    const { engine } = await setUp({ store, historyBuilder });
    steps.length = 0;
    const provider = createScriptedProvider(() => {
      steps.push("provider");
      return [text("hello"), usage(3, 1)];
    });
    await engine.runTurn(input(provider));
    expect(steps).toEqual([
      "getConversation",
      "appendMessages user",
      "buildHistory",
      "provider",
      "appendMessages assistant",
      "appendTurn",
      "updateConversation",
    ]);
  });

  it("returns what it stored", async () => {
    const { engine, store } = await setUp();
    const created = await store.getConversation(conversationId);
    const provider = createScriptedProvider([
      reasoning("hm"),
      text("Hel"),
      text("lo"),
      usage(12, 5, { cacheReadTokens: 3 }),
    ]);
    const asked = user("hi");
    const output = await engine.runTurn(input(provider, { userMessages: [asked] }));
    expect(output.assistantMessages).toMatchObject([
      {
        conversationId,
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "Hello" },
        ],
        metadata: { origin: { provider: "test", model: "m" } },
      },
    ]);
    expect(output).not.toHaveProperty("toolMessages");
    expect(await store.listMessages(conversationId)).toEqual([asked, ...output.assistantMessages]);
    expect(await store.listTurns(conversationId)).toEqual([output.turn]);
    expect(output.turn).toMatchObject({
      conversationId,
      userMessages: [asked],
      assistantMessages: output.assistantMessages,
      providerCalls: [
        {
          metadata: { provider: "test", model: "m" },
          usage: { inputTokens: 12, outputTokens: 5 },
          finishReason: "stop",
        },
      ],
      metadata: {
        reason: "stop",
        usage: { inputTokens: 12, outputTokens: 5, cacheReadTokens: 3 },
        contextSize: 17,
      },
    });
    expect(output.conversation).toEqual(await store.getConversation(conversationId));
    expect(output.conversation.updatedAt.getTime()).toBeGreaterThanOrEqual(created?.updatedAt.getTime() ?? 0);
  });

  it("asks the provider with the history, the instructions, the context and the parameters it was given", async () => {
    const { engine } = await setUp({ instructions: "Be kind." });
    const provider = createScriptedProvider([[text("one")], [text("two")], [text("three")]]);
    const agentContext = { agentId: "a" } as unknown as NonNullable<TurnInput["agentContext"]>;
    await engine.runTurn(input(provider, { userMessages: [user("first")], agentContext }));
    const providerParams = { metadata: { provider: "test", model: "m" }, maxTokens: 7, toolChoice: "auto" };
    await engine.runTurn(
      input(provider, { userMessages: [user("second"), user("and more")], providerParams }),
    );
    await engine.runTurn(input(provider, { userMessages: [user("third")], instructions: "" }));
    const texts = provider.calls.map(({ params }) =>
      params.messages.map((message) => `${message.role}: ${message.content.map((part) => part.text).join()}`),
    );
    expect(texts).toEqual([
      ["system: Be kind.", "user: first"],
      ["system: Be kind.", "user: first", "assistant: one", "user: second", "user: and more"],
      ["user: first", "assistant: one", "user: second", "user: and more", "assistant: two", "user: third"],
    ]);
    expect(provider.calls[0]?.params.agentContext).toBe(agentContext);
    expect(provider.calls[1]?.params).toMatchObject({ maxTokens: 7, toolChoice: "auto" });
    expect(provider.calls[1]?.params.messages[2]?.origin).toEqual({ provider: "test", model: "m" });
  });

  it("hands the budget, the tools and the running turn to the history builder", async () => {
    const requests: HistoryBuildRequest[] = [];
    const recent = new RecentNTurnsHistoryBuilder({ maxTurns: 3 });
    const historyBuilder: HistoryBuilder = {
      buildHistory(request) {
        requests.push(request);
        return recent.buildHistory(request);
      },
    };
    const { engine, store } = await setUp({ historyBuilder, tools: [weather()] });
    const provider = createScriptedProvider([[toolCall("weather", { city: "Oslo" })], [text("cold")]]);
    await engine.runTurn(input(provider, { historyBudget: { maxTokens: 500 } }));
    expect(requests).toHaveLength(2);
    for (const request of requests) {
      expect(request).toMatchObject({
        conversation: { id: conversationId },
        budget: { maxTokens: 500 },
        model: "m",
      });
      expect(request.store).toBe(store);
      expect(request.tools?.map((tool) => tool.name)).toEqual(["weather"]);
    }
    expect(requests.map((request) => kinds(request.turnMessages ?? []))).toEqual([
      [],
      ["assistant tool-call", "tool tool-result"],
    ]);
  });

  it("shows the model no more than fits the budget", async () => {
    const { engine } = await setUp({ historyBuilder: new RecentNTurnsHistoryBuilder({ maxTurns: 10 }) });
    const provider = createScriptedProvider([[text("one")], [text("two")], [text("three")]]);
    await engine.runTurn(input(provider, { userMessages: [user("first")] }));
    await engine.runTurn(input(provider, { userMessages: [user("second")] }));
    const historyBudget = { maxMessages: 3 };
    await engine.runTurn(input(provider, { userMessages: [user("third")], historyBudget }));
    const sent = provider.calls[2]?.params.messages.map(
      ({ content }) => (content[0] as { text: string }).text,
    );
    expect(sent).toEqual(["second", "two", "third"]);
  });

  it("records a call with the time of its answer, and with that of the request", async () => {
    const answeredAt = new Date(987_654_321);
    const answers: unknown[] = [answeredAt, undefined, new Date(Number.NaN)];
    const provider: ProviderAdapter = {
      complete: async () => ({
        id: "answer",
        createdAt: answers.shift() as Date,
        message: { role: "assistant", content: [{ type: "text", text: "hi" }] },
      }),
    };
    const { engine } = await setUp({ clock: tickingClock() });
    const calls = [];
    for (let turn = 0; turn < 3; turn++) {
      const { turn: made } = await engine.runTurn(input(provider));
      calls.push(...made.providerCalls);
    }
    expect(calls[0]?.createdAt).toEqual(answeredAt);
    expect(calls[0]?.startedAt?.getTime()).toBeLessThan(2_000);
    expect(calls[1]?.createdAt).toEqual(calls[1]?.startedAt);
    expect(calls[2]?.createdAt).toEqual(calls[2]?.startedAt);
  });

  it("records what the model was shown in each call, with a builder that says so", async () => {
    const { engine } = await setUp({ historyBuilder: new BudgetedHistoryBuilder(), tools: [weather()] });
    const provider = createScriptedProvider([
      [text("Hi.")],
      [toolCall("weather", { city: "Oslo" })],
      [text("Cold.")],
    ]);
    await engine.runTurn(input(provider));
    const { turn } = await engine.runTurn(input(provider, { historyBudget: { maxTokens: 10_000 } }));
    expect(turn.providerCalls).toHaveLength(2);
    for (const { manifest } of turn.providerCalls) expect(manifest).toBeDefined();
    const roles = provider.calls.map((call) => call.params.messages.map((message) => message.role).join(" "));
    expect(roles).toEqual(["user", "user assistant user", "user assistant user assistant tool"]);
  });

  it("refuses an unknown conversation, a foreign message and no message, before anything is written", async () => {
    const { engine, store } = await setUp();
    const provider = createScriptedProvider([text("never")]);
    const other = await store.createConversation({ id: "other" });
    const unknown = input(provider, {
      conversationId: "nowhere",
      userMessages: [user("x", { conversationId: "nowhere" })],
    });
    const foreign = input(provider, {
      userMessages: [user("mine"), user("x", { conversationId: other.id })],
    });
    const none = input(provider, { userMessages: [] });
    const { conversationId: _, ...unnamed } = user("lost", { id: "lost-message" });
    const lost = input(provider, { userMessages: [user("mine"), unnamed as ConversationMessage] });
    for (const run of [engine.runTurn.bind(engine), engine.runStreamingTurn.bind(engine)]) {
      await expect(run(unknown)).rejects.toMatchObject({ code: "conversation_not_found" });
      await expect(run(foreign)).rejects.toThrow("A message belongs to another conversation");
      await expect(run(foreign)).rejects.toMatchObject({ code: "invalid_request" });
      await expect(run(lost)).rejects.toThrow('Message "lost-message" has no conversationId');
      await expect(run(lost)).rejects.toMatchObject({ code: "invalid_request" });
      await expect(run(none)).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(provider.calls).toHaveLength(0);
    expect(await store.listMessages(conversationId)).toEqual([]);
    expect(await store.listMessages(other.id)).toEqual([]);
  });

  it("takes a provider that has only complete", async () => {
    const { engine } = await setUp({ tools: [weather()] });
    const scripts = [
      [reasoning("hm"), toolCall("weather", { city: "Oslo" }), usage(1, 1)],
      [text("cold"), usage(2, 2)],
    ];
    const provider = createScriptedProvider(scripts, { onlyComplete: true });
    const turn = await engine.runStreamingTurn(input(provider));
    const events = await read(turn);
    expect(events.map((event) => event.type)).toEqual([
      "reasoning-delta",
      "tool-call",
      "tool-result",
      "delta",
      "completed",
    ]);
    expect(kinds((await turn.final).assistantMessages)).toEqual([
      "assistant reasoning tool-call",
      "assistant text",
    ]);
  });

  it("keeps raw responses only when asked", async () => {
    const { engine } = await setUp();
    const result = {
      id: "r",
      createdAt: new Date(0),
      message: { role: "assistant" as const, content: [{ type: "text" as const, text: "hi" }] },
      raw: { secret: 1 },
    };
    const provider = createScriptedProvider([{ type: "done", result }]);
    expect((await engine.runTurn(input(provider))).turn.providerCalls[0]).not.toHaveProperty("raw");
    const kept = await engine.runTurn(input(provider, { keepRaw: true }));
    expect(kept.turn.providerCalls[0]).toMatchObject({ id: "r", raw: { secret: 1 } });
  });
});

describe("DefaultConversationEngine.runStreamingTurn", () => {
  it("publishes deltas with the text so far, then completed with the value that final resolves to", async () => {
    const { engine } = await setUp();
    const provider = createScriptedProvider([text("Hello, world", { size: 5 })]);
    const turn = await engine.runStreamingTurn(input(provider));
    const events = await read(turn);
    const deltas = events.filter((event) => event.type === "delta");
    expect(deltas.map((event) => [event.textDelta, textOf(event.delta)])).toEqual([
      ["Hello", "Hello"],
      [", wor", "Hello, wor"],
      ["ld", "Hello, world"],
    ]);
    const output = await turn.final;
    expect(new Set(deltas.map((event) => event.delta.id))).toEqual(
      new Set([output.assistantMessages[0]?.id]),
    );
    expect(deltas[0]?.delta).toMatchObject({ role: "assistant", conversationId });
    const last = events.at(-1);
    expect(last?.type === "completed" && last.output === output).toBe(true);
    expect(JSON.parse(JSON.stringify(deltas[1]))).toMatchObject({
      type: "delta",
      textDelta: ", wor",
      delta: { content: [{ type: "text", text: "Hello, wor" }] },
    });
  });

  it("streams what the provider says before it has finished", async () => {
    const door = gate();
    const { engine } = await setUp();
    const turn = await engine.runStreamingTurn(
      input(createScriptedProvider([text("a"), pause(door), text("b")])),
    );
    const iterator = turn[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: "delta", textDelta: "a" });
    door.open();
    expect((await iterator.next()).value).toMatchObject({ type: "delta", textDelta: "b" });
    expect((await iterator.next()).value).toMatchObject({ type: "completed" });
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  it("answers reads in the order in which they were asked, also several at once", async () => {
    const { engine } = await setUp();
    for (const [script, ends] of [
      [
        [text("a"), text("b")],
        ["delta a", "delta b", "completed", "end"],
      ],
      [
        [text("a"), fail("network")],
        ["delta a", "network", "end", "end"],
      ],
    ] as const) {
      const door = gate();
      const turn = await engine.runStreamingTurn(input(createScriptedProvider([[pause(door), ...script]])));
      const iterator = turn[Symbol.asyncIterator]();
      const reads = Array.from({ length: 4 }, () => iterator.next());
      door.open();
      const answers = await Promise.allSettled(reads);
      const outcomes = answers.map((answer) => {
        if (answer.status === "rejected") return (answer.reason as ParleyError).code;
        if (answer.value.done) return "end";
        const event = answer.value.value;
        return event.type === "delta" ? `delta ${event.textDelta}` : event.type;
      });
      expect(outcomes).toEqual(ends);
    }
  });

  it("finishes and stores a turn without a watcher", async () => {
    const { engine, store } = await setUp();
    const { final } = await engine.runStreamingTurn(input(createScriptedProvider([text("quiet")])));
    expect((await final).turn.metadata).toMatchObject({ reason: "stop" });
    expect(kinds(await store.listMessages(conversationId))).toEqual(["user text", "assistant text"]);
  });

  it("continues when the reader leaves", async () => {
    const door = gate();
    const { engine, store } = await setUp();
    const turn = await engine.runStreamingTurn(
      input(createScriptedProvider([text("a"), pause(door), text("b")])),
    );
    for await (const event of turn) if (event.type === "delta") break;
    door.open();
    expect(textOf((await turn.final).assistantMessages[0] ?? { content: [] })).toBe("ab");
    expect(await read(turn)).toEqual([]);
    expect(await store.listTurns(conversationId)).toHaveLength(1);
  });

  it("joins the text for a reader that is far behind, and loses none of it", async () => {
    const { engine } = await setUp();
    const whole = Array.from({ length: 20_000 }, (_, index) => `${index} `).join("");
    const provider = createScriptedProvider([[reasoning(whole, { size: 4 }), text(whole, { size: 3 })]]);
    const turn = await engine.runStreamingTurn(input(provider));
    await turn.final;
    const events = await read(turn);
    expect(events.length).toBeLessThan(1_000);
    const deltas = events.filter((event) => event.type === "delta");
    expect(deltas.map((event) => event.textDelta).join("")).toBe(whole);
    expect(deltas.map((event) => textOf(event.delta)).at(-1)).toBe(whole);
    const thoughts = events.map((event) => (event.type === "reasoning-delta" ? event.textDelta : ""));
    expect(thoughts.join("")).toBe(whole);
    expect(events.at(-1)?.type).toBe("completed");
  });
});

describe("tools", () => {
  it("run between steps, with their calls stored before they start", async () => {
    const store = new InMemoryConversationStore();
    const seen: string[][] = [];
    const tool = weather((async ({ city }: { city: string }) => {
      seen.push(kinds(await store.listMessages(conversationId)));
      return { city, degrees: 4 };
    }) as never);
    const { engine } = await setUp({ store, tools: [tool], clock: tickingClock() });
    const provider = createScriptedProvider([
      [
        text("Let me look."),
        toolCall("weather", { city: "Oslo" }),
        toolCall("weather", { city: "Rome" }),
        usage(20, 8),
      ],
      [text("Cold."), usage(50, 3)],
    ]);
    const turn = await engine.runStreamingTurn(input(provider));
    const events = await read(turn);
    expect(events.map((event) => event.type)).toEqual([
      "delta",
      "tool-call",
      "tool-call",
      "tool-result",
      "tool-result",
      "delta",
      "completed",
    ]);
    const call = events[1];
    const result = events[3];
    expect(call?.type === "tool-call" && call.toolCall).toMatchObject({
      type: "tool-call",
      name: "weather",
      arguments: { city: "Oslo" },
      argumentsText: '{"city":"Oslo"}',
    });
    expect(result?.type === "tool-result" && result.toolResult).toMatchObject({
      type: "tool-result",
      name: "weather",
      result: { city: "Oslo", degrees: 4 },
      isError: false,
    });
    expect(seen[0]).toEqual(["user text", "assistant text tool-call tool-call"]);
    const output = await turn.final;
    const stored = await store.listMessages(conversationId);
    expect(kinds(stored)).toEqual([
      "user text",
      "assistant text tool-call tool-call",
      "tool tool-result",
      "tool tool-result",
      "assistant text",
    ]);
    expect(output.assistantMessages).toEqual(stored.filter((message) => message.role === "assistant"));
    expect(output.toolMessages).toEqual(stored.filter((message) => message.role === "tool"));
    expect(output.turn.toolMessages).toEqual(output.toolMessages);
    expect(output.turn.providerCalls).toHaveLength(2);
    expect(output.turn.metadata).toMatchObject({
      reason: "stop",
      usage: { inputTokens: 70, outputTokens: 11 },
      contextSize: 53,
      steps: [{ usage: { inputTokens: 20 } }, { usage: { inputTokens: 50 } }],
    });
    expect(stepsOf(output.turn)).toHaveLength(2);
    for (const step of stepsOf(output.turn)) {
      expect(step.ttftMs).toBeGreaterThan(0);
      expect(step.genTotalMs).toBe(step.ttftMs + step.decodeMs);
    }
    expect(provider.calls[1]?.params.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
    ]);
    expect(provider.calls[0]?.params.tools?.map((each) => each.name)).toEqual(["weather"]);
  });

  it("report to the model what was wrong with a call, and the turn continues", async () => {
    const { engine } = await setUp({ tools: [weather()] });
    const provider = createScriptedProvider([
      [toolCall("weather", { town: 1 }), toolCall("nothing", {})],
      [text("Sorry.")],
    ]);
    const output = await engine.runTurn(input(provider));
    const results = output.toolMessages?.flatMap((message) => message.content) as Extract<
      MessageContentPart,
      { type: "tool-result" }
    >[];
    expect(results.map((part) => part.isError)).toEqual([true, true]);
    expect(results[0]?.resultText).toContain("/city: is required");
    expect(results[1]?.resultText).toContain('no tool named "nothing"');
    expect(output.turn.metadata).toMatchObject({ reason: "stop" });
  });

  it("stop at the limit of steps, with every call answered", async () => {
    const { engine, store } = await setUp({ tools: [weather()], limits: { maxSteps: 5 } });
    const provider = createScriptedProvider([toolCall("weather", { city: "Oslo" })]);
    const output = await engine.runTurn(input(provider, { limits: { maxSteps: 2 } }));
    expect(provider.calls).toHaveLength(2);
    expect(output.turn.metadata).toMatchObject({ reason: "max-steps" });
    expect(openCalls(await store.listMessages(conversationId))).toEqual([]);
  });

  it("are left to the caller where none run here, and their results come in with the next turn", async () => {
    const { engine } = await setUp();
    const provider = createScriptedProvider([
      [toolCall("weather", { city: "Oslo" }, { id: "x" })],
      [text("Cold.")],
    ]);
    const providerParams = { metadata: { provider: "test", model: "m" }, tools: [{ name: "weather" }] };
    const first = await engine.runTurn(input(provider, { providerParams }));
    expect(provider.calls).toHaveLength(1);
    expect(first.turn.metadata).toMatchObject({ reason: "tool-calls" });
    expect(first).not.toHaveProperty("toolMessages");
    const answer = user("", {
      role: "tool",
      content: [
        { type: "tool-result", name: "weather", result: "cold", resultText: "cold", toolCallId: "x" },
      ],
    });
    const second = await engine.runTurn(input(provider, { providerParams, userMessages: [answer] }));
    expect(provider.calls[1]?.params.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
    ]);
    expect(provider.calls[1]?.params.messages[2]?.content).toMatchObject([
      { resultText: "cold", toolCallId: "x" },
    ]);
    expect(second.assistantMessages.map(textOf)).toEqual(["Cold."]);
  });

  it("without a result are reported as interrupted in the next turn", async () => {
    const { engine } = await setUp();
    const provider = createScriptedProvider([[toolCall("weather", {}, { id: "x" })], [text("ok")]]);
    await engine.runTurn(input(provider));
    await engine.runTurn(input(provider));
    expect(provider.calls[1]?.params.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
    ]);
  });
});

describe("a turn that fails", () => {
  it("rejects with the provider's error, and has stored what had come", async () => {
    const { engine, store } = await setUp();
    const error = new ParleyError("provider_overloaded", "Try later");
    const turn = await engine.runStreamingTurn(
      input(createScriptedProvider([text("Half an ans"), usage(5, 3), fail(error)])),
    );
    const events: StreamingTurnEvent[] = [];
    const iterated = (async () => {
      for await (const event of turn) events.push(event);
    })();
    await expect(iterated).rejects.toBe(error);
    await expect(turn.final).rejects.toBe(error);
    expect(events.map((event) => event.type)).toEqual(["delta"]);
    expect(kinds(await store.listMessages(conversationId))).toEqual([
      "user text",
      "assistant text",
      "assistant error",
    ]);
    expect(await store.listTurns(conversationId)).toMatchObject([
      {
        metadata: {
          reason: "error",
          error: { code: "provider_overloaded", message: "Try later", retryable: true },
          usage: { inputTokens: 5, outputTokens: 3 },
        },
        providerCalls: [{ usage: { inputTokens: 5, outputTokens: 3 } }],
      },
    ]);
  });

  it("throws once in an iteration that begins after the failure", async () => {
    const { engine } = await setUp();
    const turn = await engine.runStreamingTurn(input(createScriptedProvider([text("a"), fail("network")])));
    await turn.final.catch(() => {});
    const iterator = turn[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ type: "delta" });
    await expect(iterator.next()).rejects.toMatchObject({ code: "network" });
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  const failures: [string, ScriptEntry[], string][] = [
    ["is refused", [refuse("provider_auth")], "provider_auth"],
    ["is refused with an error that is not ours", [refuse(new Error("raw"))], "provider_rejected"],
    ["crashes", [text("a"), crash()], "provider_rejected"],
    ["is cut off", [text("a"), cut()], "network"],
  ];
  for (const [what, script, code] of failures) {
    it(`rejects with ${code} when the call ${what}, and leaves a conversation that continues`, async () => {
      const { engine, store } = await setUp();
      const provider = createScriptedProvider([script, [text("fine")]]);
      await expect(engine.runTurn(input(provider))).rejects.toMatchObject({ code });
      expect(await store.listTurns(conversationId)).toMatchObject([
        { metadata: { reason: "error", error: { code } } },
      ]);
      const output = await engine.runTurn(input(provider));
      expect(output.assistantMessages.map(textOf)).toEqual(["fine"]);
      const sent = provider.calls[1]?.params.messages.flatMap((message) =>
        message.content.map((part) => part.type),
      );
      expect(sent).not.toContain("error");
    });
  }

  const thrown = new Error("the model exploded");
  const foreign: [string, ProviderAdapter][] = [
    ["complete", { complete: () => Promise.reject(thrown) }],
    [
      "complete, before it returns a promise",
      {
        complete: () => {
          throw thrown;
        },
      },
    ],
    ["completeStream", { complete: unused, completeStream: () => Promise.reject(thrown) }],
    ["the iteration", { complete: unused, completeStream: async () => streamThat("throws") }],
    ["an error event", { complete: unused, completeStream: async () => streamThat("yields") }],
  ];
  for (const [where, provider] of foreign) {
    it(`keeps the message of a foreign provider's plain error from ${where}`, async () => {
      const { engine, store } = await setUp();
      const expected = { code: "provider_rejected", message: "the model exploded" };
      await expect(engine.runTurn(input(provider))).rejects.toMatchObject(expected);
      expect(await store.listTurns(conversationId)).toMatchObject([
        { metadata: { reason: "error", error: expected } },
      ]);
    });
  }

  function unused(): never {
    throw new Error("not asked");
  }

  /** Returns a stream that knows nothing of Parley's errors. */
  function streamThat(does: "throws" | "yields"): ProviderStream {
    const events = async function* (): AsyncGenerator<ProviderStreamEvent, void, undefined> {
      yield new TextDelta("Half", "Half", 0);
      if (does === "throws") throw thrown;
      yield { type: "error", error: thrown as ParleyError };
    };
    const final = Promise.reject(thrown);
    final.catch(() => {});
    return { [Symbol.asyncIterator]: events, final };
  }

  it("answers the calls that had come before the failure", async () => {
    const { engine, store } = await setUp({ tools: [weather()] });
    const provider = createScriptedProvider([toolCall("weather", { city: "Oslo" }), fail("network")]);
    await expect(engine.runTurn(input(provider))).rejects.toMatchObject({ code: "network" });
    const stored = await store.listMessages(conversationId);
    expect(kinds(stored)).toEqual([
      "user text",
      "assistant tool-call",
      "tool tool-result",
      "assistant error",
    ]);
    expect(openCalls(stored)).toEqual([]);
  });

  it("stores the turn when the history cannot be built", async () => {
    const historyBuilder: HistoryBuilder = {
      buildHistory: () => Promise.reject(new ParleyError("context_overflow")),
    };
    const { engine, store } = await setUp({ historyBuilder });
    const provider = createScriptedProvider([text("never")]);
    await expect(engine.runTurn(input(provider))).rejects.toMatchObject({ code: "context_overflow" });
    expect(provider.calls).toHaveLength(0);
    expect(await store.listTurns(conversationId)).toMatchObject([
      { metadata: { reason: "error" }, providerCalls: [] },
    ]);
  });

  it("says store_unavailable when the store fails, wherever it fails", async () => {
    for (const method of ["getConversation", "appendMessages", "appendTurn", "updateConversation"] as const) {
      const store = new InMemoryConversationStore();
      const { engine } = await setUp({ store, tools: [weather()] });
      Object.assign(store, { [method]: () => Promise.reject(new Error("disk full")) });
      const run = engine.runTurn(input(createScriptedProvider([text("a")])));
      await expect(run).rejects.toMatchObject({ name: "ParleyError", code: "store_unavailable" });
    }
  });

  it("reports the first failure when storing it fails as well", async () => {
    const store = new InMemoryConversationStore();
    const { engine } = await setUp({ store });
    store.appendTurn = () => Promise.reject(new Error("disk full"));
    await expect(engine.runTurn(input(createScriptedProvider([fail("rate_limited")])))).rejects.toMatchObject(
      {
        code: "rate_limited",
      },
    );
  });
});

describe("a turn that is stopped", () => {
  it("resolves with what had come, stored, and says aborted", async () => {
    const { engine, store } = await setUp();
    const abort = new AbortController();
    const provider = createScriptedProvider([text("Half an ans"), hang()]);
    const turn = await engine.runStreamingTurn(input(provider, { signal: abort.signal }));
    const events: StreamingTurnEvent[] = [];
    for await (const event of turn) {
      events.push(event);
      if (event.type === "delta") abort.abort();
    }
    const output = await turn.final;
    expect(events.map((event) => event.type)).toEqual(["delta", "completed"]);
    expect(output.turn.metadata).toMatchObject({ reason: "aborted" });
    expect(output.assistantMessages.map(textOf)).toEqual(["Half an ans"]);
    expect(await store.listTurns(conversationId)).toEqual([output.turn]);
    expect(kinds(await store.listMessages(conversationId))).toEqual(["user text", "assistant text"]);
  });

  it("obeys the signal of the provider's parameters too", async () => {
    const { engine } = await setUp();
    const [left, right] = [new AbortController(), new AbortController()];
    const provider = createScriptedProvider([text("a"), hang()]);
    const providerParams = { metadata: { provider: "test", model: "m" }, signal: right.signal };
    const turn = await engine.runStreamingTurn(input(provider, { signal: left.signal, providerParams }));
    for await (const event of turn) if (event.type === "delta") right.abort();
    expect((await turn.final).turn.metadata).toMatchObject({ reason: "aborted" });
  });

  it("does not wait for a provider or a tool that ignores the signal", async () => {
    for (const which of ["provider", "tool"] as const) {
      const never = gate();
      const abort = new AbortController();
      const tool = weather((() => never.wait()) as never);
      const { engine, store } = await setUp({ tools: [tool] });
      const script = which === "tool" ? [toolCall("weather", { city: "Oslo" })] : [text("a"), pause(never)];
      const provider = createScriptedProvider([script], { ignoreSignal: true });
      const turn = await engine.runStreamingTurn(input(provider, { signal: abort.signal }));
      await never.reached;
      abort.abort();
      expect((await turn.final).turn.metadata).toMatchObject({ reason: "aborted" });
      expect(openCalls(await store.listMessages(conversationId))).toEqual([]);
      never.open();
    }
  });

  it("makes no call when it was stopped before it began", async () => {
    const { engine, store } = await setUp();
    const provider = createScriptedProvider([text("a")]);
    const output = await engine.runTurn(input(provider, { signal: AbortSignal.abort() }));
    expect(provider.calls).toHaveLength(0);
    expect(output.turn.metadata).toMatchObject({ reason: "aborted" });
    expect(kinds(await store.listMessages(conversationId))).toEqual(["user text"]);
  });
});

describe("with a store and a history builder of one's own", () => {
  /** Returns a store of eight methods over arrays, nothing else. */
  function ownStore(): ConversationStore {
    const conversations: Conversation[] = [];
    const rows: ConversationMessage[] = [];
    const turns: ConversationTurn[] = [];
    return {
      async createConversation({ id = "made", ...rest }) {
        const conversation = { id, createdAt: new Date(), updatedAt: new Date(), ...rest };
        conversations.push(conversation);
        return conversation;
      },
      getConversation: async (id) => conversations.find((each) => each.id === id) ?? null,
      updateConversation: async (id) => conversations.find((each) => each.id === id) ?? null,
      listConversations: async () => conversations,
      async appendMessages(added) {
        rows.push(...added);
      },
      listMessages: async (id) => rows.filter((each) => each.conversationId === id),
      async appendTurn(turn) {
        turns.push(turn);
      },
      listTurns: async (id) => turns.filter((each) => each.conversationId === id),
    };
  }

  /** Builds what a user of only the published interface would: everything stored, then the new messages. */
  const ownBuilder: HistoryBuilder = {
    async buildHistory({ conversation, store, newUserMessages }) {
      return {
        messages: [...(await store.listMessages(conversation.id)), ...newUserMessages],
        truncated: false,
      };
    },
  };

  for (const [what, historyBuilder] of [
    ["its own builder", ownBuilder],
    ["Parley's builder", new RecentNTurnsHistoryBuilder({ maxTurns: 10 })],
  ] as const) {
    it(`shows the model each message once and in order, with ${what}`, async () => {
      const store = ownStore();
      const { engine } = await setUp({ store, historyBuilder, tools: [weather()] });
      const provider = createScriptedProvider([
        [text("Hi.")],
        [toolCall("weather", { city: "Oslo" })],
        [text("Cold.")],
      ]);
      await engine.runTurn(input(provider, { userMessages: [user("one")] }));
      await engine.runTurn(input(provider, { userMessages: [user("two")] }));
      const roles = provider.calls.map((call) =>
        call.params.messages.map((message) => message.role).join(" "),
      );
      expect(roles).toEqual(["user", "user assistant user", "user assistant user assistant tool"]);
      expect(await store.listTurns(conversationId)).toHaveLength(2);
      expect(kinds(await store.listMessages(conversationId))).toEqual([
        "user text",
        "assistant text",
        "user text",
        "assistant tool-call",
        "tool tool-result",
        "assistant text",
      ]);
    });
  }

  it("adds the running turn to what a builder returns that does not know of it", async () => {
    const historyBuilder: HistoryBuilder = {
      buildHistory: async ({ newUserMessages }) => ({ messages: newUserMessages, truncated: true }),
    };
    const { engine } = await setUp({ historyBuilder, tools: [weather()] });
    const provider = createScriptedProvider([[toolCall("weather", { city: "Oslo" })], [text("Cold.")]]);
    await engine.runTurn(input(provider));
    expect(provider.calls[1]?.params.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
    ]);
  });
});

describe("for any script", () => {
  /** Script entry, built from the controller that stops the turn. */
  type Entry = (abort: AbortController) => ScriptEntry;
  const always =
    (made: ScriptEntry): Entry =>
    () =>
      made;
  const stop: Entry = (abort) => (context) => {
    abort.abort();
    return hang()(context);
  };
  const entry: fc.Arbitrary<Entry> = fc.oneof(
    fc.string({ maxLength: 8 }).map((value) => always(text(value))),
    fc.string({ maxLength: 8 }).map((value) => always(reasoning(value))),
    fc.constantFrom("Oslo", 5).map((city) => always(toolCall("weather", { city }))),
    fc.constantFrom(usage(3, 4), finish("length"), cut(), fail("network"), crash()).map(always),
    fc.constant(stop),
  );
  const scriptsOfCalls = fc.array(fc.array(entry, { maxLength: 6 }), { maxLength: 4 });

  it("final and the iteration agree, the turn is stored once, and every call that ran here has one result", async () => {
    await fc.assert(
      fc.asyncProperty(scriptsOfCalls, fc.boolean(), async (scripts, withTools) => {
        const { engine, store } = await setUp(withTools ? { tools: [weather()] } : {});
        const abort = new AbortController();
        const provider = createScriptedProvider((_, index) =>
          (scripts[index] ?? [always(text("end"))]).map((make) => make(abort)),
        );
        const turn = await engine.runStreamingTurn(input(provider, { signal: abort.signal }));
        const events: StreamingTurnEvent[] = [];
        let thrown: unknown;
        try {
          for await (const event of turn) events.push(event);
        } catch (error) {
          thrown = error;
        }
        const settled = await turn.final.then(
          (output) => ({ output }),
          (error: unknown) => ({ error }),
        );
        const turns = await store.listTurns(conversationId);
        const stored = await store.listMessages(conversationId);
        expect(turns).toHaveLength(1);
        const [first] = turns;
        const last = events.at(-1);
        if ("error" in settled) {
          expect(thrown).toBe(settled.error);
          expect(first?.metadata).toMatchObject({ reason: "error" });
        } else {
          expect(last?.type === "completed" && last.output).toBe(settled.output);
          expect(first).toEqual(settled.output.turn);
        }
        const made = [
          ...(first?.userMessages ?? []),
          ...(first?.assistantMessages ?? []),
          ...(first?.toolMessages ?? []),
        ];
        expect(new Set(stored.map((message) => message.id))).toEqual(
          new Set(made.map((message) => message.id)),
        );
        expect(stored).toHaveLength(made.length);
        if (first?.metadata?.reason !== "tool-calls") expect(openCalls(stored)).toEqual([]);
        const said = events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");
        expect(said).toBe((first?.assistantMessages ?? []).map(textOf).join(""));
      }),
      { numRuns: 150 },
    );
  });
});

function stepsOf(turn: ConversationTurn) {
  return (turn.metadata?.steps ?? []) as { ttftMs: number; decodeMs: number; genTotalMs: number }[];
}

/** Returns the ids of calls without exactly one result. */
function openCalls(list: readonly ConversationMessage[]): string[] {
  const results = new Map<string, number>();
  const calls: string[] = [];
  for (const part of list.flatMap((message) => message.content)) {
    if (part.type === "tool-call") calls.push(part.toolCallId ?? "");
    if (part.type === "tool-result")
      results.set(part.toolCallId ?? "", (results.get(part.toolCallId ?? "") ?? 0) + 1);
  }
  return calls.filter((id) => results.get(id) !== 1);
}
