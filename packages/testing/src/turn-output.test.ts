import { runTurn, type TurnSetup } from "@parley/core/turn";
import type { AgentEvent } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { text, toolCall } from "./provider/script.js";
import { createScriptedProvider, type ScriptSource } from "./provider/scripted-provider.js";

const output: NonNullable<TurnSetup["output"]> = {
  name: "sum",
  schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  retries: 1,
};

async function turn(script: ScriptSource, more: Partial<TurnSetup> = {}) {
  const provider = createScriptedProvider(script);
  const events: AgentEvent[] = [];
  const stream = runTurn({
    conversationId: "c",
    turnId: "t",
    provider,
    providerParams: { metadata: { provider: "p", model: "m" } },
    output,
    userMessages: [],
    context: async () => ({ messages: [] }),
    sink: { commitStep: async () => ({}) },
    ...more,
  });
  let next = await stream.next();
  for (; !next.done; next = await stream.next()) events.push(next.value);
  return { provider, events, outcome: next.value };
}

describe("data from a model that has no mode of its own for it", () => {
  it("comes as text, while it streams and in the end", async () => {
    const { events, outcome, provider } = await turn([[toolCall("sum", '{"n": 1}', { progress: true })]]);
    const deltas = events.filter((event) => event.type === "text-delta");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ delta }) => delta).join("")).toBe('{"n": 1}');
    expect(events.some(({ type }) => type === "tool-call")).toBe(false);
    expect(outcome.messages[0]?.content).toEqual([{ type: "text", text: '{"n": 1}' }]);
    expect(outcome).toMatchObject({ reason: "stop", metrics: { output: { valid: true, attempts: 1 } } });
    const { params } = provider.calls[0] ?? {};
    expect(params?.tools).toEqual([expect.objectContaining({ name: "sum", schema: output.schema })]);
    expect(params).not.toHaveProperty("output");
  });

  it("comes as text from a provider that streams nothing", async () => {
    const whole = {
      complete: async () => ({
        id: "1",
        createdAt: new Date(0),
        message: { role: "assistant" as const, content: [] },
        toolCalls: [{ id: "k", name: "sum", arguments: { n: 2 } }],
        finishReason: "tool-calls" as const,
      }),
    };
    const { outcome } = await turn([], { provider: whole });
    expect(outcome.reason).toBe("stop");
    expect(outcome.messages[0]?.content).toEqual([{ type: "text", text: '{"n":2}' }]);
  });

  it("does not take the name of a tool that is there", async () => {
    const tools = [{ name: "sum", execute: () => "tool" }];
    const { provider, outcome } = await turn([[toolCall("sum", {})], [toolCall("sum_2", { n: 3 })]], {
      tools,
    });
    expect(provider.calls[0]?.params.tools?.map(({ name }) => name)).toEqual(["sum", "sum_2"]);
    expect(outcome.messages.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
    expect(outcome.metrics.output).toEqual({ valid: true, attempts: 1 });
  });

  it("is read from the words of a model that answers in words, and asked for again where they are none", async () => {
    const { outcome, events } = await turn([[text("Three.")], [text('{"n": 3}')]]);
    expect(outcome.metrics.output).toEqual({ valid: true, attempts: 2 });
    expect(events.filter(({ type }) => type === "output-invalid")).toHaveLength(1);
  });

  it("is not accepted from a provider that knows better and answers wrongly", async () => {
    const provider = Object.assign(
      createScriptedProvider(() => [text('{"n": "x"}')]),
      { takesOutput: () => true },
    );
    const { outcome } = await turn([], { provider });
    expect(provider.calls[0]?.params.output).toEqual({ name: "sum", schema: output.schema });
    expect(outcome.metrics.output).toMatchObject({ valid: false, attempts: 2 });
    expect(outcome.metrics.output?.errors?.[0]).toContain("/n");
  });
});
