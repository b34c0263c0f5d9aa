import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Tool } from "@parley/core";
import { fail, pause, text, toolCall, usage } from "@parley/testing";
import type { StepId } from "@parley/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.test-support.js";
import { createSpanWriter } from "./spans.js";

/** Returns the figures by name and labels, without the buckets. */
async function figures(server: TestServer): Promise<Record<string, number>> {
  const { text: exposition, headers } = await server.call("GET", "/metrics");
  expect(headers.get("content-type")).toMatch(/^text\/plain; version=/);
  const lines = exposition.split("\n").filter((line) => /^parley_/.test(line) && !line.includes("_bucket"));
  return Object.fromEntries(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

const toolScript = [
  [text("Looking."), toolCall("look", {}, { id: "call-1" }), usage(100, 10, { cacheReadTokens: 40 })],
  [text("Done."), usage(130, 5, { reasoningTokens: 2 })],
];

describe("the figures", () => {
  it("count turns, tokens, times and failures, by model and never by conversation", async () => {
    const server = await startTestServer({ script: () => [...toolScript, [fail("provider_overloaded")]] });
    const me = server.runtime.forOwner("local");
    for (const message of ["look", "again"]) {
      await me.send({ conversationId: "c1", message });
      await me.last("c1");
    }
    const found = await figures(server);
    expect(found).toMatchObject({
      'parley_turns_total{status="stop"}': 1,
      'parley_turns_total{status="error"}': 1,
      'parley_provider_errors_total{category="provider_overloaded"}': 1,
      'parley_tokens_total{type="input",model="scripted/one"}': 230,
      'parley_tokens_total{type="output",model="scripted/one"}': 15,
      parley_turn_duration_seconds_count: 2,
      parley_ttft_seconds_count: 2,
      parley_running_turns: 0,
      parley_ws_connections: 0,
    });
    expect(JSON.stringify(found)).not.toContain("c1");
  });

  it("count requests and responses, and keep waiting apart from a turn's own time", async () => {
    const pay: Tool<never> = { name: "pay", approval: "always", execute: () => "paid" };
    const script = [
      [toolCall("pay"), usage(5, 5)],
      [text("Done."), usage(9, 2)],
    ];
    const server = await startTestServer({ script: () => script, tools: [pay] });
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "pay" });
    await me.last("c1");
    const [request] = (await me.input.pending()).pending;
    const { requestId = "", argumentsHash } = request ?? {};
    await me.input.respond("c1", requestId, { decision: "allow", argumentsHash });
    await me.last("c1");
    const [metrics] = await me.metrics("c1");
    const { durationMs = 0, waitedMs = 0 } = metrics ?? {};
    const found = await figures(server);
    expect(found).toMatchObject({
      'parley_input_requests_total{kind="approval"}': 1,
      'parley_input_responses_total{decision="allow"}': 1,
      parley_turn_duration_seconds_count: 1,
    });
    expect(found.parley_turn_duration_seconds_sum).toBeCloseTo((durationMs - waitedMs) / 1_000, 6);
    expect(found.parley_turn_waiting_seconds_count).toBe(waitedMs > 0 ? 1 : 0);
  });

  it("report how many sockets and streams are open, and what runs and waits", async () => {
    const server = await startTestServer({
      script: (gate) => [
        [text("Looking. "), pause(gate), toolCall("look"), usage(5, 5)],
        [text("Done."), usage(9, 2)],
        [text("Next."), usage(9, 2)],
      ],
    });
    const socket = await server.socket();
    socket.send({ type: "chat.send", conversationId: "c1", message: "look" });
    await socket.event("text-delta");
    await server.call("POST", "/conversations/c1/queue", { body: { text: "steered", mode: "steer" } });
    await server.call("POST", "/conversations/c1/queue", { body: { text: "later", mode: "queue" } });
    const leaving = new AbortController();
    await fetch(`${server.url}/conversations/c1/events`, { signal: leaving.signal });
    expect(await figures(server)).toMatchObject({
      parley_ws_connections: 1,
      parley_sse_connections: 1,
      parley_running_turns: 1,
      parley_queue_depth: 2,
    });
    leaving.abort();
    server.gate.open();
    await socket.event("turn-sealed");
    await socket.event("turn-sealed");
    expect(await figures(server)).toMatchObject({
      parley_queue_depth: 0,
      'parley_turns_total{status="stop"}': 2,
    });
  });

  it("count nothing that waited in a conversation that is gone", async () => {
    const server = await startTestServer();
    await server.runtime.forOwner("local").send({ conversationId: "c1", message: "wait" });
    await server.call("POST", "/conversations/c1/queue", { body: { text: "later", mode: "queue" } });
    expect(await figures(server)).toMatchObject({ parley_queue_depth: 1 });
    await server.call("DELETE", "/conversations/c1");
    expect(await figures(server)).toMatchObject({ parley_queue_depth: 0 });
  });

  it("count requests by route", async () => {
    const server = await startTestServer();
    await server.call("GET", "/conversations/none/meta");
    await server.call("GET", "/conversations/other/meta");
    expect(await figures(server)).toMatchObject({
      'parley_http_request_duration_seconds_count{route="GET /conversations/:id/meta",status="404"}': 2,
    });
  });

  it("can be left out", async () => {
    const server = await startTestServer({ telemetry: false });
    expect((await server.call("GET", "/metrics")).status).toBe(404);
  });
});

describe("the spans", () => {
  const exporter = new InMemorySpanExporter();

  beforeEach(() => {
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
  });
  afterEach(() => {
    trace.disable();
    context.disable();
    exporter.reset();
  });

  it("show a turn with its model calls and tools, and nothing of what was said", async () => {
    const server = await startTestServer({ script: () => toolScript });
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "A SECRET" });
    await me.last("c1");
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual([
      "chat one",
      "execute_tool look",
      "chat one",
      "invoke_agent parley",
    ]);
    const [chat, tool, , turn] = spans;
    expect(turn?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": "c1",
      "parley.model": "scripted/one",
      "gen_ai.usage.input_tokens": 230,
      "gen_ai.usage.output_tokens": 15,
    });
    expect(chat?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "one",
      "parley.model": "scripted/one",
      "gen_ai.usage.input_tokens": 100,
    });
    expect(tool?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.call.id": "call-1",
    });
    for (const span of [chat, tool]) {
      expect(span?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
    }
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("SECRET");
  });

  it("name a call's model as the turn's record and the figures do", async () => {
    const server = await startTestServer();
    const me = server.runtime.forOwner("local");
    const { turnId = "" } = await me.send({ conversationId: "c1", message: "hello" });
    await me.last("c1");
    const [chat] = exporter.getFinishedSpans();
    const { providerCalls, metrics } = await me.turn("c1", turnId);
    expect(providerCalls).toMatchObject([{ model: "scripted/one", providerModel: "one" }]);
    expect([chat?.attributes["parley.model"], metrics?.model]).toEqual(["scripted/one", "scripted/one"]);
    expect(await figures(server)).toMatchObject({
      'parley_tokens_total{type="input",model="scripted/one"}': 20,
    });
  });

  it("know the model of a turn that another node began", async () => {
    const write = createSpanWriter();
    const event = { conversationId: "c1", turnId: "t1" };
    const opening = { owner: "me", ...event };
    const stepId = "t1.0" as StepId;
    write?.({ type: "user-message", ...event, text: "hello" }, opening);
    write?.(
      { type: "step-complete", ...event, stepId },
      { ...opening, providerName: "scripted", model: "scripted/one" },
    );
    write?.({ type: "turn-sealed", ...event }, opening);
    expect(exporter.getFinishedSpans()[0]).toMatchObject({
      name: "chat one",
      attributes: { "gen_ai.provider.name": "scripted", "gen_ai.request.model": "one" },
    });
  });

  it("show a failure where it happened", async () => {
    const server = await startTestServer({ script: () => [fail("provider_auth")] });
    const me = server.runtime.forOwner("local");
    await me.send({ conversationId: "c1", message: "hello" });
    await me.last("c1");
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
      ["chat one", SpanStatusCode.ERROR],
      ["invoke_agent parley", SpanStatusCode.ERROR],
    ]);
    expect(spans[0]?.attributes["error.type"]).toBe("provider_auth");
  });
});
