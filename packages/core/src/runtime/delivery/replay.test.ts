import { closingEvents } from "@parley/fold";
import { checkEventOrder } from "@parley/testing";
import type { AgentEvent, StepId, StepMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { ConversationMessage, MessageRole } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import type { HistoryEntry } from "../../ports.js";
import { isUnanswered, replayRows } from "./replay.js";

const ids = { conversationId: "c", turnId: "t" };

let seq = 0;
function row(role: MessageRole, content: MessageContentPart[], step?: number): HistoryEntry {
  const message: ConversationMessage = {
    id: `m${seq + 1}`,
    conversationId: "c",
    role,
    createdAt: new Date(1_000),
    content,
  };
  const firstSeq = seq + 1;
  seq += content.length;
  return {
    message,
    firstSeq,
    lastSeq: seq,
    turnId: "t",
    ...(step === undefined ? {} : { stepId: `t.${step}` }),
  };
}

const say = (text: string): MessageContentPart => ({ type: "text", text });
const call = (toolCallId: string): MessageContentPart => ({
  type: "tool-call",
  name: "add",
  toolCallId,
  arguments: { a: 1 },
  argumentsText: '{"a":1}',
});
const result = (toolCallId: string, step: number): MessageContentPart => ({
  type: "tool-result",
  name: "add",
  toolCallId,
  stepId: `t.${step}`,
  result: "2",
  resultText: "2",
  isError: false,
  durationMs: 3,
});
const figures = (step: number, inputTokens = 5): StepMetrics => ({
  stepId: `t.${step}` as StepId,
  usage: { inputTokens, outputTokens: 0 },
  ttftMs: 1,
  decodeMs: 2,
  genTotalMs: 3,
  model: "test/one",
});
const kinds = (events: readonly AgentEvent[]) => events.map(({ type }) => type);

describe("a turn that is replayed from its rows", () => {
  it("has one event per part, in the order of a turn", () => {
    seq = 0;
    const entries = [
      row("user", [say("Hi")]),
      row("user", [say("there")]),
      row("assistant", [{ type: "reasoning", text: "Hm" }, say("Adding."), call("k1"), call("k2")], 0),
      row("tool", [result("k1", 0)], 0),
      row("tool", [result("k2", 0)], 0),
      row("user", [say("Faster!")]),
      row("assistant", [say("Two.")], 1),
    ];
    const steps = [figures(0), figures(1, 0)];
    const events = replayRows({ ...ids, startedAt: 7, entries, steps });
    expect(kinds(events)).toEqual([
      ...["user-message", "turn-start", "reasoning-delta", "text-delta", "tool-call", "tool-call"],
      ...["usage", "step-complete", "tool-result", "tool-result", "steering", "text-delta", "step-complete"],
    ]);
    expect(events[0]).toMatchObject({ text: "Hi\n\nthere", messages: [{ text: "Hi" }, { text: "there" }] });
    expect(events[1]).toMatchObject({ startedAt: 7, model: "test/one" });
    expect(events[2]).toMatchObject({ messageId: "m3", partIndex: 0, stepId: "t.0" });
    expect(events[4]).toMatchObject({ toolCallId: "k1", partIndex: 2, argumentsText: '{"a":1}' });
    expect(events[8]).toMatchObject({ content: "2", durationMs: 3, messageId: "m7" });
    expect(events[10]).toMatchObject({ messageIds: ["m9"], text: "Faster!" });
    const metrics = { turnId: "t", usage: { inputTokens: 5, outputTokens: 0 }, steps };
    const closing = closingEvents({ ...ids, reason: "stop", metrics });
    expect(checkEventOrder([...events, ...closing], { lastEvent: "done" })).toEqual([]);
  });

  it("leaves summaries and empty parts out", () => {
    seq = 0;
    const entries = [
      row("user", [say("Hi")]),
      row("system", [say("A summary")]),
      row("assistant", [{ type: "reasoning", text: "", providerMetadata: { p: {} } }, say("Yes.")], 0),
    ];
    const events = replayRows({ ...ids, startedAt: 0, entries, steps: [] });
    expect(kinds(events)).toEqual(["user-message", "turn-start", "text-delta"]);
    expect(events[2]).toMatchObject({ partIndex: 1 });
  });

  it("replays every step before a failure, also one that left no row", () => {
    seq = 0;
    const failure: MessageContentPart = { type: "error", message: "Down", code: "network" };
    const entries = [row("user", [say("Hi")]), row("assistant", [failure], 0)];
    const events = replayRows({ ...ids, startedAt: 0, entries, steps: [figures(0)] }, { isSealed: true });
    expect(kinds(events)).toEqual(["user-message", "turn-start", "usage", "step-complete", "error"]);
    const metrics = { turnId: "t", usage: { inputTokens: 5, outputTokens: 0 }, steps: [figures(0)] };
    const closing = closingEvents({ ...ids, reason: "error", metrics });
    expect(checkEventOrder([...events, ...closing], { lastEvent: "done" })).toEqual([]);
  });

  it("replays a step without rows only of a turn that is over", () => {
    seq = 0;
    const turn = { ...ids, startedAt: 0, entries: [row("user", [say("Hi")])], steps: [figures(0)] };
    expect(kinds(replayRows(turn))).toEqual(["user-message", "turn-start"]);
    expect(kinds(replayRows(turn, { isSealed: true })).slice(2)).toEqual(["usage", "step-complete"]);
    expect(isUnanswered(turn.entries)).toBe(true);
  });
});

describe("the end of a turn that is replayed", () => {
  it("keeps what is unknown unknown", () => {
    const usage = { inputTokens: 0, outputTokens: 0 };
    const [unknown] = closingEvents({ ...ids, reason: "stop", metrics: { turnId: "t", usage, steps: [] } });
    expect(unknown).toEqual({ type: "done", ...ids, reason: "stop" });
    const metrics = { turnId: "t", usage, steps: [], contextSize: 0, durationMs: 5 };
    const [known] = closingEvents({ ...ids, reason: "stop", metrics });
    expect(known).toEqual({ type: "done", ...ids, reason: "stop", usage, contextSize: 0, durationMs: 5 });
    expect(closingEvents({ ...ids, reason: "interrupted" })).toHaveLength(1);
  });
});
